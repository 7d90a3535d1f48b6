"""
Requests that ended early because the end of another request closed their connection.

Java closes the connection of a request that timed out (from 4.9.1; a broken connection in every release), and every
other request on it ends at once with RemotingSendRequestException. Sometimes it ends with RemotingTimeoutException,
long before its timeout: the sender's thread marks it as sent (NettyRemotingAbstract.invokeSyncImpl, the listener added
after the write) after the closing thread has marked it as failed. That needs a preemption between two lines, as on a
busy machine: seen in control arms of 4.9.5 and 5.1.0 at a load of 16 and more.

An earlier request of the same thread explains only an immediate end: in 5.3.3 a request met the connection that its
thread had just closed, and failed within 3 ms. Before 4.3.0 pending requests outlive their connection, so nothing is
torn.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable

import pyarrow as pa

from rocketdiff.analysis.sending.send_arrays import rows_with
from rocketdiff.core.tables.fault import CLOSE_NO_CONNECTION, FaultRecord
from rocketdiff.oracle.producer.durations import Tearing

CLOSING_EVERYWHERE = ("RemotingSendRequestException", "RemotingConnectException")
"""Ends of a request whose connection is then closed, or was found closed, in every release."""

CLOSING = ("RemotingTimeoutException", *CLOSING_EVERYWHERE)
"""The same for releases where a timeout closes the connection too."""

AT_ONCE_NS = 20_000_000
"""How soon a torn request ends after the previous request of its own thread."""

_NO_THREAD = -1

CLOSED_LATE_NS = 1_000_000_000
"""
How long after a request's end its connection may be closed: a separate thread closes it, and may wait on a busy
machine.
"""


class TornConnections:
    """When connections to each broker were closed, as far as attempts and faults show it."""

    def __init__(self, attempts: pa.Table | None, faults: Iterable[FaultRecord], tearing: Tearing) -> None:
        faults = tuple(faults)
        self._closed: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self._cut_off = {fault.node for fault in faults if fault.kind not in CLOSE_NO_CONNECTION}
        if not tearing.pending_fail:
            return
        for fault in (fault for fault in faults if fault.kind not in CLOSE_NO_CONNECTION):
            self._closed[fault.node].append((fault.inject_ns, _NO_THREAD))
        if attempts is not None:
            closing = CLOSING if tearing.timeouts_close else CLOSING_EVERYWHERE
            failed = rows_with(attempts, "error", closing, ("broker", "end_ns", "thread"))
            for broker, end_ns, thread in zip(*(column.to_pylist() for column in failed.columns), strict=True):
                self._closed[broker].append((end_ns, thread))
        for moments in self._closed.values():
            moments.sort()

    def are_kept(self, broker: str) -> bool:
        """True if no fault of the case closed connections to a broker, so that a call did not have to reconnect."""
        return broker not in self._cut_off

    def may_have_torn(self, thread: int, broker: str, start_ns: int, end_ns: int) -> bool:
        """
        True if a fault of the broker, or another request's end, closed the connection shortly before or during this one.

        The end of a request of the same thread counts only from AT_ONCE_NS before this one's end.
        """
        moments = self._closed.get(broker, [])
        first, last = bisect_left(moments, (start_ns - CLOSED_LATE_NS,)), bisect_left(moments, (end_ns,))
        return any(other != thread or closed_ns >= end_ns - AT_ONCE_NS for closed_ns, other in moments[first:last])
