"""The interval join of attempts with faults, on literal rows."""

from typing import Any

import pytest

from rocketdiff.analysis.sending.send_view import FaultContext, Phase, SendView
from rocketdiff.analysis.sending.steps.attempts_in_context import FaultTimes, attempts_in_context
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import Attempt
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from tests.analysis.builders import fault, made, tried
from tests.analysis.sending.checks.builders import SLOW

PAUSE = FaultRecord(1, FaultKind.PAUSE, "broker-b", 100, 110, 120, 200, 210, 220)
AGAIN = FaultRecord(2, FaultKind.PAUSE, "broker-b", 500, 510, 520, 600, 610, 620)
OF_NAMES = FaultRecord(1, FaultKind.PAUSE_NAME_SERVER, "broker-b", 100, 110, 120, 200, 210, 220)
KILL = FaultRecord(1, FaultKind.KILL, "broker-b", 100, 110, 120)


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


@pytest.mark.parametrize(
    ("met", "attempt", "context"),
    [
        (PAUSE, tried(150, 160, broker="broker-a"), FaultContext(Phase.PAUSED)),
        (PAUSE, tried(90, 190, SLOW), FaultContext(Phase.CALM, PAUSE, blocked=True)),
        (PAUSE, tried(150, 205), FaultContext(Phase.PAUSED, PAUSE, blocked=True)),
        (PAUSE, tried(90, 112), FaultContext(Phase.CALM, PAUSE)),
        (PAUSE, tried(90, 105, SLOW), FaultContext(Phase.CALM, PAUSE, blocked=True)),
        (PAUSE, tried(90, 100, SLOW), FaultContext(Phase.CALM)),
        (OF_NAMES, tried(150, 160), FaultContext(Phase.PAUSED)),
        (KILL, tried(10_000, 10_001, "MQBrokerException"), FaultContext(Phase.PAUSED, KILL, blocked=True)),
        (KILL, tried(10_000, 10_001), FaultContext(Phase.PAUSED, KILL)),
        (PAUSE, tried(150, 199), FaultContext(Phase.PAUSED, PAUSE)),
        (PAUSE, tried(150, 200), FaultContext(Phase.PAUSED, PAUSE, blocked=True)),
        (PAUSE, tried(200, 205, SLOW), FaultContext(Phase.PAUSED)),
    ],
    ids=[
        "another broker",
        "no answer",
        "an answer after the pause",
        "an answer under way when the pause began",
        "a failure while injection was uncertain",
        "a failure before",
        "a name server hits no attempt",
        "a kill without a heal",
        "an answer although it was killed",
        "an answer before the end",
        "an answer at the end",
        "a failure that began at the end",
    ],
)
def test_which_attempts_a_fault_hits_and_blocks(met: FaultRecord, attempt: Attempt, context: FaultContext) -> None:
    """
    A fault hits attempts on its own broker that overlap it, and blocks those that failed or were answered at its end.

    A killed broker may reset connections before the proof, so a failure during injection is blocked.
    """
    assert FaultTimes([met]).context_of(attempt) == context


@pytest.mark.parametrize(
    ("row", "attempts", "phases"),
    [
        ({"start_ns": 150}, (), [Phase.PAUSED]),
        ({"start_ns": 250}, (), [Phase.AFTER]),
        ({"start_ns": 50}, (tried(150, 160),), [Phase.PAUSED, Phase.PAUSED]),
        ({}, (tried(150, 205, SLOW), tried(300, 301)), [Phase.PAUSED, Phase.PAUSED, Phase.AFTER]),
        (None, (), [Phase.CALM]),
        (None, (tried(150, 160),), [Phase.PAUSED, Phase.PAUSED]),
    ],
)
def test_the_phase_of_a_send(row: dict[str, Any] | None, attempts: tuple[Attempt, ...], phases: list[Phase]) -> None:
    """A send has the phase of its first attempt, or of its start if it returned without one; each attempt has its own."""
    whole = None if row is None else made(Arm.CANDIDATE, 0, *attempts, **row).row
    (one,) = attempts_in_context([SendView(Arm.CANDIDATE, 0, 0, whole, attempts)], FaultTimes([PAUSE]))
    assert [one.phase, *(context.phase for context in one.contexts)] == phases


def test_pauses_are_one_outage_from_one_to_the_next() -> None:
    """Overlapping pauses are one outage with the lowest episode; a pause that begins at its end is the next."""
    pauses = [
        fault(20, 22, episode=4),
        fault(10, 12, episode=2),
        fault(11, 15, node="broker-a", episode=3),
        fault(14, 20, episode=1),
        fault(21, 23, node="broker-a", episode=5),
    ]
    times = FaultTimes(pauses)
    assert [(one.episode, one.start_ns, one.end_ns, len(one.pauses)) for one in times.outages] == [
        (1, 10, 20, 3),
        (4, 20, 23, 2),
    ]
    assert times.outage_of(pauses[1]) == times.outage_of(pauses[2]) == times.outages[0]


def test_a_pause_without_an_end_takes_all_that_follow() -> None:
    """A pause without an end takes in all later pauses; a kill belongs to no outage."""
    times = FaultTimes([fault(10, None), fault(50, 52, episode=2), KILL])
    (outage,) = times.outages
    assert (outage.end_ns, len(outage.pauses)) == (None, 2)
    assert times.outage_of(KILL) is None
