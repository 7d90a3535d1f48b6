"""bisect, changelog, groups and identify as typed; tests that execute the real classes are slow."""

import json
from pathlib import Path

import pytest

from rocketdiff.cli.app import guarded
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.resources import resource

SCRIPTS = resource("fixtures/simulation/scripts")


def test_bisect_finds_a_change_of_the_reference(capsys: pytest.CaptureFixture[str]) -> None:
    """With the reference, `bisect` finds that 4.8.0 changed the retry walk."""
    script = str(SCRIPTS / "retry-walk.json")
    assert guarded(["bisect", "--script", script, "--subject-kind", "python", "--json"]) == ExitCode.CONFORMS
    reported = json.loads(capsys.readouterr().out)
    assert [(edge["from"], edge["to"]) for edge in reported["edges"]] == [("4.7.1", "4.8.0")]
    assert reported["steps"] == 38


def test_bisect_prints_each_change(capsys: pytest.CaptureFixture[str]) -> None:
    """`bisect` prints each change with the line before and after."""
    arguments = ["--script", str(SCRIPTS / "retry-walk.json"), "--subject-kind", "python", "--from", "4.7.0"]
    assert guarded(["bisect", *arguments, "--to", "4.9.0"]) == ExitCode.CONFORMS
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "retry-walk: 1 change at 3 steps between releases"
    assert lines[1].startswith(
        "4.7.1 → 4.8.0: now a retry moves the counter once for each queue that it passes; before, "
    )
    assert lines[2] == "  differs: step 2, queue: queue 3 of a → queue 1 of b"


def test_bisect_prints_the_outcome_of_a_member(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a consumer's script, each change has its words and its outcome."""
    arguments = ["--script", str(SCRIPTS / "consumer-in-order.json"), "--role", "consumer", "--subject-kind", "python"]
    assert guarded(["bisect", *arguments, "--from", "4.9.4", "--to", "4.9.5"]) == ExitCode.CONFORMS
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("4.9.4 → 4.9.5: now the queue is locked and pulled at once; before, ")
    assert lines[3] == "  outcome: message a/0 0 is delivered 2,000 ms sooner"


@pytest.mark.slow
@pytest.mark.parametrize("command", ["changelog", "upgrade"])
def test_two_words_for_one_release_are_no_change(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What names the client of the same release, as a wrapper that ships it, is no observable change, exit 0."""
    assert guarded([command, "spring:2.2.3", "java:5.0.0"]) == ExitCode.CONFORMS
    assert capsys.readouterr().out == "No observable change: both are the client 5.0.0.\n"


def test_changelog_executes_the_classes(capsys: pytest.CaptureFixture[str]) -> None:
    """`changelog` finds that 5.2.0 no longer avoids unreachable brokers, and that 5.3.0 chooses as 5.2.0."""
    assert guarded(["changelog", "5.1.4", "5.3.0", "--depth", "selection", "--fresh", "--json"]) == ExitCode.CONFORMS
    reported = json.loads(capsys.readouterr().out)
    (edge,) = reported["edges"]
    assert (edge["from"], edge["to"]) == ("5.1.4", "5.2.0")
    assert [change["behaviour"] for change in edge["changes"]] == ["unreachable-broker"]
    assert "gets messages all the same" in edge["changes"][0]["sentence"]
    (unchanged,) = reported["unchanged"]
    assert (unchanged["from"], unchanged["to"], unchanged["side"]) == ("5.2.0", "5.3.0", False)
    assert "(#8358)" in unchanged["known"][0]


@pytest.mark.parametrize("name", [".", "no-such/page"])
def test_a_page_that_cannot_be_written_is_refused_first(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A page that cannot be written is refused before minutes of execution."""
    assert guarded(["groups", "--markdown", str(tmp_path / name)]) == ExitCode.ENVIRONMENT
    assert str(tmp_path) in capsys.readouterr().err.replace("\n", "")
