"""The end of a case beside the beginning of the next one, without clients and brokers."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from rocketdiff.core.errors import ClusterError
from rocketdiff.core.events import CaseEnded, CaseStarted, Event
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind
from rocketdiff.core.tables.fault import FaultKind, FaultSpec
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.units import NS_PER_S
from rocketdiff.run.case.case_run import CaseRun
from rocketdiff.run.case.sending.sending_run import SendingRun
from rocketdiff.run.case.staged_case import StagedCase
from rocketdiff.run.case_session import CaseSession
from rocketdiff.run.execute import plan_cases
from rocketdiff.run.overlap import Ending, play_overlapping
from rocketdiff.run.request import Selection
from rocketdiff.scenario import Case
from tests.run.test_case_session import CASE, REQUEST, Given

SCENARIO = CASE.scenario
ELSEWHERE = replace(CASE, scenario=replace(SCENARIO, topology="one-master"))
FAULTY = replace(CASE, scenario=replace(SCENARIO, faults=(FaultSpec(1, FaultKind.PAUSE, "broker-a", 1.0, 1.0),)))
(JOINING,) = plan_cases(replace(REQUEST, selection=Selection(patterns=("lite-pull/in-calm",))), 7)
GROUP = replace(
    JOINING, scenario=replace(JOINING.scenario, workload=replace(JOINING.scenario.workload, duration_s=2.0))
)
LONG = replace(CASE, scenario=replace(SCENARIO, workload=replace(SCENARIO.workload, duration_s=60.0)))
TIMEOUT_S = 60.0
FIRST = ("start 1", "go_on 1", "start 2", "begin 1", "suspend 2", "work 1")
SECOND = ("go_on 2", "begin 2", "end 1", "read_back 1")


class Stages:
    """
    Replaces the stages of a case by ones that are only noted, and raise at (stage, number).

    beside: the end of case 1 waits until the next case has begun, so the two overlap. kept_back: the messages of case 1 are not due
    before the end of this case.
    """

    def __init__(self, raises: tuple[str, int] | None = None, *, beside: bool = False, kept_back: int = 0) -> None:
        self.seen: list[str] = []
        self.threads: set[str] = set()
        self._raises, self._beside, self._kept_back = raises, beside, kept_back
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
            if name == "read_back":
                case.events.on_event(CaseEnded(number, "", ClientRole.PRODUCER, 0, 0, 0.0))

        return noted

    def is_due(self, case: StagedCase) -> bool:
        return case.number != 1 or not self._kept_back or f"end {self._kept_back}" in self.seen


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
        for name in ("start", "suspend", "go_on", "begin", "work", "end", "read_back", "withdraw"):
            monkeypatch.setattr(StagedCase, name, stages.stage(name))
        monkeypatch.setattr(StagedCase, "is_due", property(stages.is_due))
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
    second = ["go_on 2", "start 3", "begin 2", "end 1", "read_back 1", "suspend 3", "work 2"]
    assert stages.seen[:13] == [*FIRST, *second]
    assert set(stages.seen[13:17]) == {"go_on 3", "begin 3", "end 2", "read_back 2"}
    assert stages.seen[17:] == ["work 3", "end 3", "read_back 3"]
    assert stages.threads == {"case-end"}
    assert heard.events == [f"{kind} {number}" for number in (1, 2, 3) for kind in ("CaseStarted", "CaseEnded")]
    assert heard.threads == {threading.current_thread().name}


def test_another_cluster_waits_for_the_end_of_the_last_case(played: Callable[..., tuple[Heard, Given]]) -> None:
    """A case with another topology replaces the cluster, which the last case still reads; its programs are started ahead."""
    stages = Stages()
    played(stages, CASE, ELSEWHERE)
    rest = [stage for stage in stages.seen if stage != "go_on 2"]
    assert rest == [*FIRST, "end 1", "read_back 1", "begin 2", "work 2", "end 2", "read_back 2"]


@pytest.mark.parametrize(
    ("stage", "number", "seen"),
    [
        ("begin", 1, [*FIRST[:4], "withdraw 1", "withdraw 2"]),
        ("work", 1, [*FIRST, "withdraw 2"]),
        ("end", 1, [*FIRST, *SECOND[:-1], "withdraw 2"]),
        ("read_back", 1, [*FIRST, *SECOND, "withdraw 2"]),
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


@pytest.mark.parametrize(
    ("kept_back", "after", "order"),
    [
        (2, (CASE, CASE), ["work 2", "end 2", "read_back 1", "read_back 2", "work 3", "end 3", "read_back 3"]),
        (3, (CASE, CASE), ["work 2", "end 2", "read_back 2", "work 3", "end 3", "read_back 1", "read_back 3"]),
        (9, (CASE,), ["work 2", "end 2", "read_back 2", "read_back 1"]),
        (9, (CASE, FAULTY), ["work 2", "end 2", "read_back 2", "read_back 1", "work 3", "end 3", "read_back 3"]),
        (9, (FAULTY,), ["read_back 1", "work 2", "end 2", "read_back 2"]),
        (9, (LONG,), ["read_back 1", "work 2", "end 2", "read_back 2"]),
        (9, (GROUP,), ["read_back 1", "work 2", "end 2", "read_back 2"]),
        (9, (ELSEWHERE,), ["read_back 1", "work 2", "end 2", "read_back 2"]),
    ],
    ids=["due meanwhile", "due later", "last", "before a fault", "faults", "long", "a group", "another cluster"],
)
def test_messages_kept_back_are_read_between_later_cases(
    played: Callable[..., tuple[Heard, Given]], kept_back: int, after: Sequence[Case], order: list[str]
) -> None:
    """They are read once they are due, at the latest before a case that has faults, is long or needs another cluster."""
    stages = Stages(kept_back=kept_back)
    heard, _ = played(stages, CASE, *after)
    assert [stage for stage in stages.seen[7:] if stage.split()[0] in {"work", "end", "read_back"}] == order
    assert sorted(event for event in heard.events if event.startswith("CaseEnded")) == [
        f"CaseEnded {number}" for number in range(1, len(after) + 2)
    ]


@pytest.mark.parametrize("raises", [("begin", 2), ("work", 2), ("end", 2)])
def test_messages_kept_back_are_read_after_the_error_of_a_later_case(
    played: Callable[..., tuple[Heard, Given]], raises: tuple[str, int]
) -> None:
    """A case that is only to be read back is complete before the error is raised."""
    stages = Stages(raises, kept_back=9)
    with pytest.raises(ClusterError, match=f"none at the {raises[0]} of 2"):
        played(stages, CASE, CASE)
    assert stages.seen[-1] == "read_back 1"


def test_each_of_two_cases_is_read_though_the_first_fails(played: Callable[..., tuple[Heard, Given]]) -> None:
    """The error of the first is raised once the second has been read."""
    stages = Stages(("read_back", 1), kept_back=2)
    with pytest.raises(ClusterError, match="none at the read_back of 1"):
        played(stages, CASE, CASE)
    assert stages.seen[-2:] == ["read_back 1", "read_back 2"]


def test_a_join_without_an_end_moves_no_time() -> None:
    """The next case's duration counts from the last end, not from when the runner asked for it."""
    last = Ending()
    last.join()
    assert last.at == 0.0


@pytest.mark.parametrize(
    ("levels", "due_s"), [((0, 0), 0.0), ((1, 0), 2.0), ((3, 1), 11.0), ((2, 4), 6.0), ((4, 18), 0.0)]
)
def test_a_case_is_due_when_its_last_awaited_message_is(levels: tuple[int, int], due_s: float) -> None:
    """Levels 1 to 3 are awaited, 1, 5 and 10 s after the send is due; the sends here are due after 1 and 2 s."""
    plan = Plan(
        0,
        1,
        tuple(
            PlannedSend(n, 0, (n + 1) * NS_PER_S, SendKind.PLAIN, n, 9, delay_level=of) for n, of in enumerate(levels)
        ),
    )
    run = SimpleNamespace(case=SimpleNamespace(plan=plan), origin_ns=100 * NS_PER_S)
    assert SendingRun(cast(CaseRun, run)).due_ns == (100 + due_s) * NS_PER_S * bool(due_s)
