"""
The steps of the example workflows, as they stand, in a runner's shell, with the real command line (tests/cli has its process).

What is far away or long is put in front on PATH: pip, gh and mvn; `run` and `campaign` of rocketdiff are planned only
(`--dry-run`), and stored runs take the place of theirs; tests are collected, not run.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext, redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path

import pytest
import yaml
from pyspark.sql import SparkSession

from rocketdiff.cli.app import guarded
from rocketdiff.core.errors import ExitCode

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

RUN = "20261129-080000-abcdef01"
OLDER_RUN, DIVERGING_RUN = ROOT / "tests" / "older_run", ROOT / "reports" / "sample-consumers"

CLIENT = """
import json, os, socket, sys
with socket.create_connection(("127.0.0.1", {port})) as served:
    served.sendall(json.dumps([os.getcwd(), sys.argv[1:]]).encode() + b"\\n")
    code, out, err = json.load(served.makefile())
sys.stdout.write(out), sys.stderr.write(err)
sys.exit(code)
"""
"""`rocketdiff` in the scripts: hands its words to ``command`` in this process, which has imported everything and has Spark."""

OTHERS = {
    "rocketdiff": 'exec {python} -I -S {client} "$@"\n',
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


def command(words: list[str]) -> int:
    """The exit code of ``rocketdiff``, whose runs and campaigns are planned only and leave a stored run."""
    kind = words[0]
    code = guarded([*words, "--dry-run"] if kind in ("run", "campaign") else words)
    if kind not in ("run", "campaign") or code:
        return code
    out = Path(words[words.index("--out") + 1])
    if kind == "run":
        shutil.copytree(DIVERGING_RUN, out / RUN)
        return ExitCode.DIVERGES
    shutil.copytree(OLDER_RUN, out / "runs" / RUN)
    return guarded(["record", "add", str(out / "runs" / RUN), "--record", words[words.index("--record") + 1]])


def serve(connection: socket.socket) -> None:
    """Answer one client with exit code, standard output and standard error."""
    with connection, connection.makefile("rw") as client, pytest.MonkeyPatch.context() as patch:
        folder, words = json.loads(client.readline())
        patch.chdir(folder)
        with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
            code = command(words)
        json.dump([int(code), out.getvalue(), err.getvalue()], client)


@pytest.fixture
def commands() -> Iterator[socket.socket]:
    """Where the clients connect to."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.02)
        yield server


@pytest.fixture
def bin_folder(tmp_path: Path, commands: socket.socket) -> Path:
    """The commands of a runner."""
    folder = tmp_path / "bin"
    folder.mkdir()
    main = tmp_path / "main-artifact" / "20261128-080000-abcdef00"
    main.mkdir(parents=True)
    shutil.copy(DIVERGING_RUN / "report.json", main)
    (folder / "client.py").write_text(CLIENT.format(port=commands.getsockname()[1]))
    values = {"main": str(main.parent), "python": sys.executable, "client": str(folder / "client.py")}
    for name, text in OTHERS.items():
        filled_in = re.sub(r"\{(main|python|client)\}", lambda found: values[found[1]], text)
        (folder / name).write_text(f"#!/bin/bash\n{filled_in}")
        (folder / name).chmod(0o755)
    return folder


class Runner:
    """Executes the steps of one job in a folder as a runner does: after a failure only those that always happen."""

    def __init__(self, folder: Path, bin_folder: Path, commands: socket.socket) -> None:
        self.folder = folder
        self._commands = commands
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
        printed = self.folder.parent / "printed"
        with (
            printed.open("w") as out,
            subprocess.Popen(
                ["/bin/bash", "-e", "-c", script], cwd=self.folder, env=environment, stdout=out, stderr=out
            ) as running,
        ):
            while running.poll() is None:
                with suppress(TimeoutError):
                    serve(self._commands.accept()[0])
        self.printed += f"{script}\n{printed.read_text()}\n"
        self.codes[script.strip().splitlines()[0]] = running.returncode

    def code(self, words: str) -> int:
        (code,) = (code for line, code in self.codes.items() if words in line)
        return code


def _filled_in(text: str) -> str:
    return re.sub(r"\$\{\{ *(.*?) *\}\}", lambda found: EXPRESSIONS[found[1]], text)


@pytest.fixture
def runner(tmp_path: Path, bin_folder: Path, commands: socket.socket) -> Runner:
    folder = tmp_path / "repository"
    folder.mkdir()
    return Runner(folder, bin_folder, commands)


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
@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_a_night_is_added_judged_and_shown(
    runner: Runner, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs of a night are added to the record, judged and compared, and the page is made. The first night has none to be compared with (5)."""
    monkeypatch.setattr("rocketdiff.record.spark.work.session", lambda *_, **__: nullcontext(spark))
    shutil.copy(EXAMPLES / "campaign.yaml", runner.folder)
    runner.run("nightly-workflow.yml", "nightly")
    assert {line: code for line, code in runner.codes.items() if code} == {
        "rocketdiff record judge --record record": 5
    }, runner.printed
    assert "New, gone, changed in rate" in (runner.folder / "summary").read_text()
    assert (runner.folder / "reports" / "tonight" / "record.html").stat().st_size > 10_000
