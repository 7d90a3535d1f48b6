"""Which cases a run repeats at its end, and what becomes of the first attempt. Without clients and brokers."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from rocketdiff.core.answers.verdict import CheckResult, Verdict
from rocketdiff.core.errors import ClusterError
from rocketdiff.core.events import CaseRepeated, Event
from rocketdiff.core.run_info import Guard
from rocketdiff.judging.run_info import describe_manifests
from rocketdiff.run.case.staged_case import StagedCase
from rocketdiff.run.case_session import CaseSession
from rocketdiff.run.repeat import repeat_spoilt
from rocketdiff.traces.manifest import CaseStatus
from tests.run.test_case_session import CASE, REQUEST, Given

SPOILT = "awake-machine"
INVALID = Verdict.INVALID


class Heard:
    """A listener that notes the numbers of the cases that are repeated."""

    def __init__(self) -> None:
        self.repeated: list[int] = []

    def on_event(self, event: Event) -> None:
        if isinstance(event, CaseRepeated):
            self.repeated.append(event.number)


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the cases that run from now on."""
    numbers: list[int] = []

    def play(case: StagedCase) -> None:
        numbers.append(case.number)

    monkeypatch.setattr(StagedCase, "play", play)
    return numbers


def session_of(root: Path, broken: dict[int, str], cases: int, heard: Heard) -> CaseSession:
    """A run whose cases have all run; broken: the guard that did not hold, by case."""
    begun = CaseSession.begin(REQUEST, Given(), root, [CASE] * cases)
    for number, name in broken.items():
        guards = (Guard("read-back", True, "read", "read"), Guard(name, False, "no stall", "one of 900 ms"))
        begun.directory.change(number, partial(replace, guards=guards))
    return CaseSession(REQUEST, begun.directory, Given(), [heard])


@pytest.mark.parametrize(
    ("broken", "cases", "verdict", "repeated"),
    [
        pytest.param({}, 5, INVALID, [], id="none-spoilt"),
        pytest.param({1: SPOILT}, 1, INVALID, [1], id="the-only-case"),
        pytest.param({3: "served-candidate"}, 5, INVALID, [3], id="an-unserved-group"),
        pytest.param({2: "settled"}, 5, INVALID, [2], id="an-unsettled-group"),
        pytest.param({2: SPOILT, 4: SPOILT}, 19, INVALID, [], id="more-than-a-tenth"),
        pytest.param({2: SPOILT, 4: SPOILT}, 20, INVALID, [2, 4], id="a-tenth"),
        pytest.param({3: SPOILT}, 5, Verdict.DIVERGES, [], id="it-diverges-all-the-same"),
        pytest.param({3: SPOILT}, 5, Verdict.CONFORMS, [], id="it-is-judged-all-the-same"),
        pytest.param({3: "witness-candidate"}, 5, INVALID, [], id="its-reports-are-wrong"),
        pytest.param({3: "cluster"}, 5, INVALID, [], id="a-server-died"),
        pytest.param({3: "plan-done-candidate"}, 5, INVALID, [], id="it-left-sends-unanswered"),
    ],
)
def test_a_spoilt_case_is_run_once_more(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    played: list[int],
    broken: dict[int, str],
    cases: int,
    verdict: Verdict,
    repeated: list[int],
) -> None:
    """The new attempt stands in the place of the first, which the run keeps with its guards."""
    result = CheckResult(str(CASE.id), "validity", verdict)
    monkeypatch.setattr("rocketdiff.run.case_session.judge_case", lambda *_: (result,))
    heard = Heard()
    session = session_of(tmp_path, broken, cases, heard)
    repeat_spoilt(session, [CASE] * cases)
    manifest, new = session.directory.manifest, range(cases + 1, cases + 1 + len(repeated))
    assert (heard.repeated, played) == (repeated, list(new))
    assert [entry.number for entry in manifest.repeated] == repeated
    places = dict(zip(repeated, new, strict=True))
    assert [entry.number for entry in manifest.cases] == [places.get(number, number) for number in range(1, cases + 1)]
    assert all(entry.guards == () for entry in manifest.cases if entry.number > cases)
    assert all(entry.status is CaseStatus.PLANNED for entry in manifest.cases)
    said = [(str(CASE.id), f"{broken[number]}: expected no stall, saw one of 900 ms") for number in repeated]
    assert describe_manifests([manifest], took_s=0.0).repeated == tuple(said)


def test_a_second_attempt_that_breaks_off_leaves_the_run_without_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run goes on to its report; no further case is repeated."""

    def play(_: StagedCase) -> None:
        raise ClusterError("a broker that lives", seen="none")

    monkeypatch.setattr(StagedCase, "play", play)
    monkeypatch.setattr(
        "rocketdiff.run.case_session.judge_case", lambda *_: (CheckResult(str(CASE.id), "validity", INVALID),)
    )
    session = session_of(tmp_path, {2: SPOILT, 4: SPOILT}, 20, Heard())
    repeat_spoilt(session, [CASE] * 20)
    manifest = session.directory.manifest
    assert [entry.number for entry in manifest.repeated] == [2]
    assert [(entry.number, entry.status) for entry in manifest.cases if entry.number > 20] == [(21, CaseStatus.ABORTED)]
    assert "a broker that lives" in manifest.case(21).reason
