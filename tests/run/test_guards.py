"""The exact texts and limits of all guards."""

from collections.abc import Mapping
from dataclasses import replace

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
    clock_slip_ms=0,
    origin_ns=-int(SPEC.at_s * S),
)


def broken(facts: CaseMeasurements) -> list[str]:
    return [guard.name for guard in guards_of(facts) if not guard.held]


def twice(first: FaultRecord, second: FaultRecord) -> CaseMeasurements:
    """Two pauses of 1 s: of broker-b at 1.5 s, of broker-a at 3 s."""
    specs = (SPEC, replace(SPEC, episode=2, node="broker-a", at_s=3.0))
    case = replace(CASE, scenario=replace(CASE.scenario, faults=specs))
    return replace(SOUND, case=case, faults=(first, second), origin_ns=0)


def paused(episode: int, node: str, from_s: float, to_s: float) -> FaultRecord:
    """A pause with proven start and end."""
    begin, end = int(from_s * S), int(to_s * S)
    return FaultRecord(episode, SPEC.kind, node, begin, begin + 1, begin + 2, end, end + 1, end + 2)


PROVEN = "pause of broker-b at 1.5 s in effect and proven"
ON_TIME = "every fault within 1 s of its time, and no overlap of pauses that the plan keeps apart"


def test_a_sound_case_has_these_guards() -> None:
    """A valid case gives these guards."""
    facts = replace(
        SOUND,
        clock_slip_ms=3,
        stalls=MeasuredStalls(gaps=((0, 250_000_000),), stopped_ns={BASELINE: 0}),
        wire={CANDIDATE: WireReport("the wire: 7 attempts")},
    )
    guards = [(guard.name, guard.held, guard.expected, guard.seen) for guard in guards_of(facts)]
    assert guards == [
        ("fault-1", True, PROVEN, "proven"),
        ("fault-on-time", True, ON_TIME, "the schedule was kept"),
        ("clock-steady", True, "wall and monotonic clock within 5 ms of each other from begin to end", "3 ms"),
        ("read-back", True, "every queue read to its end after healing", "read"),
        ("awake-machine", True, "a sleeping thread woken at most 1000 ms late", "250 ms"),
        ("awake-baseline", True, "processes that are not stopped", "never stopped"),
        ("witness-candidate", True, "consistent reports of candidate's attempts", "the wire: 7 attempts"),
    ]
    assert {guard.case for guard in guards_of(facts)} == {str(CASE.id)}


FLAWS: Mapping[str, tuple[CaseMeasurements, Guard]] = {
    "never injected": (replace(SOUND, faults=()), Guard("fault-1", False, PROVEN, "not injected")),
    "another episode's record": (
        replace(SOUND, faults=(replace(PAUSE, episode=2),)),
        Guard("fault-1", False, PROVEN, "not injected"),
    ),
    "another broker's record": (
        replace(SOUND, faults=(replace(PAUSE, node="broker-a"),)),
        Guard("fault-1", False, PROVEN, "not injected"),
    ),
    "no proof": (
        replace(SOUND, faults=(replace(PAUSE, proven_ns=None),)),
        Guard("fault-1", False, PROVEN, "its effect was not shown"),
    ),
    "no heal": (
        replace(SOUND, faults=(replace(PAUSE, heal_ns=None),)),
        Guard("fault-1", False, PROVEN, "its end was not shown"),
    ),
    "a quarter of its time": (
        replace(SOUND, faults=(replace(PAUSE, injected_ns=2 * S, heal_ns=2 * S + S // 4),)),
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
    "clock-steady": (replace(SOUND, clock_slip_ms=-5), replace(SOUND, clock_slip_ms=6)),
    "awake-machine": (
        replace(SOUND, stalls=MeasuredStalls(gaps=((1, 1_000_000_001),))),
        replace(SOUND, stalls=MeasuredStalls(gaps=((1, 1_000_000_002),))),
    ),
    "fault-1": (
        replace(SOUND, faults=(replace(PAUSE, injected_ns=1, heal_ns=S // 2 + 1),)),
        replace(SOUND, faults=(replace(PAUSE, injected_ns=1, heal_ns=S // 2),)),
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


def test_pauses_a_tenth_of_a_second_apart_are_apart() -> None:
    """Of pauses planned 0.125 s apart, the first may end exactly at the second's start."""
    specs = (SPEC, replace(SPEC, episode=2, node="broker-a", at_s=2.625))
    case = replace(CASE, scenario=replace(CASE.scenario, faults=specs))
    second = paused(2, "broker-a", 2.625, 3.625)
    for end_s, held in ((2.625, True), (2.75, False)):
        first = replace(paused(1, "broker-b", 1.5, end_s), healed_ns=int(end_s * S))
        guards = guards_of(replace(twice(first, second), case=case))
        assert [guard.held for guard in guards if guard.name == "fault-on-time"] == [held]


def test_pauses_a_tenth_of_a_second_apart_are_not_to_meet() -> None:
    """Pauses planned 0.1 s apart must not overlap: 0.2 − 0.0 − 0.1 s is exactly 0.1 s."""
    specs = (replace(SPEC, at_s=0.0, for_s=0.1), replace(SPEC, episode=2, node="broker-a", at_s=0.2))
    case = replace(CASE, scenario=replace(CASE.scenario, faults=specs))
    facts = twice(paused(1, "broker-b", 0.0, 0.3), paused(2, "broker-a", 0.2, 1.2))
    assert broken(replace(facts, case=case)) == ["fault-on-time"]


def test_a_pause_that_never_ended_met_the_next() -> None:
    """A pause without end time breaks only fault-on-time."""
    endless = replace(paused(1, "broker-b", 1.5, 2.5), healed_ns=None)
    assert broken(twice(endless, paused(2, "broker-a", 3.0, 4.0))) == ["fault-on-time"]


def test_a_pause_for_good_may_meet_the_next() -> None:
    """An endless pause may overlap the next, as planned."""
    specs = (replace(SPEC, for_s=None), replace(SPEC, episode=2, node="broker-a", at_s=3.0))
    facts = twice(paused(1, "broker-b", 1.5, 9.0), paused(2, "broker-a", 3.0, 4.0))
    case = replace(CASE, scenario=replace(CASE.scenario, faults=specs))
    assert broken(replace(facts, case=case)) == []


def test_pauses_apart_are_on_time() -> None:
    """Pauses a few hundredths of a second late, half a second apart, are on time."""
    kept = twice(paused(1, "broker-b", 1.53, 2.53), paused(2, "broker-a", 3.02, 4.02))
    assert broken(kept) == []


def test_a_pause_that_slipped_is_named_with_both_times() -> None:
    """A pause due at 3 s that came at 5.2 s breaks fault-on-time."""
    slipped = guards_of(twice(paused(1, "broker-b", 1.5, 2.5), paused(2, "broker-a", 5.2, 6.2)))
    (guard,) = [each for each in slipped if each.name == "fault-on-time"]
    assert (guard.held, guard.seen) == (False, "pause of broker-a due at 3.0 s came at 5.2 s")


def test_pauses_planned_apart_that_overlap_break_the_guard() -> None:
    """Pauses planned apart that overlapped break fault-on-time."""
    merged = guards_of(twice(paused(1, "broker-b", 1.9, 3.2), paused(2, "broker-a", 3.1, 4.1)))
    (guard,) = [each for each in merged if not each.held]
    assert guard.seen == "the pauses of broker-b at 1.5 s and broker-a at 3 s overlapped"


def test_pauses_planned_together_may_overlap() -> None:
    """Pauses of both brokers planned for the same time may overlap."""
    specs = (SPEC, replace(SPEC, episode=2, node="broker-a"))
    facts = twice(paused(1, "broker-b", 1.5, 2.5), paused(2, "broker-a", 1.6, 2.6))
    assert broken(replace(facts, case=replace(CASE, scenario=replace(CASE.scenario, faults=specs)))) == []
