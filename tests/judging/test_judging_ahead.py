"""What judging needs is made ready while the last case is read back, and no earlier."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from rocketdiff.analysis.masters import WITHOUT_SPARK
from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.core.events import AnalysisStarted, ReadBackStarted
from rocketdiff.judging import judge_runs
from rocketdiff.judging.judge_runs import JudgingAhead


@pytest.fixture(autouse=True)
def nothing_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in the background of another test."""
    monkeypatch.setattr(judge_runs, "import_module", lambda _: None)
    monkeypatch.setattr(judge_runs, "start_engine", lambda: None)


def test_only_the_last_case_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A JVM that starts beside senders would slow them down."""
    masters: list[str | None] = []
    monkeypatch.setattr(judge_runs, "prepare", lambda master, _home: masters.append(master))
    monkeypatch.setattr(judge_runs, "find_java", lambda: SimpleNamespace(home=Path("java")))
    ahead = JudgingAhead(3, "local[2]")
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
    JudgingAhead(1, None).on_event(ReadBackStarted(1))


def test_libraries_are_loaded_when_the_analysis_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that cannot be loaded is told by whoever needs it."""
    loaded: list[str] = []

    def load(name: str) -> None:
        loaded.append(name)
        if len(loaded) == 2:
            raise ImportError(name)

    monkeypatch.setattr(judge_runs, "import_module", load)
    ahead = JudgingAhead(1, WITHOUT_SPARK)
    ahead.on_event(ReadBackStarted(1))
    ahead.on_event(AnalysisStarted(cases=1, checks=1))
    assert loaded == ["scipy.stats", "altair"]
