"""The end of a case beside the beginning of the next one, without clients and brokers."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.core.errors import ClusterError
from rocketdiff.core.events import CaseEnded, CaseStarted, Event
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.run.case.staged_case import StagedCase
from rocketdiff.run.case_session import CaseSession
from rocketdiff.run.overlap import play_overlapping
from rocketdiff.scenario import Case
from tests.run.test_case_session import CASE, REQUEST, Given

ELSEWHERE = replace(CASE, scenario=replace(CASE.scenario, topology="one-master"))
TIMEOUT_S = 60.0
FIRST = ("start 1", "go_on 1", "start 2", "begin 1", "suspend 2", "work 1")
SECOND = ("go_on 2", "begin 2", "end 1")


class Stages:
    """
    Replaces the stages of a case by ones that are only noted, and raise at (stage, number).

    beside: the end of case 1 waits until the next case has begun, so the two overlap.
    """

    def __init__(self, raises: tuple[str, int] | None = None, *, beside: bool = False) -> None:
        self.seen: list[str] = []
        self.threads: set[str] = set()
        self._raises, self._beside = raises, beside
        self._second_began = threading.Event()

    def stage(self, name: str) -> Callable[[StagedCase], None]:
        def noted(case: StagedCase) -> None:
            number = case.number
            if self._beside and (name, number) == ("end", 1):
                assert self._second_began.wait(TIMEOUT_S)
            if (name, number) == ("begin", 2):
                self._second_began.set()
            self.seen.append(f"{name} {number}")
            if self._raises == (name, number):
                raise ClusterError("a broker that lives", seen=f"none at the {name} of {number}")
            if name == "begin":
                case.events.on_event(CaseStarted(number, "", 0, 0, 0.0))
            if name == "end":
                self.threads.add(threading.current_thread().name)
                case.events.on_event(CaseEnded(number, "", ClientRole.PRODUCER, 0, 0, 0.0))

        return noted


class Heard:
    """A listener that notes the cases' starts and ends, and the threads that it is called on."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.threads: set[str] = set()

    def on_event(self, event: Event) -> None:
        assert isinstance(event, CaseStarted | CaseEnded)
        self.events.append(f"{type(event).__name__} {event.number}")
        self.threads.add(threading.current_thread().name)


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Heard, Given]]:
    def play(stages: Stages, *cases: Case) -> tuple[Heard, Given]:
        for name in ("start", "suspend", "go_on", "begin", "work", "end", "withdraw"):
            monkeypatch.setattr(StagedCase, name, stages.stage(name))
        clusters, heard = Given(), Heard()
        session = CaseSession.begin(REQUEST, clusters, tmp_path, [CASE] * len(cases))
        session = CaseSession(REQUEST, session.directory, clusters, [heard])
        play_overlapping(session, cases)
        return heard, clusters

    return play


def test_a_case_ends_while_the_next_one_begins(played: Callable[..., tuple[Heard, Given]]) -> None:
    """
    The next case works only when the last one has ended, and the programs of the one after it are suspended.

    Listeners hear of one case after the other, on one thread.
    """
    stages = Stages(beside=True)
    heard, _ = played(stages, CASE, CASE, CASE)
    second = ["go_on 2", "start 3", "begin 2", "end 1", "suspend 3", "work 2"]
    assert stages.seen[:12] == [*FIRST, *second]
    assert set(stages.seen[12:15]) == {"go_on 3", "begin 3", "end 2"}
    assert stages.seen[15:] == ["work 3", "end 3"]
    assert stages.threads == {"case-end"}
    assert heard.events == [f"{kind} {number}" for number in (1, 2, 3) for kind in ("CaseStarted", "CaseEnded")]
    assert heard.threads == {threading.current_thread().name}


def test_another_cluster_waits_for_the_end_of_the_last_case(played: Callable[..., tuple[Heard, Given]]) -> None:
    """A case with another topology replaces the cluster, which the last case still reads; its programs are started ahead."""
    stages = Stages()
    played(stages, CASE, ELSEWHERE)
    rest = [stage for stage in stages.seen if stage != "go_on 2"]
    assert rest == [*FIRST, "end 1", "begin 2", "work 2", "end 2"]


@pytest.mark.parametrize(
    ("stage", "number", "seen"),
    [
        ("begin", 1, [*FIRST[:4], "withdraw 1", "withdraw 2"]),
        ("work", 1, [*FIRST, "withdraw 2"]),
        ("end", 1, [*FIRST, *SECOND, "withdraw 2"]),
        ("begin", 2, [*FIRST, *SECOND, "withdraw 2"]),
        ("work", 2, [*FIRST, *SECOND, "work 2"]),
        ("end", 2, [*FIRST, *SECOND, "work 2", "end 2"]),
    ],
)
def test_an_error_of_a_stage_is_raised_once_the_other_case_has_ended(
    played: Callable[..., tuple[Heard, Given]], stage: str, number: int, seen: list[str]
) -> None:
    """Whatever stage fails, the case that ends is ended, and one that was started or has begun is withdrawn."""
    stages = Stages((stage, number))
    with pytest.raises(ClusterError, match=f"none at the {stage} of {number}"):
        played(stages, CASE, CASE)
    assert sorted(stages.seen) == sorted(seen)
    assert not [thread for thread in threading.enumerate() if thread.name == "case-end"]
