"""The records of one member, numbered over all its incarnations; from any thread."""

import threading
import time
from collections.abc import Sequence

from rocketdiff.core.records.consuming import (
    Allocated,
    Applied,
    Consumed,
    DeliveredMessage,
    OffsetEvent,
    OffsetSeen,
    Owned,
    Received,
)
from rocketdiff.drivers.python.consuming.script import CallEnd
from rocketdiff.drivers.python.session import Speak
from rocketdiff.protocol.consuming import Apply

Place = tuple[str, str, int]
"""Topic, broker and queue id."""


class Reports:
    """A number is taken and its record written at once, so that records come in the order of their numbers."""

    def __init__(self, speak: Speak) -> None:
        self._speak = speak
        self._changed = threading.Condition()
        self._allocations = 0
        self._owned_sets = 0
        self._offset_events = 0
        self._updated: dict[Place, int | None] = {}
        self._calls = 0
        self._applied = 0
        self._open_calls = 0
        self._threads: dict[int, int] = {}
        self._owned: tuple[Place, ...] = ()
        self._ended = 0

    def allocated(
        self,
        incarnation: int,
        topic: str,
        strategy: str,
        ids: Sequence[str],
        queues: Sequence[tuple[str, int]],
        share: Sequence[tuple[str, int]],
        error: str | None = None,
    ) -> None:
        with self._changed:
            if incarnation <= self._ended:
                return
            self._allocations += 1
            lists = (tuple(ids), tuple(queues), tuple(share))
            self._speak(Allocated(self._allocations, incarnation, time.monotonic_ns(), topic, strategy, *lists, error))

    def owned(self, incarnation: int, queues: Sequence[Place]) -> None:
        with self._changed:
            now = tuple(sorted(queues))
            if incarnation <= self._ended or now == self._owned:
                return
            self._owned = now
            self._owned_sets += 1
            self._speak(Owned(self._owned_sets, incarnation, time.monotonic_ns(), now))

    def end(self, incarnation: int) -> None:
        """An incarnation has left: it owns nothing, and only calls that are under way are reported from now on."""
        with self._changed:
            self.owned(incarnation, ())
            self._ended = incarnation
            self._updated.clear()

    def offset(self, incarnation: int, what: OffsetEvent, place: Place, value: int | None) -> None:
        with self._changed:
            is_known = what is OffsetEvent.UPDATE and self._updated.get(place) == value
            if incarnation <= self._ended or is_known:
                return
            if what in (OffsetEvent.UPDATE, OffsetEvent.FORGET):
                self._updated[place] = value
            self._offset_events += 1
            self._speak(OffsetSeen(self._offset_events, incarnation, time.monotonic_ns(), what, *place, value))

    def received(self, incarnation: int, at_ns: int, place: Place, messages: Sequence[DeliveredMessage]) -> int:
        """Return the number of the call that begins now."""
        with self._changed:
            call = self._calls
            self._calls += 1
            self._open_calls += 1
            thread = self._threads.setdefault(threading.get_ident(), len(self._threads))
            self._speak(Received(call, incarnation, thread, at_ns, *place, tuple(messages)))
            return call

    def consumed(self, call: int, end: CallEnd) -> None:
        with self._changed:
            self._open_calls -= 1
            self._changed.notify_all()
            context = {"delay_level": end.delay_level, "suspend_ms": end.suspend_ms, "ack_index": end.ack_index}
            self._speak(Consumed(call, time.monotonic_ns(), end.result, **context))

    def applied(self, incarnation: int, order: Apply, start_ns: int, error: str | None) -> None:
        """A call of the application has ended, by the thread that polls."""
        with self._changed:
            self._applied += 1
            of = order.what, order.broker, order.queue_id
            end_ns = time.monotonic_ns()
            self._speak(Applied(self._applied, incarnation, *of, start_ns, end_ns, order.offset, error))

    def await_calls(self) -> int:
        """Wait until every call has ended; return how many there were."""
        with self._changed:
            self._changed.wait_for(lambda: not self._open_calls)
            return self._calls
