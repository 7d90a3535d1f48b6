"""`simulate --out`: the report of simulated scenarios."""

import json
from pathlib import Path
from typing import Any

import pytest

from rocketdiff.cli.app import guarded
from rocketdiff.core.errors import ExitCode
from rocketdiff.simulation.script import parse_script

CALM, DIFFERS, LIVE_ONLY = "round-robin/calm", "round-robin/kill-one-of-two", "name-server/pause-one-of-two"


def simulate(out: Path, *scenarios: str, subjects: tuple[str, str] = ("python:4.7.1", "python:4.8.0")) -> int:
    chosen = [word for one in scenarios for word in ("--scenario", one)]
    named = [word for one in subjects for word in ("--subject", one)]
    return guarded(["simulate", *named, *chosen, "--out", str(out)])


def document_in(out: Path) -> dict[str, Any]:
    (folder,) = out.iterdir()
    data: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return data


def test_a_difference_ends_with_the_line_and_code_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A difference exits like a run; a scenario for clusters only is NOT_APPLICABLE."""
    assert simulate(tmp_path, CALM, DIFFERS, LIVE_ONLY) == ExitCode.DIVERGES
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("VERDICT diverges new=1 declared=0 stale=0 inconclusive=0 answered=2/3 checks=3 ")
    document = document_in(tmp_path)
    verdicts = {result["case"].rpartition("/")[0]: result["verdict"] for result in document["results"]}
    assert verdicts == {CALM: "CONFORMS", DIFFERS: "DIVERGES", LIVE_ONLY: "NOT_APPLICABLE"}
    assert "one of 2 name servers" in next(one["reason"] for one in document["results"] if "only on" in one["reason"])
    assert document["run"]["reproduce"].startswith("rocketdiff simulate --subject python:4.7.1 ")


def test_agreement_exits_with_0_and_the_line_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Agreement exits with 0 and the machine line of a run."""
    assert simulate(tmp_path, CALM, subjects=("python:4.7.0", "python:4.7.1")) == ExitCode.CONFORMS
    assert capsys.readouterr().out.splitlines()[-1].startswith("VERDICT conforms new=0 ")


def test_nothing_that_could_be_simulated_is_nothing_decisive(tmp_path: Path) -> None:
    """A report of unsimulated scenarios only exits with NOTHING_DECISIVE."""
    assert simulate(tmp_path, LIVE_ONLY) == ExitCode.NOTHING_DECISIVE


def test_every_script_lies_beside_the_report(tmp_path: Path) -> None:
    """Every script is stored beside the report and can be run alone."""
    simulate(tmp_path, CALM, subjects=("python:4.7.0", "python:4.7.1"))
    (folder,) = tmp_path.iterdir()
    (script,) = folder.rglob("scripts/**/*.json")
    assert parse_script(script.read_bytes(), "calm").steps


@pytest.mark.parametrize("more", [["--script", "S.json", "--subject", "python:5.3.3"], []])
def test_a_report_needs_two_subjects_and_scenarios(
    more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A report needs scenarios and two subjects."""
    arguments = ["simulate", "--subject", "python:5.3.3", "--out", str(tmp_path), *more]
    assert guarded(arguments) == ExitCode.USAGE
    assert "--out" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_an_environment_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An output folder that cannot be written is an ENVIRONMENT error."""
    (tmp_path / "out").write_text("in the way")
    assert simulate(tmp_path / "out", CALM) == ExitCode.ENVIRONMENT
    assert str(tmp_path / "out") in capsys.readouterr().err


def test_attempts_are_not_counted_and_none_are_claimed(tmp_path: Path) -> None:
    """A simulation counts no attempts, so the report has none instead of 0."""
    simulate(tmp_path, CALM, subjects=("python:4.7.0", "python:4.7.1"))
    assert document_in(tmp_path)["traces"]["attempts"] is None
    (page,) = tmp_path.rglob("*.html")
    assert "attempts<small>" not in page.read_text(encoding="utf-8")
