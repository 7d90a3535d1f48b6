"""
The steps of the example workflows, as they stand, in a runner's shell, with the real command line.

What is far away or long is put in front on PATH: pip, gh and mvn; `run` and `campaign` of rocketdiff are planned only
(`--dry-run`), and stored runs take the place of theirs; tests are collected, not run.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "fixtures" / "examples"

EXPRESSIONS = {
    "vars.ROCKETDIFF": "tools/rocketdiff-0.1.0-py3-none-any.whl",
    "env.BASE": "5.3.3",
    "github.event.number": "7",
    "github.event_name == 'pull_request' && 'warn' || 'fail'": "warn",
    "github.event_name == 'schedule' && 'full' || 'quick'": "quick",
    "github.ref": "refs/pull/7/merge",
    "github.run_attempt": "1",
    "github.run_id": "1",
    "github.token": "token",
    "steps.report.outputs.artifact-url": "the page",
}
"""What a runner would put in; another expression fails the test."""

ROCKETDIFF = """
import shutil, sys
from pathlib import Path
from rocketdiff.__main__ import main
words = sys.argv[1:]
planned = words[0] in ("run", "campaign")
try:
    main([*words, "--dry-run"] if planned else words)
except SystemExit as end:
    if not planned or end.code:
        raise
out = Path(words[words.index("--out") + 1])
if words[0] == "run":
    shutil.copytree({sample!r}, out / "20261129-080000-abcdef01")
    sys.exit(1)
if words[0] == "campaign":
    run = out / "runs" / "20261129-080000-abcdef01"
    shutil.copytree({older!r}, run)
    main(["record", "add", str(run), "--record", words[words.index("--record") + 1]])
"""

OTHERS = {
    "pip": 'echo "$@" >> installed\n[ "$1" = install ] && [ -n "$2" ]\n',
    "gh": """
case "$1 $2" in
  "run list") echo 41;;
  "run download") [ "$3 $4 $5 $6" = "41 --name rocketdiff --dir" ] && cp -r {main} "$7";;
  "pr comment") [ "$3" = 7 ] && [ -s comment.md ];;
  *) exit 9;;
esac
""",
    "mvn": "mkdir -p client/target && touch client/target/rocketmq-client-5.3.4-SNAPSHOT.jar\n",
    "pytest": 'exec {python} -m pytest -p no:cacheprovider --collect-only -q "$@"\n',
}


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    """The commands of a runner."""
    folder = tmp_path / "bin"
    folder.mkdir()
    main = tmp_path / "main-artifact" / "20261128-080000-abcdef00"
    main.mkdir(parents=True)
    shutil.copy(ROOT / "reports" / "sample-consumers" / "report.json", main)
    program = ROCKETDIFF.format(
        sample=str(ROOT / "reports" / "sample-consumers"), older=str(ROOT / "tests" / "older_run")
    )
    (folder / "planned.py").write_text(program)
    scripts = {
        "rocketdiff": f'exec {sys.executable} {folder / "planned.py"} "$@"\n',
        **{
            name: text.replace("{main}", str(main.parent)).replace("{python}", sys.executable)
            for name, text in OTHERS.items()
        },
    }
    for name, text in scripts.items():
        (folder / name).write_text(f"#!/bin/bash\n{text}")
        (folder / name).chmod(0o755)
    return folder


class Runner:
    """Executes the steps of one job in a folder as a runner does: after a failure only those that always happen."""

    def __init__(self, folder: Path, bin_folder: Path) -> None:
        self.folder = folder
        self.codes: dict[str, int] = {}
        self.printed = ""
        self._path = f"{bin_folder}:{Path(sys.executable).parent}:/usr/bin:/bin"

    def run(self, workflow: str, job: str) -> None:
        """Fill ``codes``: exit codes by the first line of each step."""
        document = yaml.safe_load((EXAMPLES / workflow).read_text())
        for step in document["jobs"][job]["steps"]:
            happens = "always()" in str(step.get("if", "")) or not any(self.codes.values())
            if "run" in step and happens:
                given = {**document.get("env", {}), **document["jobs"][job].get("env", {}), **step.get("env", {})}
                self._execute(_filled_in(step["run"]), {name: _filled_in(str(value)) for name, value in given.items()})

    def _execute(self, script: str, given: dict[str, str]) -> None:
        kept = self.folder / "env"
        lines = kept.read_text().splitlines() if kept.exists() else []
        environment = {
            "PATH": self._path,
            "HOME": os.environ["HOME"],
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "GITHUB_ENV": "env",
            "GITHUB_STEP_SUMMARY": "summary",
            "GITHUB_WORKFLOW": "conformance",
            **dict(line.split("=", 1) for line in lines),
            **given,
        }
        ran = subprocess.run(
            ["/bin/bash", "-e", "-c", script],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        self.printed += f"{script}\n{ran.stdout}\n{ran.stderr}\n"
        self.codes[script.strip().splitlines()[0]] = ran.returncode

    def code(self, words: str) -> int:
        (code,) = (code for line, code in self.codes.items() if words in line)
        return code


def _filled_in(text: str) -> str:
    return re.sub(r"\$\{\{ *(.*?) *\}\}", lambda found: EXPRESSIONS[found[1]], text)


@pytest.fixture
def runner(tmp_path: Path, bin_folder: Path) -> Runner:
    folder = tmp_path / "repository"
    folder.mkdir()
    return Runner(folder, bin_folder)


@pytest.mark.slow
def test_a_pull_request_gets_a_comment_that_begins_with_what_is_new_since_main(runner: Runner) -> None:
    """A diverging run exits 1, and every step after it happens: summary, difference from main, comment."""
    runner.run("ci-workflow.yml", "compare")
    assert runner.code("rocketdiff run") == 1, runner.printed
    assert {code for line, code in runner.codes.items() if "rocketdiff run" not in line and "doctor" not in line} == {
        0
    }, runner.printed
    assert (runner.folder / "summary").read_text().startswith("## ❌ java:4.9.5 behaves differently from java:4.9.4\n")
    comment = (runner.folder / "comment.md").read_text()
    assert comment.startswith("[Report and traces](the page)\n\n**Since 20261129-193407-00000007**: 1 unchanged.\n")
    assert (runner.folder / "installed").read_text() == f"install {EXPRESSIONS['vars.ROCKETDIFF']}\n"


@pytest.mark.slow
def test_the_job_of_pytest_collects_the_quick_suite(runner: Runner) -> None:
    """Its command line is accepted by pytest, the plugin and xdist."""
    runner.run("ci-workflow.yml", "pytest")
    assert set(runner.codes.values()) == {0}


def test_a_workflow_without_its_variable_fails_in_one_sentence(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unset variable ends the job at the first step, and says what to set."""
    monkeypatch.setitem(EXPRESSIONS, "vars.ROCKETDIFF", "")
    runner.run("patch-workflow.yml", "changelog")
    assert list(runner.codes.values()) == [1]
    assert "ROCKETDIFF: set the repository variable ROCKETDIFF to a wheel of rocketdiff" in runner.printed


def test_a_patch_that_cannot_be_read_ends_the_job_with_the_code_of_the_command(runner: Runner) -> None:
    """An empty jar is refused, and the step ends with the code of `changelog`, not with that of what follows."""
    runner.run("patch-workflow.yml", "changelog")
    assert runner.code("jar=") == 4, runner.printed


@pytest.mark.slow
def test_a_night_is_added_judged_and_shown(runner: Runner) -> None:
    """Runs of a night are added to the record, judged and compared, and the page is made. The first night has none to be compared with (5)."""
    shutil.copy(EXAMPLES / "campaign.yaml", runner.folder)
    runner.run("nightly-workflow.yml", "nightly")
    assert {line: code for line, code in runner.codes.items() if code} == {
        "rocketdiff record judge --record record": 5
    }, runner.printed
    assert "New, gone, changed in rate" in (runner.folder / "summary").read_text()
    assert (runner.folder / "reports" / "tonight" / "record.html").stat().st_size > 10_000
