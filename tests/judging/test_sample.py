"""The shipped sample, whose commands a visitor copies first."""

import shlex
from pathlib import Path

import pytest

from rocketdiff.cli.app import guarded
from rocketdiff.core.errors import ExitCode
from rocketdiff.report.document import SCHEMA_VERSION, load
from rocketdiff.report.words.signs import explain_command

ROOT = Path(__file__).parents[2]
SAMPLE = load(ROOT / "reports" / "sample")
COMMANDS = [command for cluster in SAMPLE.clusters if (command := explain_command(cluster, SAMPLE.run))]


def test_it_is_of_the_format_that_is_written_now() -> None:
    """The sample has the current format and commands to show."""
    assert SAMPLE.schema_version == SCHEMA_VERSION
    assert COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_its_commands_work_in_a_checkout(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The sample's `explain` commands work in a checkout."""
    monkeypatch.chdir(ROOT)
    assert guarded(shlex.split(command)[1:]) == ExitCode.CONFORMS
    assert "the other arm" in capsys.readouterr().out


def test_the_run_is_repeated_by_a_command_that_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample's command that repeats the run works as a dry run."""
    monkeypatch.chdir(ROOT)
    assert guarded([*shlex.split(SAMPLE.run.reproduce)[1:], "--dry-run"]) == ExitCode.CONFORMS
