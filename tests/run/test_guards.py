"""The exact texts and limits of all guards."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import starmap
from typing import Any

import pytest

from rocketdiff.core.arm import BASELINE, CANDIDATE
from rocketdiff.core.resources import resource
from rocketdiff.core.run_info import Guard
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.run.case.guards import CaseMeasurements, WireReport, guards_of
from rocketdiff.run.case.stall_watch import MeasuredStalls
from rocketdiff.scenario import expand, load

CASE = expand(
    load(resource("fixtures/scenarios/fault-latency/pause-one-of-two.yaml")),
    SubjectId("java", "5.3.3"),
    SubjectId("python", "5.3.3"),
    seed=1,
)
SPEC = CASE.faults[0]
S = 1_000_000_000
PAUSE = FaultRecord(SPEC.episode, SPEC.kind, SPEC.node, 0, 1, 2, 1 * S, 1 * S + 1, 1 * S + 2)
SOUND = CaseMeasurements(
    case=CASE,
    case_name=str(CASE.id),
    faults=(PAUSE,),
    problems=(),
    is_read_back=True,
    origin_ns=-int(SPEC.at_s * S),
)


def broken(facts: CaseMeasurements) -> list[str]:
    return [guard.name for guard in guards_of(facts) if not guard.held]


def with_fault(**changes: Any) -> CaseMeasurements:
    """The case with a changed record of its fault."""
    return replace(SOUND, faults=(replace(PAUSE, **changes),))


def paused(
    first: tuple[float, float],
    second: tuple[float, float],
    planned: tuple[float, float] = (1.5, 3.0),
    first_for_s: float | None = 1.0,
) -> CaseMeasurements:
    """Pauses of broker-b and broker-a, from and to in s, each proven, and the seconds at which they were planned."""
    specs = (
        replace(SPEC, at_s=planned[0], for_s=first_for_s),
        replace(SPEC, episode=2, node="broker-a", at_s=planned[1]),
    )
    case = replace(CASE, scenario=replace(CASE.scenario, faults=specs))
    ends = ((1, "broker-b", *first), (2, "broker-a", *second))
    return replace(SOUND, case=case, origin_ns=0, faults=tuple(starmap(pause_record, ends)))


def pause_record(episode: int, node: str, from_s: float, to_s: float) -> FaultRecord:
    begin, end = int(from_s * S), int(to_s * S)
    return FaultRecord(episode, SPEC.kind, node, begin, begin + 1, begin + 2, end, end, end + 2)


PROVEN = "pause of broker-b at 1.5 s in effect and proven"
ON_TIME = "every fault within 1 s of its time, and no overlap of pauses that the plan keeps apart"


def test_a_sound_case_has_these_guards() -> None:
    """A valid case gives these guards."""
    facts = replace(
        SOUND,
        stalls=MeasuredStalls(gaps=((0, 250_000_000),), stopped_ns={BASELINE: 0}),
        wire={CANDIDATE: WireReport("the wire: 7 attempts")},
    )
    guards = [(guard.name, guard.held, guard.expected, guard.seen) for guard in guards_of(facts)]
    assert guards == [
        ("fault-1", True, PROVEN, "proven"),
        ("fault-on-time", True, ON_TIME, "the schedule was kept"),
        ("read-back", True, "every queue read to its end after healing", "read"),
        ("awake-machine", True, "a sleeping thread woken at most 1000 ms late", "250 ms"),
        ("awake-baseline", True, "processes that are not stopped", "never stopped"),
        ("witness-candidate", True, "consistent reports of candidate's attempts", "the wire: 7 attempts"),
    ]
    assert {guard.case for guard in guards_of(facts)} == {str(CASE.id)}


FLAWS: Mapping[str, tuple[CaseMeasurements, Guard]] = {
    "never injected": (replace(SOUND, faults=()), Guard("fault-1", False, PROVEN, "not injected")),
    "another episode's record": (with_fault(episode=2), Guard("fault-1", False, PROVEN, "not injected")),
    "another broker's record": (with_fault(node="broker-a"), Guard("fault-1", False, PROVEN, "not injected")),
    "no proof": (with_fault(proven_ns=None), Guard("fault-1", False, PROVEN, "its effect was not shown")),
    "no heal": (with_fault(heal_ns=None), Guard("fault-1", False, PROVEN, "its end was not shown")),
    "no proof of its heal": (with_fault(heal_proven_ns=None), Guard("fault-1", False, PROVEN, "its end was not shown")),
    "a quarter of its time": (
        with_fault(injected_ns=2 * S, heal_ns=2 * S + S // 4),
        Guard("fault-1", False, PROVEN, "it lasted 0.25 s only"),
    ),
    "a problem": (
        replace(SOUND, problems=("broker-a died by itself",)),
        Guard("cluster", False, "a cluster that follows the schedule", "broker-a died by itself"),
    ),
    "not read": (
        replace(SOUND, is_read_back=False),
        Guard("read-back", False, "every queue read to its end after healing", "not read"),
    ),
    "a stopped client": (
        replace(SOUND, stalls=MeasuredStalls(stopped_ns={CANDIDATE: 50_000_000})),
        Guard("awake-candidate", False, "processes that are not stopped", "stopped for about 50 ms"),
    ),
    "two reports": (
        replace(SOUND, wire={BASELINE: WireReport("both", against=("send 7: …", "send 9: …"))}),
        Guard("witness-baseline", False, "consistent reports of baseline's attempts", "2 sends differ, send 7: …"),
    ),
}


@pytest.mark.parametrize("flaw", FLAWS)
def test_a_flaw_breaks_its_guard_and_no_other(flaw: str) -> None:
    """Each flaw gives exactly one broken guard with this text."""
    facts, guard = FLAWS[flaw]
    assert [each for each in guards_of(facts) if not each.held] == [replace(guard, case=str(CASE.id))]


AT_ITS_LIMIT: Mapping[str, tuple[CaseMeasurements, CaseMeasurements]] = {
    "awake-machine": (
        replace(SOUND, stalls=MeasuredStalls(gaps=((1, 1_000_000_001),))),
        replace(SOUND, stalls=MeasuredStalls(gaps=((1, 1_000_000_002),))),
    ),
    "fault-1": (
        with_fault(injected_ns=1, heal_ns=S // 2 + 1),
        with_fault(injected_ns=1, heal_ns=S // 2),
    ),
    "fault-on-time": (
        replace(SOUND, origin_ns=SOUND.origin_ns - S),
        replace(SOUND, origin_ns=SOUND.origin_ns - S - 1_000),
    ),
}


@pytest.mark.parametrize("guard", AT_ITS_LIMIT)
def test_limits_are_inclusive(guard: str) -> None:
    """Limits are inclusive: 5 ms, 1 s, half of a pause, 1 s late."""
    holds, breaks = AT_ITS_LIMIT[guard]
    assert guard not in broken(holds)
    assert guard in broken(breaks)


def of_kind(kind: FaultKind, for_s: float | None, record: FaultRecord) -> CaseMeasurements:
    """The case with its fault of another kind or length."""
    spec = replace(SPEC, kind=kind, for_s=for_s)
    return replace(SOUND, case=replace(CASE, scenario=replace(CASE.scenario, faults=(spec,))), faults=(record,))


@pytest.mark.parametrize(("kind", "for_s"), [(FaultKind.PAUSE, None), (FaultKind.KILL, 1.0), (FaultKind.KILL, None)])
def test_a_permanent_fault_needs_no_proven_end(kind: FaultKind, for_s: float | None) -> None:
    """An endless pause and a kill need no proven end."""
    facts = of_kind(kind, for_s, replace(PAUSE, kind=kind, heal_ns=None, heal_proven_ns=None))
    assert [guard.seen for guard in guards_of(facts) if guard.name == "fault-1"] == ["proven"]


@pytest.mark.parametrize(
    ("left_s", "seen"),
    [(3.6, "proven"), (3.4, "the broker was back 3.4 s before the end: at least 3.5 s are needed"), (-2, "0.0 s")],
)
def test_a_moved_broker_must_be_back_before_the_end(left_s: float, seen: str) -> None:
    """A broker that is back too late for a client to show whether it finds it makes the case invalid."""
    facts = of_kind(FaultKind.MOVE, 1.0, PAUSE)
    settings = replace(CASE.scenario.settings, send_msg_timeout_ms=500, poll_name_server_interval_ms=1_000)
    scenario = replace(facts.case.scenario, settings=settings)
    healed_ns = facts.origin_ns + round((scenario.duration_s - left_s) * S)
    facts = replace(
        facts,
        case=replace(facts.case, scenario=scenario),
        faults=(replace(PAUSE, kind=FaultKind.MOVE, healed_ns=healed_ns),),
    )
    (guard,) = (guard for guard in guards_of(facts) if guard.name == "fault-1")
    assert seen in guard.seen
    assert guard.held is (seen == "proven")


@pytest.mark.parametrize(
    ("facts", "seen"),
    [
        pytest.param(paused((1.53, 2.53), (3.02, 4.02)), None, id="a little late"),
        pytest.param(paused((1.5, 2.5), (1.6, 2.6), (1.5, 1.5)), None, id="planned together"),
        pytest.param(paused((1.5, 9.0), (3.0, 4.0), first_for_s=None), None, id="an endless pause"),
        pytest.param(paused((1.5, 2.625), (2.625, 3.625), (1.5, 2.625)), None, id="0.125 s apart, touching"),
        pytest.param(
            paused((1.5, 2.75), (2.625, 3.625), (1.5, 2.625)),
            "the pauses of broker-b at 1.5 s and broker-a at 2.625 s overlapped",
            id="0.125 s apart, overlapping",
        ),
        pytest.param(
            # 0.2 − 0.0 − 0.1 s is exactly 0.1 s
            paused((0.0, 0.3), (0.2, 1.2), (0.0, 0.2), 0.1),
            "the pauses of broker-b at 0 s and broker-a at 0.2 s overlapped",
            id="0.1 s apart, overlapping",
        ),
        pytest.param(
            paused((1.9, 3.2), (3.1, 4.1)),
            "the pauses of broker-b at 1.5 s and broker-a at 3 s overlapped",
            id="overlap",
        ),
        pytest.param(
            paused((1.5, 2.5), (5.2, 6.2)), "pause of broker-a due at 3.0 s came at 5.2 s", id="a pause that slipped"
        ),
    ],
)
def test_pauses_are_on_time_and_apart_as_planned(facts: CaseMeasurements, seen: str | None) -> None:
    """Pauses that are late or meet against the plan break fault-on-time, which names them, and no other guard."""
    broken_guards = [(guard.name, guard.seen) for guard in guards_of(facts) if not guard.held]
    assert broken_guards == ([] if seen is None else [("fault-on-time", seen)])


def test_a_pause_that_never_ended_met_the_next() -> None:
    """A pause without end time breaks only fault-on-time."""
    facts = paused((1.5, 2.5), (3.0, 4.0))
    endless = replace(facts.faults[0], healed_ns=None)
    assert broken(replace(facts, faults=(endless, *facts.faults[1:]))) == ["fault-on-time"]
