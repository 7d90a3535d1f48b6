"""
The broker detector: probes of brokers that were sent to, in rounds (LatencyFaultToleranceImpl, from 5.1.4).

A round comes every DETECTION_PERIOD_MS where Dialect.detects. A probe is a request for a largest offset, with
DETECT_TIMEOUT_MS to answer in; like any other it can cost its connection. What the producer's setters say about timeout
and interval comes too late for the detector in every release. Times are milliseconds of one clock.
"""

from rocketmq_reference.rules.client.background import DETECT_INTERVAL_MS
from rocketmq_reference.rules.queue_choice.fault_table import FaultItem, FaultTable


class DetectorRound:
    """
    One round over the fault table, in the order of Java's hash table, which may change meanwhile.

    Ask for the next broker; say that nobody knows its address, or whether it answered; ask again. Java's iterator knows one
    more item than it has handed out, so what comes up right behind a broker while that is probed waits for the next round.
    """

    def __init__(self, faults: FaultTable) -> None:
        self._faults = faults
        self._ahead = next(iter(faults.in_java_order()), None)
        self._item: FaultItem | None = None

    def next(self, now_ms: int) -> str | None:
        """The next broker that is due, None at the end; it is not due again for DETECT_INTERVAL_MS, whatever it answers."""
        while (item := self._ahead) is not None:
            self._ahead = self._following(item)
            if now_ms >= item.check_ms:
                item.check_ms = now_ms + DETECT_INTERVAL_MS
                self._item = item
                return item.broker
        return None

    def no_address(self) -> None:
        """No route names that broker any more: it is forgotten."""
        if self._item is not None:
            self._faults.remove(self._item.broker)

    def answered(self) -> None:
        """
        The broker answered the probe, so it is reachable.

        No answer has no consequence at all, and how long the broker is to be avoided is left alone.
        """
        if self._item is not None:
            self._item.reachable = True

    def _following(self, item: FaultItem) -> FaultItem | None:
        order = self._faults.in_java_order()
        return next(iter(order[order.index(item) + 1 :]), None)
