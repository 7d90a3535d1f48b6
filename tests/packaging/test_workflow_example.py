"""The example workflows use only existing commands, options and files."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from rocketdiff.cli.app import app
from rocketdiff.pytest_plugin import pytest_addoption
from rocketdiff.report.formats import badge, junit, markdown, sarif

EXAMPLES = Path(__file__).parents[2] / "fixtures" / "examples"
WORKFLOW = yaml.safe_load((EXAMPLES / "ci-workflow.yml").read_text())


def scripts() -> Iterator[str]:
    yield from (step["run"] for job in WORKFLOW["jobs"].values() for step in job["steps"] if "run" in step)


def known_options() -> set[str]:
    command = get_command(app).commands["run"]  # type: ignore[attr-defined]  # a group, as it has several commands
    return {name for parameter in command.params for name in parameter.opts}


def plugin_options() -> set[str]:
    """Includes the options of pytest and xdist in the example."""
    parser = pytest.Parser(_ispytest=True)
    pytest_addoption(parser)
    (group,) = (group for group in parser._groups if group.name == "rocketdiff")
    return {name for option in group.options for name in option.names()} | {"-n", "--dist", "--junitxml"}


def test_every_option_of_every_command_exists() -> None:
    """Every option of the example exists."""
    used = {"rocketdiff run": known_options(), "pytest --rocketdiff": plugin_options()}
    for start, known in used.items():
        (script,) = (text for text in scripts() if text.startswith(start))
        assert {word for word in shlex.split(script) if word.startswith("-")} <= known


def test_every_file_it_reads_is_one_that_a_run_writes() -> None:
    """The example reads only files that a run writes."""
    read = {name for text in scripts() for name in re.findall(r"reports/\*/([a-z.]+)", text)}
    assert read == {markdown.SUMMARY_FILE, markdown.COMMENT_FILE}
    assert sarif.FILE_NAME.endswith(".sarif")
    reported = (EXAMPLES / "ci.md").read_text()
    assert all(f"`{name}`" in reported for name in (*read, sarif.FILE_NAME, badge.FILE_NAME, junit.FILE_NAME))


def test_steps_after_a_failed_run_always_happen() -> None:
    """Steps after `rocketdiff run` always run, because a divergence exits with 1 and needs its report."""
    steps = WORKFLOW["jobs"]["compare"]["steps"]
    (ran,) = (number for number, step in enumerate(steps) if "rocketdiff run" in step.get("run", ""))
    assert all(step["if"].startswith("always()") for step in steps[ran + 1 :])


def test_the_workflow_asks_for_the_permissions_that_it_needs() -> None:
    """The workflow may write only comments and alerts."""
    assert WORKFLOW["permissions"] == {
        "actions": "read",
        "contents": "read",
        "pull-requests": "write",
        "security-events": "write",
    }


def test_the_workflow_for_patches_names_only_options_that_there_are(tmp_path: Path) -> None:
    """The patch workflow uses existing options, and Maven's jar without its sources."""
    steps = yaml.safe_load((EXAMPLES / "patch-workflow.yml").read_text())["jobs"]["changelog"]["steps"]
    (script,) = (step["run"] for step in steps if "rocketdiff changelog" in step.get("run", ""))
    (line,) = (line for line in script.splitlines() if line.strip().startswith("rocketdiff changelog"))
    command = get_command(app).commands["changelog"]  # type: ignore[attr-defined]  # a group, as it has several commands
    known = {name for parameter in command.params for name in parameter.opts}
    assert {word for word in shlex.split(line.partition("&&")[0]) if word.startswith("-")} <= known
    built = tmp_path / "client" / "target"
    built.mkdir(parents=True)
    for name in ("rocketmq-client-5.3.4-SNAPSHOT.jar", "rocketmq-client-5.3.4-SNAPSHOT-sources.jar"):
        (built / name).touch()
    assert carried_out(script, tmp_path, 1, BASE="5.3.3", MODULE="client") == 1
    jar = "client/target/rocketmq-client-5.3.4-SNAPSHOT.jar"
    called = (tmp_path / "called").read_text()
    assert called == f"changelog 5.3.3 {jar}@5.3.3 --exit-code --markdown changes.md\n"


NIGHTLY = yaml.safe_load((EXAMPLES / "nightly-workflow.yml").read_text())["jobs"]["nightly"]["steps"]


def nightly(words: str) -> str:
    """The script of the step with these words."""
    (script,) = (step["run"] for step in NIGHTLY if words in step.get("run", ""))
    return str(script)


def test_the_workflow_for_nights_names_only_commands_and_options_that_there_are() -> None:
    """The nightly workflow uses existing commands and options, and keeps the record."""
    lines = [line for step in NIGHTLY for line in step.get("run", "").splitlines() if "rocketdiff " in line]
    commands = [shlex.split(line.strip().split(" && ")[0].split(" > ")[0]) for line in lines if "pip" not in line]
    assert [words[1:3] for words in commands] == [
        ["campaign", "campaign.yaml"], ["record", "judge"], ["record", "regressions"], ["record", "page"], ["record", "compact"],
    ]  # fmt: skip
    for _, *words in commands:
        one: Any = get_command(app)
        while hasattr(one, "commands"):
            one = one.commands[words.pop(0)]
        given = one.make_context("", words).params
        assert given["record"] == "record"
    assert [step["with"]["path"] for step in NIGHTLY if "cache/" in step.get("uses", "")] == ["record", "record"]
    (kept,) = (step["with"]["path"] for step in NIGHTLY if "upload-artifact" in step.get("uses", ""))
    assert kept in nightly("rocketdiff campaign")


@pytest.mark.parametrize(("code", "ends"), [(0, 0), (1, 0), (2, 0), (3, 0), (4, 4), (5, 5), (69, 69), (70, 70)])
def test_a_campaign_that_differs_goes_on_to_what_is_new_and_one_without_answers_does_not(
    tmp_path: Path, code: int, ends: int
) -> None:
    """The nightly job continues after exit codes 0 to 3, because only new divergences fail it."""
    assert carried_out(nightly("rocketdiff campaign"), tmp_path, code) == ends


@pytest.mark.parametrize("code", [0, 1, 5])
def test_the_night_ends_as_the_record_answers(tmp_path: Path, code: int) -> None:
    """The nightly job exits as `record regressions` does."""
    script = nightly("record regressions").replace("rocketdiff record judge", "true")
    assert carried_out(script, tmp_path, code) == code
    assert (
        (tmp_path / "summary").read_text().splitlines()[2].startswith("record regressions --record record --since 20")
    )


def carried_out(script: str, folder: Path, code: int, **more: str) -> int:
    """Run in a runner's shell; the command prints its arguments and exits with this code."""
    (folder / "rocketdiff").write_text(f'#!/bin/sh\necho "$@" | tee called; exit {code}\n')
    (folder / "rocketdiff").chmod(0o755)
    environment = {
        "PATH": f"{folder}:/usr/bin:/bin",
        "GITHUB_ENV": "env",
        "GITHUB_STEP_SUMMARY": "summary",
        "TONIGHT": "2026-11-23",
        **more,
    }
    return subprocess.run(
        ["/bin/bash", "-e", "-c", script], cwd=folder, env=environment, check=False, stdout=subprocess.DEVNULL
    ).returncode


@pytest.mark.parametrize("folder", ["fixtures/examples", ".github/workflows"])
def test_actions_are_named_by_the_digest_of_a_commit(folder: str) -> None:
    """A tag can be moved to other code; a commit's digest cannot. The release stands behind it."""
    files = [file for file in (EXAMPLES.parents[1] / folder).iterdir() if file.suffix in {".yml", ".md"}]
    used = [line for file in files for line in file.read_text().splitlines() if "uses: " in line]
    assert used
    assert [line for line in used if not re.search(r"uses: [\w./-]+@[0-9a-f]{40} # v\d", line)] == []
