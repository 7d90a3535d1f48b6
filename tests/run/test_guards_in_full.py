"""The exact texts and limits of all guards."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import Send
from rocketdiff.core.run_info import Guard
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.run.case.guards import CaseMeasurements, guards_of, median_lateness_ns
from rocketdiff.run.case.stall_watch import MeasuredStalls
from rocketdiff.run.case.wire_witness import WireStory
from tests.run.guarded import CASE, PAUSE, SENDS, SOUND, SPEC, S, paused, twice

PROVEN = "pause of broker-b at 1.5 s in effect and proven"
ON_TIME = "every fault within 1 s of its time, and no overlap of pauses that the plan keeps apart"


def test_guards_of_a_sound_case() -> None:
    """A valid case gives these guards; 750 sends are 50 a second for 15 s."""
    facts = replace(
        SOUND,
        first_ns={Arm.BASELINE: 5_000_000, Arm.CANDIDATE: 7_500_000},
        late_ns={Arm.BASELINE: 1_200_000, Arm.CANDIDATE: 3_400_000},
        clock_slip_ms=3,
        stalls=MeasuredStalls(gaps=((0, 250_000_000),), stopped_ns={Arm.BASELINE: 0}),
        wire={Arm.CANDIDATE: WireStory("the wire: 7 attempts")},
    )
    told = [(one.name, one.held, one.expected, one.seen) for one in guards_of(facts)]
    assert told == [
        ("started-together", True, "first sends within 50 ms of each other", "2.5 ms"),
        ("on-schedule-baseline", True, "sends in calm at most 250 ms late (median)", "1.2 ms"),
        ("on-schedule-candidate", True, "sends in calm at most 250 ms late (median)", "3.4 ms"),
        ("plan-done-baseline", True, "750 sends answered", "750"),
        ("plan-done-candidate", True, "750 sends answered", "750"),
        ("fault-1", True, PROVEN, "proven"),
        ("fault-on-time", True, ON_TIME, "the schedule was kept"),
        ("clock-steady", True, "wall and monotonic clock within 5 ms of each other from begin to end", "3 ms"),
        ("read-back", True, "every queue read to its end after healing", "read"),
        ("awake-machine", True, "a sleeping thread woken at most 1000 ms late", "250 ms"),
        ("awake-baseline", True, "processes that are not stopped", "never stopped"),
        ("witness-candidate", True, "consistent reports of candidate's attempts", "the wire: 7 attempts"),
    ]
    assert {one.case for one in guards_of(facts)} == {str(CASE.id)}
    assert SENDS == 750


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
    "nobody read": (
        replace(SOUND, is_read_back=False),
        Guard("read-back", False, "every queue read to its end after healing", "not read"),
    ),
    "a stopped client": (
        replace(SOUND, stalls=MeasuredStalls(stopped_ns={Arm.CANDIDATE: 50_000_000})),
        Guard("awake-candidate", False, "processes that are not stopped", "stopped for about 50 ms"),
    ),
    "two stories": (
        replace(SOUND, wire={Arm.BASELINE: WireStory("both", against=("send 7: …", "send 9: …"))}),
        Guard("witness-baseline", False, "consistent reports of baseline's attempts", "2 sends differ, send 7: …"),
    ),
}


@pytest.mark.parametrize("flaw", FLAWS)
def test_sentences_of_flaws(flaw: str) -> None:
    """Each flaw gives exactly one broken guard with this text."""
    facts, guard = FLAWS[flaw]
    assert [one for one in guards_of(facts) if not one.held] == [replace(guard, case=str(CASE.id))]


AT_ITS_LIMIT: Mapping[str, tuple[CaseMeasurements, CaseMeasurements]] = {
    "started-together": (
        replace(SOUND, first_ns={Arm.BASELINE: 7, Arm.CANDIDATE: 50_000_007}),
        replace(SOUND, first_ns={Arm.BASELINE: 50_000_008, Arm.CANDIDATE: 7}),
    ),
    "on-schedule-candidate": (
        replace(SOUND, late_ns={Arm.CANDIDATE: 250_000_000}),
        replace(SOUND, late_ns={Arm.CANDIDATE: 250_000_001}),
    ),
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
def test_a_limit_is_what_still_holds(guard: str) -> None:
    """Limits are inclusive: 50 ms, 250 ms, 5 ms, 1 s, half of a pause, 1 s late."""
    holds, breaks = AT_ITS_LIMIT[guard]
    assert not any(one.name == guard and not one.held for one in guards_of(holds))
    assert any(one.name == guard and not one.held for one in guards_of(breaks))


def test_without_a_first_send_of_both_there_is_no_spread() -> None:
    """Without a first send of both arms there is no start spread."""
    facts = replace(SOUND, first_ns={Arm.BASELINE: 9})
    assert facts.spread_ns is None
    assert next(one.name for one in guards_of(facts)) == "on-schedule-baseline"
    assert facts.measured() == {"late_ns_baseline": 100_000, "late_ns_candidate": 100_000}


def test_figures_for_the_run_have_their_units() -> None:
    """Start spread and lateness are in ns."""
    facts = replace(SOUND, first_ns={Arm.BASELINE: 9, Arm.CANDIDATE: 4}, late_ns={Arm.CANDIDATE: 6})
    assert facts.measured() == {"late_ns_candidate": 6, "start_spread_ns": 5}


def of_kind(kind: FaultKind, for_s: float | None, record: FaultRecord) -> CaseMeasurements:
    """The case with its fault of another kind or length."""
    spec = replace(SPEC, kind=kind, for_s=for_s)
    return replace(SOUND, case=replace(CASE, scenario=replace(CASE.scenario, faults=(spec,))), faults=(record,))


@pytest.mark.parametrize(("kind", "for_s"), [(FaultKind.PAUSE, None), (FaultKind.KILL, 1.0), (FaultKind.KILL, None)])
def test_a_permanent_fault_needs_no_end(kind: FaultKind, for_s: float | None) -> None:
    """An endless pause and a kill need no proven end."""
    facts = of_kind(kind, for_s, replace(PAUSE, kind=kind, heal_ns=None, heal_proven_ns=None))
    assert [one.seen for one in guards_of(facts) if one.name == "fault-1"] == ["proven"]


def test_pauses_a_tenth_of_a_second_apart_are_apart() -> None:
    """Of pauses planned 0.125 s apart, the first may end exactly at the second's start."""
    specs = (SPEC, replace(SPEC, episode=2, node="broker-a", at_s=2.625))
    case = replace(CASE, scenario=replace(CASE.scenario, faults=specs))
    second = paused(2, "broker-a", 2.625, 3.625)
    for end_s, held in ((2.625, True), (2.75, False)):
        first = replace(paused(1, "broker-b", 1.5, end_s), healed_ns=int(end_s * S))
        guards = guards_of(replace(twice(first, second), case=case))
        assert [one.held for one in guards if one.name == "fault-on-time"] == [held]


def test_pauses_a_tenth_of_a_second_apart_are_not_to_meet() -> None:
    """Pauses planned 0.1 s apart must not overlap: 0.2 − 0.0 − 0.1 s is exactly 0.1 s."""
    specs = (replace(SPEC, at_s=0.0, for_s=0.1), replace(SPEC, episode=2, node="broker-a", at_s=0.2))
    case = replace(CASE, scenario=replace(CASE.scenario, faults=specs))
    facts = twice(paused(1, "broker-b", 0.0, 0.3), paused(2, "broker-a", 0.2, 1.2))
    assert [one.name for one in guards_of(replace(facts, case=case)) if not one.held] == ["fault-on-time"]


def test_a_pause_that_never_ended_met_the_next() -> None:
    """A pause without end time breaks only fault-on-time."""
    endless = replace(paused(1, "broker-b", 1.5, 2.5), healed_ns=None)
    broken = [one.name for one in guards_of(twice(endless, paused(2, "broker-a", 3.0, 4.0))) if not one.held]
    assert broken == ["fault-on-time"]


def test_a_pause_for_good_may_meet_the_next() -> None:
    """An endless pause may overlap the next, as planned."""
    specs = (replace(SPEC, for_s=None), replace(SPEC, episode=2, node="broker-a", at_s=3.0))
    facts = twice(paused(1, "broker-b", 1.5, 9.0), paused(2, "broker-a", 3.0, 4.0))
    case = replace(CASE, scenario=replace(CASE.scenario, faults=specs))
    assert [one.name for one in guards_of(replace(facts, case=case)) if not one.held] == []


PLAN = Plan(seed=1, threads=2, sends=tuple(PlannedSend(n, n % 2, n * 1_000, SendKind.PLAIN, 0, 1) for n in range(6)))


def test_lateness_is_the_median_of_sends_whose_thread_was_free() -> None:
    """
    Lateness is the median over sends whose thread was free.

    Due at 10,000 + 0, 1,000, 2,000, …; late by 10, 20, 400 and 40, median 30. Send 4 waits for send 2, which ended at 14,001, 1
    ns after 4 was due: its 5,000 do not count. Send 5 was never recorded.
    """
    starts = {0: 10_010, 1: 11_020, 2: 12_400, 3: 13_040, 4: 19_000}
    ends = {0: 10_500, 1: 13_000, 2: 14_001, 3: 13_100, 4: 19_100}
    told = [Send(n, n % 2, starts[n], ends[n]) for n in (4, 2, 0, 1, 3)]
    assert median_lateness_ns(PLAN, {Arm.BASELINE: told, Arm.CANDIDATE: []}, 10_000) == {Arm.BASELINE: 30}


def test_who_never_had_a_free_thread_is_not_late() -> None:
    """Without a send of a free thread lateness is 0."""
    told = {Arm.CANDIDATE: [Send(0, 0, 70, 80)]}
    assert median_lateness_ns(PLAN, told, -1) == {Arm.CANDIDATE: 0}
    assert median_lateness_ns(PLAN, told, 0) == {Arm.CANDIDATE: 70}


def test_a_lost_arm_is_not_asked_for_its_plan() -> None:
    """A lost arm has no plan-done guard."""
    lost = replace(SOUND, lost={Arm.CANDIDATE: SubjectId("python", "5.3.3")})
    names = [one.name for one in guards_of(lost)]
    assert "plan-done-baseline" in names
    assert "plan-done-candidate" not in names
