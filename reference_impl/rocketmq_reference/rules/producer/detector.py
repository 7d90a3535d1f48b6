"""
The broker detector: rounds of probes to brokers in the fault table (LatencyFaultToleranceImpl, from 5.1.4).

If Dialect.detects, a round runs every DETECTION_PERIOD_MS. A probe requests a maximum offset with a timeout of
DETECT_TIMEOUT_MS; like any request it can cost its connection. The producer's setters for timeout and interval take effect too
late for the detector in every release. Times are milliseconds of one clock.
"""

from rocketmq_reference.rules.client.background import DETECT_INTERVAL_MS
from rocketmq_reference.rules.queue_choice.fault_table import FaultItem, FaultTable


class DetectorRound:
    """
    One round over the fault table, in the order of Java's hash table; the table may change meanwhile.

    Call next for a broker, then no_address or answered for its result, then next again. Java's iterator has already fetched the
    following item, so a broker inserted directly behind the current one during its probe waits for the next round.
    """

    def __init__(self, faults: FaultTable) -> None:
        self._faults = faults
        self._ahead = next(iter(faults.in_java_order()), None)
        self._item: FaultItem | None = None

    def next(self, now_ms: int) -> str | None:
        """Return the next due broker, None at the end; whatever it answers, it is due again after DETECT_INTERVAL_MS."""
        while (item := self._ahead) is not None:
            # Fetched before the probe, as Java's iterator does.
            self._ahead = self._following(item)
            if now_ms >= item.check_ms:
                item.check_ms = now_ms + DETECT_INTERVAL_MS
                self._item = item
                return item.broker
        return None

    def no_address(self) -> None:
        """Remove the current broker from the fault table, because no route contains it any more."""
        if self._item is not None:
            self._faults.remove(self._item.broker)

    def answered(self) -> None:
        """
        Mark the current broker reachable, because it answered the probe.

        Its avoidance does not change. A missing answer has no effect.
        """
        if self._item is not None:
            self._item.reachable = True

    def _following(self, item: FaultItem) -> FaultItem | None:
        order = self._faults.in_java_order()
        return next(iter(order[order.index(item) + 1 :]), None)
