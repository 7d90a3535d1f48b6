"""
Excuses for an attempt that outlasted its timeout: it had to connect first, or the machine was slow.

A client's threads share one connection to each broker. After an answer, and until something closes it, an attempt gets
no extra time for connecting. How late a busy machine notices a timeout is measured on the other arm, which ran at the
same time. What is excused singly is not if it is the rule (``checks.durations.silent_brokers``).
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rocketdiff.analysis.case_trace import CaseTrace, rows_at
from rocketdiff.analysis.fault_windows import FaultPeriods, touches
from rocketdiff.analysis.sending.send_arrays import is_null, is_one_of, rows_with
from rocketdiff.analysis.sending.steps.torn_connections import CLOSED_LATE_NS, CLOSING
from rocketdiff.core.arm import Arm
from rocketdiff.core.sends.outcome import Outcome
from rocketdiff.core.tables.fault import CLOSE_NO_CONNECTION, FaultRecord
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.oracle.producer.durations import BUSY_MS, CONNECTING_MS, Outlasted, tolerated_ms
from rocketdiff.traces.schema import TableName

IDLE_NS = 60_000_000_000
"""
Half of the 120 s after which clients and brokers close an idle connection, because the broker checks at intervals.
"""

SPREAD = 3
"""
How many times longer than the other arm's longest delay one may be: its latest timeout, or its slowest send in calm. Both are
the largest of a few delays of one machine: of five exponential delays each, one maximum exceeds three times the other in 7
cases of 100.
"""

_TIMEOUT = "RemotingTimeoutException"


class HeldConnections:
    """When each broker answered an arm, and when its connections may have been closed."""

    def __init__(self, attempts: pa.Table | None, faults: Iterable[FaultRecord]) -> None:
        self._cutting = tuple(fault for fault in faults if fault.kind not in CLOSE_NO_CONNECTION)
        self._answered: dict[str, np.ndarray] = {}
        self._closed: dict[str, np.ndarray] = {}
        if attempts is None:
            return
        closing = rows_with(attempts, "error", CLOSING, ("broker", "end_ns"))
        answered = rows_at(attempts.select(["broker", "end_ns"]), np.flatnonzero(is_null(attempts.column("error"))))
        for broker in map(str, attempts.column("broker").unique().to_pylist()):
            self._answered[broker] = _ends(answered, broker)
            self._closed[broker] = _ends(closing, broker)

    def is_held(self, broker: str, start_ns: int, end_ns: int) -> bool:
        """
        True if an attempt on a broker found its client's connection open.

        A timeout just before the last answer counts as a close: another thread closes, and may be late.
        """
        answered = self._answered.get(broker, np.empty(0))
        before = int(answered.searchsorted(start_ns, side="right"))
        if not before or start_ns - answered[before - 1] > IDLE_NS:
            return False
        since_ns = int(answered[before - 1]) - CLOSED_LATE_NS
        closed = self._closed.get(broker, np.empty(0))
        is_closed = closed.searchsorted(since_ns) < closed.searchsorted(end_ns)
        return not is_closed and not any(
            touches(fault, since_ns, end_ns) for fault in self._cutting if fault.node == broker
        )


@dataclass(frozen=True, slots=True)
class Excuses:
    """What an arm's attempts may have waited for besides an answer. late_ms: by how much the machine delayed the other arm."""

    held: HeldConnections
    late_ms: int = 0

    def cover(self, found: Outlasted, broker: str, start_ns: int, end_ns: int) -> bool:
        slack_ms = max(tolerated_ms(found.timeout_ms), self.machine_ms(found.timeout_ms))
        if found.may_connect and not self.held.is_held(broker, start_ns, end_ns):
            slack_ms += CONNECTING_MS
        return found.took_ms - found.timeout_ms <= slack_ms

    def machine_ms(self, timeout_ms: int) -> int:
        """How much longer the machine may have delayed this arm."""
        return min(SPREAD * self.late_ms, max(BUSY_MS, timeout_ms))


def latest_timeout_ms(attempts: pa.Table | None, timeout_ms: int) -> int:
    """By how many ms an arm's longest timed-out attempt exceeded the timeout; 0 without one."""
    if attempts is None:
        return 0
    start_ns, end_ns = rows_with(attempts, "error", [_TIMEOUT], ("start_ns", "end_ns")).columns
    took_ns = end_ns.to_numpy() - start_ns.to_numpy()
    return max(int(took_ns.max(initial=0)) // NS_PER_MS - timeout_ms, 0)


def slowest_in_calm_ms(trace: CaseTrace, arm: Arm) -> int:
    """How long an arm's slowest send in calm took that succeeded; 0 without one."""
    sends = trace.table(TableName.SENDS, arm)
    start_ns, end_ns = (sends.column(name).to_numpy() for name in ("start_ns", "end_ns"))
    calm = ~FaultPeriods.of(trace.faults, trace.entry.settings).hold_many(start_ns, end_ns)
    well = is_one_of(sends.column("outcome"), Outcome.OK)
    return int((end_ns - start_ns)[calm & well].max(initial=0)) // NS_PER_MS


def _ends(attempts: pa.Table, broker: str) -> np.ndarray:
    return np.sort(rows_with(attempts, "broker", [broker], ["end_ns"]).column("end_ns").to_numpy())
