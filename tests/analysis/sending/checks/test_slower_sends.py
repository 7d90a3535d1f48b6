"""Sends that one client holds up, manually built, to the nanosecond."""

from typing import Any

import pytest

from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from tests.analysis.builders import MS, S, fault, made, pair, tried
from tests.analysis.sending.checks.builders import BASELINE, CANDIDATE, SLOW, facts_of_outcomes

PAUSE = fault(10 * S, 12 * S)
ALLOWED_NS = 250 * MS


def held_up(
    start_ns: int, more_ns: int, *, faults: tuple[FaultRecord, ...] = (), broker: str = "broker-a", **row: Any
) -> dict[str, int]:
    """Moments or fault periods in which the candidate's send took longer than the baseline's 1 ms, by phase."""
    sides = (
        made(arm, 0, tried(start_ns, start_ns + MS + late_ns, broker=broker), **row)
        for arm, late_ns in ((BASELINE, 0), (CANDIDATE, more_ns))
    )
    facts = facts_of_outcomes(pair(*sides), faults=faults)
    assert facts.n("outcomes.more", "held-up", arm=BASELINE) == 0
    counts = {phase: facts.n("outcomes.more", "held-up", arm=CANDIDATE, phase=phase) for phase in ("calm", "faults")}
    return {phase: count for phase, count in counts.items() if count}


@pytest.mark.parametrize(
    ("more_ns", "row", "is_held_up"),
    [
        (ALLOWED_NS, {}, False),
        (ALLOWED_NS + 1, {}, True),
        (ALLOWED_NS + 1, {"mode": SendMode.ASYNC}, True),
        (S, {"mode": SendMode.ONEWAY}, False),
        (S, {"error": SLOW}, False),
    ],
)
def test_a_send_in_calm_is_held_up_by_over_a_quarter_of_a_second(
    more_ns: int, row: dict[str, Any], is_held_up: bool
) -> None:
    """A send that succeeded in both arms is held up if it took over 250 ms longer; one-way calls are not compared."""
    assert held_up(0, more_ns, **row) == ({"calm": 1} if is_held_up else {})


def test_a_send_that_failed_at_first_is_not_compared() -> None:
    """A retry makes a send longer, so only sends of one attempt are compared."""
    again = made(CANDIDATE, 0, tried(0, MS, SLOW), tried(MS, S, attempt=1))
    facts = facts_of_outcomes(pair(made(BASELINE, 0, tried(0, MS)), again))
    assert facts.n("outcomes.more", "held-up") == 0


@pytest.mark.parametrize(
    ("faults", "broker", "is_held_up"),
    [
        ((PAUSE,), "broker-a", True),
        ((PAUSE,), "broker-b", False),
        ((fault(10 * S, 12 * S, FaultKind.PAUSE_SLAVE, "broker-b-slave-1"),), "broker-a", True),
        ((fault(10 * S, 12 * S, FaultKind.PAUSE_SLAVE, "broker-b-slave-1"),), "broker-b", False),
        ((PAUSE, fault(10 * S, 12 * S, FaultKind.PAUSE_NAME_SERVER, "name-server-1")), "broker-a", False),
        ((PAUSE, fault(90 * S, 92 * S, FaultKind.PAUSE_NAME_SERVER, "name-server-1")), "broker-a", True),
    ],
)
def test_beside_a_fault_sends_to_unaffected_brokers_are_compared(
    faults: tuple[FaultRecord, ...], broker: str, is_held_up: bool
) -> None:
    """A slave's fault may hold up sends to its master, a name server's any send."""
    assert held_up(11 * S, 300 * MS, faults=faults, broker=broker) == ({"faults": 1} if is_held_up else {})
