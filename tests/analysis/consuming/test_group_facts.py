"""In which phase of a case's faults an instant lies."""

import pytest

from rocketdiff.analysis.consuming.group_facts import phase_of
from rocketdiff.core.tables.fault import FaultKind, FaultRecord


def fault(inject_ns: int, heal_ns: int | None) -> FaultRecord:
    return FaultRecord(0, FaultKind.PAUSE, "broker-a", inject_ns, inject_ns, None, heal_ns)


ONE, TWO, OPEN = (fault(10, 20),), (fault(10, 20), fault(40, 50)), (fault(10, 20), fault(15, None))


@pytest.mark.parametrize(
    ("faults", "at_ns", "phase"),
    [
        ((), 5, "calm"),
        (ONE, 9, "calm"),
        (ONE, 10, "paused"),
        (ONE, 19, "paused"),
        (ONE, 20, "after"),
        (TWO, 9, "calm"),
        (TWO, 30, "paused"),
        (TWO, 50, "after"),
        (OPEN, 90, "paused"),
    ],
)
def test_the_phase_of_an_instant(faults: tuple[FaultRecord, ...], at_ns: int, phase: str) -> None:
    """Calm before the first fault, after when all are healed, and paused between two as well."""
    assert phase_of(faults, at_ns) == phase
