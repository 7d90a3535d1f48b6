"""
Requests that ended early because another request's end closed the connection under them.

Java closes the connection of a request that timed out (from 4.9.1 on; a broken one in every release), and every other request
on it ends at once, with RemotingSendRequestException. Now and then with RemotingTimeoutException, long before its timeout:
the sender's own thread marks its request as sent (NettyRemotingAbstract.invokeSyncImpl, the listener added after the write)
when the closing thread has already marked it as failed. That takes a sender that was not let run between two lines, which on
a busy machine happens; seen in 4.9.5 and 5.1.0 by control arms at a load of 16 and more.

A thread's own earlier request is a reason only for what ends at once: seen in 5.3.3, a request that met the connection its
thread had just closed, and failed within 3 ms. Nothing is in a release whose pending requests outlive their connection (before 4.3.0).

In: attempts of one arm. Out: whether a connection to an attempt's broker may have been closed under it.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from rocketdiff.core.tables.fault import CLOSE_NO_CONNECTION, FaultRecord
from rocketdiff.oracle.producer.durations import Tearing

CLOSING_EVERYWHERE = ("RemotingSendRequestException", "RemotingConnectException")
"""Ends of a request after which its connection is closed, or was found closed, in every release."""

CLOSING = ("RemotingTimeoutException", *CLOSING_EVERYWHERE)
"""The same where a timeout closes, too."""

AT_ONCE_NS = 20_000_000
"""How soon after its thread's last request a torn one is over."""

_NO_THREAD = -1

LATE_NS = 1_000_000_000
"""How much later the others may be told: closing is left to a thread of its own, and a busy machine lets that one wait."""


class TornConnections:
    """When connections to each broker were closed, as far as the attempts of an arm and the faults of its case show it."""

    def __init__(self, attempts: pa.Table | None, faults: Iterable[FaultRecord], tearing: Tearing) -> None:
        """attempts: the sealed table, of which only the few rows that failed are turned into Python."""
        faults = tuple(faults)
        self._closed: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self._cut_off = {fault.node for fault in faults if fault.kind not in CLOSE_NO_CONNECTION}
        if not tearing.pending_fail:
            return
        for fault in (fault for fault in faults if fault.kind not in CLOSE_NO_CONNECTION):
            self._closed[fault.node].append((fault.inject_ns, _NO_THREAD))
        if attempts is not None:
            closing = CLOSING if tearing.timeouts_close else CLOSING_EVERYWHERE
            failed = attempts.filter(pc.is_in(attempts.column("error"), pa.array(closing)))
            columns = (failed.column(name).to_pylist() for name in ("broker", "end_ns", "thread"))
            for broker, end_ns, thread in zip(*columns, strict=True):
                self._closed[broker].append((end_ns, thread))
        for moments in self._closed.values():
            moments.sort()

    def are_kept(self, broker: str) -> bool:
        """Whether no fault of the case closed connections to a broker, so that a call need not have made one."""
        return broker not in self._cut_off

    def may_have_torn(self, thread: int, broker: str, start_ns: int, end_ns: int) -> bool:
        """
        Whether a fault of the broker closed its connections shortly before or during this request of a thread.

        Or another request, by its end; one of the same thread only just before.
        """
        moments = self._closed.get(broker, [])
        first, last = bisect_left(moments, (start_ns - LATE_NS,)), bisect_left(moments, (end_ns,))
        return any(other != thread or closed_ns >= end_ns - AT_ONCE_NS for closed_ns, other in moments[first:last])
