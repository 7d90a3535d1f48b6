"""The guards about sends: their exact texts and limits."""

from dataclasses import replace

import pytest

from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import Send
from rocketdiff.core.run_info import Guard
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind
from rocketdiff.run.case.sending.guards import SendMeasurements, median_lateness_ns, sending_guards_of

CASE = "calm/few/java:5.3.3~python:5.3.3"
SOUND = SendMeasurements(
    case_name=CASE,
    planned=750,
    first_ns={Arm.BASELINE: 5_000_000, Arm.CANDIDATE: 7_500_000},
    late_ns={Arm.BASELINE: 1_200_000, Arm.CANDIDATE: 3_400_000},
    answered={Arm.BASELINE: 750, Arm.CANDIDATE: 750},
)


def test_a_sound_case_has_these_guards() -> None:
    """A case in which all was sent together and on time."""
    guards = [(guard.name, guard.held, guard.expected, guard.seen) for guard in sending_guards_of(SOUND)]
    assert guards == [
        ("started-together", True, "first sends within 50 ms of each other", "2.5 ms"),
        ("on-schedule-baseline", True, "sends in calm at most 250 ms late (median)", "1.2 ms"),
        ("on-schedule-candidate", True, "sends in calm at most 250 ms late (median)", "3.4 ms"),
        ("plan-done-baseline", True, "750 sends answered", "750"),
        ("plan-done-candidate", True, "750 sends answered", "750"),
    ]
    assert {guard.case for guard in sending_guards_of(SOUND)} == {CASE}


@pytest.mark.parametrize(
    ("holds", "breaks", "guard"),
    [
        (
            replace(SOUND, first_ns={Arm.BASELINE: 7, Arm.CANDIDATE: 50_000_007}),
            replace(SOUND, first_ns={Arm.BASELINE: 50_000_008, Arm.CANDIDATE: 7}),
            "started-together",
        ),
        (
            replace(SOUND, late_ns={Arm.CANDIDATE: 250_000_000}),
            replace(SOUND, late_ns={Arm.CANDIDATE: 250_000_001}),
            "on-schedule-candidate",
        ),
        (SOUND, replace(SOUND, answered={Arm.CANDIDATE: 749}), "plan-done-candidate"),
    ],
)
def test_limits_are_inclusive(holds: SendMeasurements, breaks: SendMeasurements, guard: str) -> None:
    """50 ms, 250 ms and the whole plan still hold; a little more breaks this guard and no other."""
    assert all(each.held for each in sending_guards_of(holds))
    assert [each.name for each in sending_guards_of(breaks) if not each.held] == [guard]


def test_without_a_first_send_of_both_there_is_no_spread() -> None:
    """Without a first send of both arms there is no start spread."""
    facts = replace(SOUND, first_ns={Arm.BASELINE: 9})
    assert facts.spread_ns is None
    assert next(guard.name for guard in sending_guards_of(facts)) == "on-schedule-baseline"
    assert facts.measured() == {"late_ns_baseline": 1_200_000, "late_ns_candidate": 3_400_000}


def test_figures_for_the_run_have_their_units() -> None:
    """Start spread and lateness are in ns."""
    facts = replace(SOUND, first_ns={Arm.BASELINE: 9, Arm.CANDIDATE: 4}, late_ns={Arm.CANDIDATE: 6})
    assert facts.measured() == {"late_ns_candidate": 6, "start_spread_ns": 5}


def test_missing_sends_of_a_lost_arm_break_no_guard() -> None:
    """A lost arm has no plan-done guard; the protocol check has its missing sends."""
    lost = replace(SOUND, answered={Arm.BASELINE: 750, Arm.CANDIDATE: 3}, lost=frozenset({Arm.CANDIDATE}))
    assert sending_guards_of(lost)[-1] == Guard("plan-done-baseline", True, "750 sends answered", "750", CASE)


PLAN = Plan(seed=1, threads=2, sends=tuple(PlannedSend(n, n % 2, n * 1_000, SendKind.PLAIN, 0, 1) for n in range(6)))


def test_lateness_is_the_median_of_sends_whose_thread_was_free() -> None:
    """
    Lateness is the median over sends whose thread was free.

    Due at 10,000 + 0, 1,000, 2,000, …; late by 10, 20, 400 and 40, median 30. Send 4 waits for send 2, which ended at 14,001, 1
    ns after 4 was due: its 5,000 do not count. Send 5 was never recorded.
    """
    starts = {0: 10_010, 1: 11_020, 2: 12_400, 3: 13_040, 4: 19_000}
    ends = {0: 10_500, 1: 13_000, 2: 14_001, 3: 13_100, 4: 19_100}
    sends = [Send(n, n % 2, starts[n], ends[n]) for n in (4, 2, 0, 1, 3)]
    assert median_lateness_ns(PLAN, {Arm.BASELINE: sends, Arm.CANDIDATE: []}, 10_000) == {Arm.BASELINE: 30}


def test_lateness_without_a_free_thread_is_zero() -> None:
    """Without a send of a free thread lateness is 0."""
    sends = {Arm.CANDIDATE: [Send(0, 0, 70, 80)]}
    assert median_lateness_ns(PLAN, sends, -1) == {Arm.CANDIDATE: 0}
    assert median_lateness_ns(PLAN, sends, 0) == {Arm.CANDIDATE: 70}
