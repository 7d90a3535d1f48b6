"""Judging is prepared between the last cases and while the last is read back, never beside senders."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.core.events import AnalysisStarted, ArmsReady, ArmsStarted, ReadBackStarted
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.judging import judge_runs
from rocketdiff.judging.judge_runs import JudgingAhead


@pytest.fixture(autouse=True)
def nothing_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge_runs, "import_module", lambda _: None)
    monkeypatch.setattr(judge_runs, "start_engine", lambda: None)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Calls of Spark's processes; libraries load at once."""
    found: list[str] = []

    def prepare(master: str | None, _home: Path, *, is_soon: bool) -> None:
        assert not is_soon
        found.append(f"prepare {master}")

    monkeypatch.setattr(judge_runs, "prepare", prepare)
    monkeypatch.setattr(judge_runs, "pause", lambda master: found.append(f"pause {master}"))
    monkeypatch.setattr(judge_runs, "go_on", lambda master: found.append(f"go on {master}"))
    monkeypatch.setattr(judge_runs, "find_java", lambda: SimpleNamespace(home=Path("java")))
    return found


def play(ahead: JudgingAhead, cases: int, calls: list[str]) -> list[list[str]]:
    """Calls after each event."""
    marks = []
    for number in range(1, cases + 1):
        for event in (ArmsReady(number), ArmsStarted(number, 0.1), ReadBackStarted(number)):
            ahead.on_event(event)
            marks.append(calls.copy())
            calls.clear()
    return marks


def test_nothing_runs_beside_senders(calls: list[str]) -> None:
    """Spark prepares itself while queues are read back, and is paused before arms send."""
    ahead = JudgingAhead(5, "local[2]")
    first, *later = zip(*[iter(play(ahead, 5, calls))] * 3, strict=True)
    assert first == ([], [], [])
    assert later[0] == ([], [], ["prepare local[2]"])
    assert later[1:] == [(["pause local[2]"], [], ["go on local[2]"])] * 3


def test_a_single_case_is_followed(calls: list[str]) -> None:
    """In a run of one case Spark is prepared during its read-back."""
    assert play(JudgingAhead(1, None), 1, calls) == [[], [], ["prepare None"]]


def test_a_program_that_cannot_start_does_not_raise_before_judging(
    calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failed preparation does not raise, because the case is not over."""

    def refuse(*_: object, **__: object) -> None:
        raise EnvironmentMissing("a Java", seen="none")

    monkeypatch.setattr(judge_runs, "prepare", refuse)
    ahead = JudgingAhead(1, None)
    ahead.on_event(ReadBackStarted(1))
    ahead.on_event(AnalysisStarted(cases=1, checks=1))


def test_libraries_are_loaded_when_the_analysis_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Libraries are loaded when the analysis begins; a failed import is ignored here."""
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
