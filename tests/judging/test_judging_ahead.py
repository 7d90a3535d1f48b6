"""Spark's JVM is started while the last case is read back, and no earlier."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from rocketdiff.analysis.masters import ATTEMPTS_FOR_SPARK
from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.core.events import ReadBackStarted
from rocketdiff.judging import judge_runs
from rocketdiff.judging.judge_runs import JudgingAhead


def test_only_the_last_case_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A JVM that starts beside senders would slow them down."""
    masters: list[str | None] = []
    monkeypatch.setattr(judge_runs, "prepare", lambda master, _home: masters.append(master))
    monkeypatch.setattr(judge_runs, "find_java", lambda: SimpleNamespace(home=Path("java")))
    ahead = JudgingAhead(3, "local[2]", 100)
    for number in (1, 2):
        ahead.on_event(ReadBackStarted(number))
    assert masters == []
    ahead.on_event(ReadBackStarted(3))
    assert masters == ["local[2]"]


def test_what_cannot_be_started_does_not_raise_before_judging(monkeypatch: pytest.MonkeyPatch) -> None:
    """The case is not over yet, and must not suffer."""

    def refuse(_master: str | None, _home: Path) -> None:
        raise EnvironmentMissing("a Java", seen="none")

    monkeypatch.setattr(judge_runs, "prepare", refuse)
    JudgingAhead(1, None, ATTEMPTS_FOR_SPARK).on_event(ReadBackStarted(1))
