"""
Acknowledgements that came before the message was stored, of which part of ``loss`` is made.

A broker stamps a message before it answers, so a call that returned a place had its message there. Looked at: the copy at the
place that the result names, of messages that are not delayed. A broker's clock may be another machine's: how far it is ahead
at the most, every acknowledged send of the baseline bounds, which was not stored before it began; the least bound counts.
"""

from collections.abc import Iterator

from rocketdiff.analysis.send_view import Copy, SendView
from rocketdiff.core.events import Arm
from rocketdiff.core.sends.records import NS_PER_MS
from rocketdiff.traces.manifest import ClockAnchor

EARLY_MS = 100.0
"""
More than this before its message is stored, an answer was no answer. Clocks are read to the millisecond and slip by five in a
sound case; a call that was answered 20 ms before is still a busy machine's doing.
"""


class Acknowledged:
    """When what a call acknowledged was stored. Sees the sends of both arms in order; what the baseline shows of a broker's clock holds for both."""

    def __init__(self, clock: ClockAnchor | None) -> None:
        self._clock = clock
        self._ahead_ms: dict[str, float] = {}

    def of(self, side: SendView) -> Iterator[tuple[Copy, float]]:
        """The copy that a result names, and by how many ms it was stored too late for it; nothing where it was not."""
        row, copy = side.row, _named(side)
        if row is None or copy is None or self._clock is None:
            return
        if side.arm is Arm.BASELINE:
            bound_ms = copy.store_timestamp_ms - self._wall_ms(row.start_ns)
            self.tell_clock(copy.broker, bound_ms)
        if copy.broker in self._ahead_ms:
            late_ms = copy.store_timestamp_ms - self._wall_ms(row.end_ns) - self._ahead_ms[copy.broker]
            if late_ms > EARLY_MS:
                yield copy, late_ms

    def tell_clock(self, broker: str, ahead_ms: float) -> None:
        """What sends that are not shown to ``of`` say of a broker's clock: it is ahead by so much at the most."""
        self._ahead_ms[broker] = min(ahead_ms, self._ahead_ms.get(broker, ahead_ms))

    def _wall_ms(self, at_ns: int) -> float:
        assert self._clock is not None
        return self._clock.wall_ms + (at_ns - self._clock.monotonic_ns) / NS_PER_MS


def _named(side: SendView) -> Copy | None:
    row = side.row
    if row is None or row.error is not None or row.delay_level:
        return None
    place = (row.broker, row.queue_id, row.queue_offset)
    return next((copy for copy in side.copies or () if (copy.broker, copy.queue_id, copy.queue_offset) == place), None)
