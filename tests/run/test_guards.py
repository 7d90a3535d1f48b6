"""Each guard holds for a valid case and breaks for its flaw."""

from dataclasses import replace

import pytest

from rocketdiff.core.arm import Arm
from rocketdiff.core.subject import SubjectId
from rocketdiff.run.case.guards import CaseMeasurements, guards_of
from rocketdiff.run.case.stall_watch import MeasuredStalls
from rocketdiff.run.case.wire_witness import WireStory
from tests.run.guarded import CASE, PAUSE, SENDS, SOUND, SPEC, S, paused, twice


def broken(facts: CaseMeasurements) -> set[str]:
    return {guard.name for guard in guards_of(facts) if not guard.held}


def test_a_sound_case_breaks_no_guard() -> None:
    """A valid case breaks none of its ten guards."""
    assert broken(SOUND) == set()
    assert len(guards_of(SOUND)) == 10


def test_a_report_has_the_witness_of_attempts() -> None:
    """A relayed arm has one more guard that states who saw the attempts."""
    facts = replace(SOUND, wire={Arm.BASELINE: WireStory(), Arm.CANDIDATE: WireStory("the wire: 7 attempts")})
    seen = guards_of(facts)[-1]
    assert (seen.name, seen.held, seen.seen) == ("witness-candidate", True, "the wire: 7 attempts")
    assert len(guards_of(facts)) == len(guards_of(SOUND)) + 1


@pytest.mark.parametrize(
    ("flawed", "guard"),
    [
        (replace(SOUND, first_ns={Arm.BASELINE: 0, Arm.CANDIDATE: 51_000_000}), "started-together"),
        (replace(SOUND, late_ns={Arm.BASELINE: 251_000_000}), "on-schedule-baseline"),
        (replace(SOUND, answered={Arm.CANDIDATE: SENDS - 1}), "plan-done-candidate"),
        (replace(SOUND, faults=()), "fault-1"),
        (replace(SOUND, faults=(replace(PAUSE, proven_ns=None),)), "fault-1"),
        (replace(SOUND, faults=(replace(PAUSE, heal_proven_ns=None),)), "fault-1"),
        (replace(SOUND, faults=(replace(PAUSE, heal_ns=S // 3),)), "fault-1"),
        (replace(SOUND, origin_ns=SOUND.origin_ns - int(1.1 * S)), "fault-on-time"),
        (replace(SOUND, origin_ns=SOUND.origin_ns + int(1.1 * S)), "fault-on-time"),
        (replace(SOUND, problems=("broker-a died by itself",)), "cluster"),
        (replace(SOUND, is_read_back=False), "read-back"),
        (replace(SOUND, wire={Arm.BASELINE: WireStory("both", against=("send 7: …",))}), "witness-baseline"),
        (replace(SOUND, clock_slip_ms=-9), "clock-steady"),
        (replace(SOUND, stalls=MeasuredStalls(gaps=((0, 1_000_000_001),))), "awake-machine"),
        (
            replace(SOUND, stalls=MeasuredStalls(stopped_ns={Arm.BASELINE: 0, Arm.CANDIDATE: 50_000_000})),
            "awake-candidate",
        ),
    ],
)
def test_a_flaw_breaks_its_guard_and_no_other(flawed: CaseMeasurements, guard: str) -> None:
    """Each flaw breaks exactly its own guard, so the reported reason is right."""
    assert broken(flawed) == {guard}


def test_an_arm_that_was_lost_owes_no_more_sends() -> None:
    """A lost arm's missing sends break no guard; the protocol check has them."""
    lost = replace(SOUND, answered={Arm.CANDIDATE: 3}, lost={Arm.CANDIDATE: SubjectId("python", "5.3.3")})
    assert broken(lost) == set()


def test_pauses_apart_are_on_time() -> None:
    """Pauses a few hundredths of a second late, half a second apart, are on time."""
    kept = twice(paused(1, "broker-b", 1.53, 2.53), paused(2, "broker-a", 3.02, 4.02))
    assert broken(kept) == set()


def test_a_pause_that_slipped_is_named_with_both_times() -> None:
    """A pause due at 3 s that came at 5.2 s breaks fault-on-time."""
    slipped = guards_of(twice(paused(1, "broker-b", 1.5, 2.5), paused(2, "broker-a", 5.2, 6.2)))
    (guard,) = [one for one in slipped if one.name == "fault-on-time"]
    assert (guard.held, guard.seen) == (False, "pause of broker-a due at 3.0 s came at 5.2 s")


def test_pauses_that_ran_together_are_no_two_spells() -> None:
    """Pauses planned apart that overlapped break fault-on-time."""
    merged = guards_of(twice(paused(1, "broker-b", 1.9, 3.2), paused(2, "broker-a", 3.1, 4.1)))
    (guard,) = [one for one in merged if not one.held]
    assert guard.seen == "the pauses of broker-b at 1.5 s and broker-a at 3 s overlapped"


def test_pauses_planned_together_may_overlap() -> None:
    """Pauses of both brokers planned for the same time may overlap."""
    specs = (SPEC, replace(SPEC, episode=2, node="broker-a"))
    facts = twice(paused(1, "broker-b", 1.5, 2.5), paused(2, "broker-a", 1.6, 2.6))
    assert broken(replace(facts, case=replace(CASE, scenario=replace(CASE.scenario, faults=specs)))) == set()
