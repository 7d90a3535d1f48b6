"""
The known cause of a failed attempt: a fault of the case, a torn connection, the machine, or none.

Covers attempts that failed or were stored with a reserve, if their end names its cause. An asynchronous attempt that
was followed by another names none; the oracle judges its duration.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from enum import StrEnum

import pyarrow as pa

from rocketdiff.analysis.fault_windows import FaultReach
from rocketdiff.analysis.sending.send_arrays import rows_with
from rocketdiff.analysis.sending.steps.torn_connections import AT_ONCE_NS, CLOSED_LATE_NS
from rocketdiff.core.records.sending import UNSEEN_END
from rocketdiff.core.sends.outcome import is_stored_with_reserve
from rocketdiff.core.tables.fault import BROKER_KILLS, OF_SLAVES, FaultKind, FaultRecord
from rocketdiff.core.tables.topology import master_of, may_meet
from rocketdiff.traces.manifest import CaseEntry

LOST = frozenset({"RemotingSendRequestException", "RemotingConnectException"})
"""Errors of a connection that ended."""

SLOW = frozenset({"RemotingTimeoutException", "RemotingTooMuchRequestException"})
"""Errors of a timeout."""

REFUSED = "MQBrokerException"
_TIMEOUT = "RemotingTimeoutException"
_UNCONNECTED = "RemotingConnectException"

WRAPPED = frozenset({UNSEEN_END, "MQClientException", "CompletionException"})
"""Errors that may replace the real end of an asynchronous attempt."""

CROWDED_CODES = frozenset({1, 2})
"""
SYSTEM_ERROR and SYSTEM_BUSY: answers of a broker on an overloaded machine, whose page cache or request queue is too
slow (SendMessageProcessor, BrokerFastFailure).
"""

NO_PERMISSION = 16

SERVERS_FAULT = 50_000
"""From this code on, a proxy blames itself or its backend, not the message or the client (apache.rocketmq.v2.Code)."""

LEISURELY_MS = 300
"""
Shortest timeout of the shipped scenarios. Below it this machine's speed decides what times out: timeouts are common in
calm, tear connections at any time, and show nothing about the client.
"""

REPORTED_LATE_NS = 20_000_000
"""
A request may appear to end this much later than those whose connection it tore: the closing thread reports its own
request last, and other threads report the failed ones meanwhile.
"""

_BETWEEN_CLIENTS = -2
"""
Matches no thread: asynchronous requests of all threads are in flight together, so any may tear another's connection.
"""


class Cause(StrEnum):
    """Why an attempt failed. MACHINE: a crowded machine fails any client like this. UNTOLD: the end names no cause."""

    FAULT = "fault"
    TORN = "torn connection"
    MACHINE = "machine"
    UNTOLD = "untold"
    NONE = "none"


class Causes:
    """The causes of one arm's failures."""

    def __init__(
        self, attempts: pa.Table | None, faults: Iterable[FaultRecord], entry: CaseEntry, *, timeouts_close: bool
    ) -> None:
        """timeouts_close: in this release a request that timed out closes its connection."""
        self._faults = tuple(faults)
        self._cutting = FaultReach.of_attempts(self._faults, entry.settings)
        self._any = FaultReach(self._faults, self._cutting.lasting_ns)
        # Only a broker deployed to wait for its slave or disk can report, under load, that it waited in vain.
        self._waits = entry.topology.endswith("-sync") or entry.topology.endswith("-sync-flush")
        self._is_hasty = entry.settings.send_msg_timeout_ms < LEISURELY_MS
        self._timeout_ns = entry.settings.send_msg_timeout_ms * 1_000_000
        self._retries = entry.settings.retry_times_when_send_async_failed
        self._closed: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        if attempts is not None:
            self._note_closings(attempts, timeouts_close=timeouts_close)

    def of(
        self,
        thread: int,
        broker: str,
        start_ns: int,
        end_ns: int,
        error: str | None,
        code: int | None = None,
        status: str | None = None,
        *,
        is_asynchronous: bool = False,
    ) -> Cause:
        if error is None:
            return self._of_status(broker, start_ns) if is_stored_with_reserve(status) else Cause.UNTOLD
        if error == REFUSED:
            return self._of_code(broker, start_ns, end_ns, code)
        if is_asynchronous and error in WRAPPED:
            return Cause.UNTOLD
        if self._cutting.meets(start_ns, end_ns, broker):
            return Cause.FAULT
        if error in LOST | SLOW and self._may_be_torn(
            _BETWEEN_CLIENTS if is_asynchronous else thread, broker, start_ns, end_ns
        ):
            return Cause.TORN
        return Cause.MACHINE if error in SLOW else Cause.NONE

    def may_hide_a_retry(self, attempt: int, end_ns: int, error: str | None) -> bool:
        """
        True if an asynchronous send may have ended in a retry after the last attempt that was seen, at a broker that was down.

        Hooks see requests, and a client asks for a connection before them: one that is refused ends the retry unseen.
        """
        return error == _UNCONNECTED and attempt < self._retries and self._cutting.meets(end_ns, end_ns)

    def of_no_attempt(self, error: str | None, end_ns: int) -> Cause:
        """
        The cause of a send that failed before its first attempt.

        Any earlier fault may have removed the route or the broker's address, and the heal need not restore them.
        """
        if any(fault.inject_ns < end_ns for fault in self._faults):
            return Cause.FAULT
        return Cause.MACHINE if error in SLOW else Cause.NONE

    def _of_status(self, broker: str, start_ns: int) -> Cause:
        """A fault of the pair counts until the end of the case: a slave that was cut off may reconnect at any time."""
        pair = (fault for fault in self._faults if may_meet(master_of(fault.node), broker))
        telling = (fault for fault in pair if fault.kind not in (FaultKind.READ_ONLY, FaultKind.FLOW_CONTROL))
        if any(fault.inject_ns < start_ns + self._timeout_ns for fault in telling):
            return Cause.FAULT
        return Cause.MACHINE if self._waits else Cause.NONE

    def _of_code(self, broker: str, start_ns: int, end_ns: int, code: int | None) -> Cause:
        here = [fault for fault in self._faults if may_meet(master_of(fault.node), broker)]
        if code is not None and code >= SERVERS_FAULT:
            # A proxy reports every failure of its broker with one of a few codes.
            return Cause.FAULT if self._any.meets(start_ns, end_ns, broker) else Cause.MACHINE
        if code in CROWDED_CODES:
            return Cause.FAULT if self._any.meets(start_ns, end_ns, broker) else Cause.MACHINE
        begun = [fault.kind for fault in here if fault.inject_ns < end_ns]
        # A killed broker restarts without its topics and its slave; refusals of a read-only one may outlast the fault.
        if any(kind in BROKER_KILLS | OF_SLAVES for kind in begun):
            return Cause.FAULT
        is_read_only = code == NO_PERMISSION and any(kind is FaultKind.READ_ONLY for kind in begun)
        return Cause.FAULT if is_read_only else Cause.NONE

    def _note_closings(self, attempts: pa.Table, *, timeouts_close: bool) -> None:
        """Record closings by requests with a known cause; others would let a client excuse each loss by the previous one."""
        closing = [*LOST, *SLOW, UNSEEN_END] if timeouts_close else [*LOST]
        names = ("end_ns", "start_ns", "thread", "broker", "error")
        failed = rows_with(attempts, "error", closing, names)
        rows = sorted(zip(*(column.to_pylist() for column in failed.columns), strict=True))
        for end_ns, start_ns, thread, broker, error in rows:
            known = _TIMEOUT if error == UNSEEN_END and end_ns - start_ns >= self._timeout_ns else error
            if self.of(thread, broker, start_ns, end_ns, known) not in (Cause.NONE, Cause.UNTOLD):
                self._closed[broker].append((end_ns, thread))

    def _may_be_torn(self, thread: int, broker: str, start_ns: int, end_ns: int) -> bool:
        """``TornConnections.may_have_torn`` for closings with a known cause; other threads may report TOLD_LATE_NS later."""
        moments = self._closed.get(broker, [])
        if self._is_hasty and bisect_left(moments, (end_ns,)):
            return True
        first, last = (
            bisect_left(moments, (start_ns - CLOSED_LATE_NS,)),
            bisect_left(moments, (end_ns + REPORTED_LATE_NS,)),
        )
        return any(
            end_ns - AT_ONCE_NS <= closed_ns < end_ns if other == thread else True
            for closed_ns, other in moments[first:last]
        )
