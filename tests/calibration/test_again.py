"""Kept control cases are judged again by a changed judge: nothing is run, and nothing is lost if one was not kept."""

from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.calibration.again import judge_again
from rocketdiff.calibration.controls import calibration_of, journal_of, run_controls
from rocketdiff.core.errors import UsageError
from rocketdiff.verdict.calibration import Rate
from tests.calibration.test_controls import ALARM, QUIET, Stage, request, stage

__all__ = ["stage"]


def test_a_changed_judge_answers_for_kept_cases(tmp_path: Path, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rates and digest are of the judge that judged last; when and under what load a case ran stays."""
    ran = stage(lambda number: ALARM if number == 3 else QUIET)
    asked = replace(request(tmp_path, 10), keep=True)
    run_controls(asked, journal_of(asked), lambda _text: None)
    before = journal_of(asked)
    alarmed = before.cases[5].case
    monkeypatch.setattr("rocketdiff.calibration.again.judging_digest", lambda: "changed")
    monkeypatch.setattr(
        "rocketdiff.calibration.again.judge_case",
        lambda run, number, *_more: ALARM if run.entry(number).name == alarmed else QUIET,
    )
    changes: list[str] = []
    judge_again(asked, journal_of(asked), changes.append)
    after = journal_of(asked)
    assert len(ran) == 10
    assert [one.case.number for one in after.lines if one.case is not None and one.case.has_alarm] == [6]
    assert calibration_of(after).controls.alarms_per_case == Rate.of(1, 10)
    assert calibration_of(after).judging_sources == ("changed",)
    assert [(one.at, one.load, one.source) for one in after.lines] == [(x.at, x.load, x.source) for x in before.lines]
    assert [change.split(":")[0].split()[0] for change in changes[:2]] == ["4", "6"]


def test_a_case_that_was_not_kept_leaves_the_journal_as_it_was(tmp_path: Path, stage: Stage) -> None:
    """Half of a calibration judged by another judge would be no measurement."""
    stage(lambda _: QUIET)
    asked = request(tmp_path, 10)
    run_controls(asked, journal_of(asked), lambda _text: None)
    before = journal_of(asked).lines
    with pytest.raises(UsageError, match="--keep"):
        judge_again(asked, journal_of(asked), lambda _text: None)
    assert journal_of(asked).lines == before
