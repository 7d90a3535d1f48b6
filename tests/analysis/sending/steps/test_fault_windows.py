"""How far a fault reaches in time, and which brokers it affects."""

import pytest

from rocketdiff.analysis.fault_windows import FaultReach
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.core.tables.settings import ClientSettings

S = 1_000_000_000
SETTINGS = ClientSettings(send_msg_timeout_ms=1_000, retry_times_when_send_async_failed=2)


def fault(kind: FaultKind = FaultKind.PAUSE, *, heals: bool = True) -> FaultRecord:
    """A fault of broker-a from 100 s to 104 s, or never healed."""
    end_ns = 104 * S if heals else None
    return FaultRecord(1, kind, "broker-a", 100 * S, 100 * S, None, end_ns, end_ns, None)


@pytest.mark.parametrize(
    ("start_s", "end_s", "meets"),
    [(98, 99, False), (98, 101, True), (90, 101, False), (103, 104, True), (107, 108, True), (108, 109, False)],
)
def test_an_attempt_meets_a_fault_within_its_timeout_and_three_seconds(start_s: int, end_s: int, meets: bool) -> None:
    """An attempt meets a fault up to a timeout plus 3 s before and after it."""
    assert FaultReach.of_attempts([fault()], SETTINGS).meets(start_s * S, end_s * S, "broker-a") is meets


def test_a_fault_is_one_brokers_and_a_killed_one_stays_faulty() -> None:
    """A fault affects its own broker only, a kill for ever."""
    killed = FaultReach.of_attempts([fault(FaultKind.KILL, heals=False)], SETTINGS)
    assert killed.meets(900 * S, 901 * S, "broker-a") and killed.meets(900 * S, 901 * S)
    assert not killed.meets(900 * S, 901 * S, "broker-b")


@pytest.mark.parametrize("kind", [FaultKind.READ_ONLY, FaultKind.FLOW_CONTROL, FaultKind.KILL_SLAVE])
def test_faults_that_are_answered_cost_no_connection(kind: FaultKind) -> None:
    """A fault that the broker answers ends no attempt, but a send may meet it."""
    assert not FaultReach.of_attempts([fault(kind)], SETTINGS).meets(101 * S, 102 * S, "broker-a")
    assert FaultReach.of_sends([fault(kind)], SETTINGS).meets(101 * S, 102 * S)
