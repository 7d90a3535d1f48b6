"""The interval join of attempts with faults, on literal rows."""

import pytest

from rocketdiff.analysis.sending.send_view import FaultContext, Phase, SendView
from rocketdiff.analysis.sending.steps.attempts_in_context import FaultTimes, attempts_in_context
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import Attempt
from rocketdiff.core.sends.outcome import Outcome
from rocketdiff.core.tables.fault import FaultKind, FaultRecord

PAUSE = FaultRecord(1, FaultKind.PAUSE, "broker-b", 100, 110, 120, 200, 210, 220)
AGAIN = FaultRecord(2, FaultKind.PAUSE, "broker-b", 500, 510, 520, 600, 610, 620)


def attempt(broker: str, start_ns: int, end_ns: int, outcome: Outcome = Outcome.OK) -> Attempt:
    error = None if outcome is Outcome.OK else "RemotingTimeoutException"
    return Attempt(0, 0, 0, broker, 0, start_ns, end_ns, error)


@pytest.mark.parametrize(
    ("instant_ns", "phase"),
    [
        (99, Phase.CALM),
        (100, Phase.PAUSED),
        (209, Phase.PAUSED),
        (210, Phase.AFTER),
        (500, Phase.PAUSED),
        (999, Phase.AFTER),
    ],
)
def test_phases_run_from_the_first_to_the_last_doubtful_instant(instant_ns: int, phase: Phase) -> None:
    """Uncertain injection (100 to 110) and healing (200 to 210) count as paused."""
    assert FaultTimes([PAUSE, AGAIN]).phase_at(instant_ns) is phase


def test_an_attempt_on_the_other_broker_is_never_hit() -> None:
    """A pause hits only attempts on its own broker."""
    assert FaultTimes([PAUSE]).context_of(attempt("broker-a", 150, 160)) == FaultContext(Phase.PAUSED)


def test_an_attempt_without_an_answer_during_the_pause_is_blocked() -> None:
    """An attempt that overlaps the pause and timed out is blocked."""
    context = FaultTimes([PAUSE]).context_of(attempt("broker-b", 90, 190, Outcome.UNKNOWN))
    assert context == FaultContext(Phase.CALM, hit=PAUSE, blocked=True)


def test_an_attempt_answered_only_when_the_broker_was_resumed_is_blocked() -> None:
    """An attempt answered only at the end of the pause is blocked."""
    assert FaultTimes([PAUSE]).context_of(attempt("broker-b", 150, 205)).blocked


def test_an_answer_that_was_under_way_when_the_pause_began_is_hit_but_not_blocked() -> None:
    """An answer given before the pause but read a little later is hit, not blocked."""
    context = FaultTimes([PAUSE]).context_of(attempt("broker-b", 90, 112))
    assert context.hit == PAUSE and not context.blocked


def test_a_failure_while_injection_was_doubtful_is_blocked() -> None:
    """
    An attempt that fails during injection (100 to 110) is blocked: a killed broker may reset connections before the proof.
    """
    assert FaultTimes([PAUSE]).context_of(attempt("broker-b", 90, 105, Outcome.UNKNOWN)).blocked
    assert FaultTimes([PAUSE]).context_of(attempt("broker-b", 90, 100, Outcome.UNKNOWN)).hit is None


def test_a_paused_name_server_hits_no_attempt() -> None:
    """A paused name server sets the phase but hits no attempt."""
    fault = FaultRecord(1, FaultKind.PAUSE_NAME_SERVER, "broker-b", 100, 110, 120, 200, 210, 220)
    assert FaultTimes([fault]).context_of(attempt("broker-b", 150, 160)) == FaultContext(Phase.PAUSED)


def test_a_killed_broker_hits_to_the_end() -> None:
    """A kill without a heal hits every later attempt."""
    kill = FaultRecord(1, FaultKind.KILL, "broker-b", 100, 110, 120)
    assert FaultTimes([kill]).context_of(attempt("broker-b", 10_000, 10_001, Outcome.FAILED)).blocked


def test_overlapping_pauses_are_one_spell() -> None:
    """Overlapping pauses of two brokers are one outage, a later pause another."""
    other = FaultRecord(3, FaultKind.PAUSE, "broker-a", 150, 160, 170, 300, 310, 320)
    times = FaultTimes([PAUSE, other, AGAIN])
    assert [(outage.episode, outage.start_ns, outage.end_ns) for outage in times.outages] == [
        (1, 110, 300),
        (2, 510, 600),
    ]
    assert times.outage_of(other) == times.outage_of(PAUSE)


def test_a_send_has_the_phase_of_its_first_attempt() -> None:
    """A send has the phase of its first attempt, even if a retry comes after the pause."""
    attempts = (attempt("broker-b", 150, 205, Outcome.UNKNOWN), attempt("broker-a", 300, 301))
    sends = [SendView(Arm.BASELINE, 0, 7, None, attempts)]
    (send,) = attempts_in_context(sends, FaultTimes([PAUSE]))
    assert (send.phase, [context.phase for context in send.contexts]) == (Phase.PAUSED, [Phase.PAUSED, Phase.AFTER])
