"""Control cases are counted once, none is dropped, and an alarm keeps its traces."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rocketdiff.calibration.controls import CalibrationRequest, calibration_of, journal_of, run_controls
from rocketdiff.core.answers.verdict import CheckResult, Divergence, Example, Verdict
from rocketdiff.core.answers.where import Place, at
from rocketdiff.core.errors import HarnessError
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.calibration import Rate

QUIET = (CheckResult("c", "queue-choice", Verdict.CONFORMS), CheckResult("c", "validity", Verdict.CONFORMS))
EXAMPLE = Example(at(Place.SEND, 7, 0, None), "calm", "the next in turn", "another")
ALARM = (
    CheckResult("c", "queue-choice", Verdict.DIVERGES, divergences=(Divergence("queue.x", "java:5.3.3", 1, EXAMPLE),)),
)

Answers = Sequence[CheckResult] | HarnessError
Stage = Callable[[Callable[[int], Answers]], list[int]]


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Control cases without clients and brokers; returns the list of cases that ran."""

    def play(answer: Callable[[int], Answers]) -> list[int]:
        ran: list[int] = []

        def judged(*_arguments: Any) -> Answers:
            found = answer(len(ran))
            ran.append(len(ran))
            if isinstance(found, HarnessError):
                raise found
            return found

        monkeypatch.setattr("rocketdiff.calibration.controls.fetch", lambda request: request)
        monkeypatch.setattr("rocketdiff.run.case.staged_case.StagedCase.play", lambda _case: None)
        monkeypatch.setattr("rocketdiff.run.case_session.judge_case", judged)
        monkeypatch.setattr("rocketdiff.run.cluster_pool.ClusterPool.cluster", lambda *_arguments: None)
        return ran

    return play


def request(folder: Path, cases: int) -> CalibrationRequest:
    return CalibrationRequest(cases, folder, 7, "5.3.3")


def run(folder: Path, cases: int) -> list[str]:
    output: list[str] = []
    asked = request(folder, cases)
    run_controls(asked, journal_of(asked), output.append)
    return output


def test_a_calibration_that_was_stopped_goes_on_where_it_was(tmp_path: Path, stage: Stage) -> None:
    """A stopped calibration continues with the next case."""
    ran = stage(lambda _: QUIET)
    asked = request(tmp_path, 10)
    journal = journal_of(asked)

    def interrupt(text: str) -> None:
        if text.startswith("   4 of"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_controls(asked, journal, interrupt)
    assert len(ran) == 4
    run(tmp_path, 10)
    assert len(ran) == 10
    controls = calibration_of(journal_of(asked)).controls
    assert (controls.cases, controls.alarms_per_case) == (10, Rate.of(0, 10))
    assert not (tmp_path / "runs" / "0001").exists()


def test_an_alarm_is_counted_listed_and_keeps_its_run(tmp_path: Path, stage: Stage) -> None:
    """An alarm is counted and listed, and its traces stay."""
    stage(lambda number: ALARM if number == 3 else QUIET)
    output = run(tmp_path, 10)
    controls = calibration_of(journal_of(request(tmp_path, 10))).controls
    assert (controls.alarms_per_case, controls.alarms_per_run) == (Rate.of(1, 10), Rate.of(1, 1))
    (alarm,) = controls.alarms
    assert (alarm.number, alarm.signatures, alarm.observed) == (4, ("queue.x",), "another")
    assert list((tmp_path / "runs" / "0001").glob("*/run.json"))
    assert any("ALARM queue-choice queue.x" in line for line in output)


def test_cases_are_counted_by_how_they_sent_broken_off_or_not(tmp_path: Path, stage: Stage) -> None:
    """Cases are counted by sending mode; one that broke off is not."""
    stage(lambda number: HarnessError("a cluster", seen="it died") if number == 15 else QUIET)
    run(tmp_path, 16)
    journal = journal_of(request(tmp_path, 16))
    others = ["async", "oneway", "async", "sync", "async", "oneway"]
    assert [case.mode for case in journal.cases] == [*["sync"] * 10, *others]
    controls = calibration_of(journal).controls
    assert {row.mode: row.alarms.n for row in controls.modes} == {"async": 3, "oneway": 1, "sync": 11}
    assert {row.client: row.alarms.n for row in controls.clients} == {"java": 15}


def test_an_edit_while_cases_run_is_seen(tmp_path: Path, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edit while cases run is seen, because later Python subjects are another program."""
    ran = stage(lambda _: QUIET)
    monkeypatch.setattr("rocketdiff.calibration.controls.source_digest", lambda: "before" if len(ran) < 4 else "after")
    run(tmp_path, 6)
    assert calibration_of(journal_of(request(tmp_path, 6))).sources == ("before", "after")


def test_the_command_that_repeats_a_case_names_the_cluster_it_ran_on(tmp_path: Path, stage: Stage) -> None:
    """The command that repeats a case names a backend other than the default."""
    stage(lambda _: ALARM)
    asked = replace(request(tmp_path, 1), backend="containers:host")
    run_controls(asked, journal_of(asked), lambda _text: None)
    (path,) = (tmp_path / "runs" / "0001").iterdir()
    expected = "rocketdiff calibrate --seed 7 --server 5.3.3 --cluster containers:host --only 1"
    assert RunDirectory.open(path).manifest.reproduce == expected


def test_a_case_that_broke_off_is_counted_as_that(tmp_path: Path, stage: Stage) -> None:
    """A case that broke off is counted as such and not repeated."""
    ran = stage(lambda number: HarnessError("a cluster", seen="it died") if number == 2 else QUIET)
    run(tmp_path, 5)
    run(tmp_path, 5)
    assert len(ran) == 5
    controls = calibration_of(journal_of(request(tmp_path, 5))).controls
    assert (controls.broke_off, controls.alarms_per_case) == (1, Rate.of(0, 4))


def test_a_machine_that_does_not_work_is_not_counted_on(tmp_path: Path, stage: Stage) -> None:
    """Three cases in a row that break off end the calibration."""
    ran = stage(lambda _: HarnessError("a cluster", seen="it died"))
    with pytest.raises(HarnessError, match="3 in a row that broke off"):
        run(tmp_path, 10)
    assert len(ran) == 3
