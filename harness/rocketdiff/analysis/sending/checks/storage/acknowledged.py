"""
Acknowledgements that came before the message was stored; a part of the check ``loss``.

A broker stamps a message before it answers. Examines the copy at the place that the result names; delayed messages are
left out. A broker's clock may be another machine's. Every acknowledged send of the baseline bounds how far that clock
is ahead, because its message was not stored before the call began; the smallest bound counts.
"""

from collections.abc import Iterator

from rocketdiff.analysis.sending.send_view import Copy, SendView
from rocketdiff.core.arm import Arm
from rocketdiff.core.clock import ClockAnchor

EARLY_MS = 100.0
"""
An answer this long before the store time is premature. Clocks are read to 1 ms and slip by 5 ms in a sound case; even
20 ms can come from a busy machine.
"""


class Acknowledged:
    """Checks store times. Sees both arms' sends in order; the clock bounds from the baseline hold for both."""

    def __init__(self, clock: ClockAnchor | None) -> None:
        self._clock = clock
        self._ahead_ms: dict[str, float] = {}

    def of(self, side: SendView) -> Iterator[tuple[Copy, float]]:
        """Yield the copy that a result names, and by how many ms it was stored too late."""
        row, copy = side.row, _named(side)
        if row is None or copy is None or self._clock is None:
            return
        began_ms, ended_ms = self._clock.range_ms(row.start_ns, row.end_ns)
        if side.arm is Arm.BASELINE:
            bound_ms = copy.store_timestamp_ms - began_ms
            self.bound_clock(copy.broker, bound_ms)
        if copy.broker in self._ahead_ms:
            late_ms = copy.store_timestamp_ms - ended_ms - self._ahead_ms[copy.broker]
            if late_ms > EARLY_MS:
                yield copy, late_ms

    def bound_clock(self, broker: str, ahead_ms: float) -> None:
        """Bound how far a broker's clock is ahead, from sends not passed to ``of``."""
        self._ahead_ms[broker] = min(ahead_ms, self._ahead_ms.get(broker, ahead_ms))


def _named(side: SendView) -> Copy | None:
    row = side.row
    if row is None or row.error is not None or row.delay_level:
        return None
    place = (row.broker, row.queue_id, row.queue_offset)
    return next((copy for copy in side.copies or () if (copy.broker, copy.queue_id, copy.queue_offset) == place), None)
