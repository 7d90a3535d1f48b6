"""The records of one member, numbered over all its incarnations."""

import threading
import time
from collections.abc import Sequence

from rocketdiff.core.records.consuming import (
    Allocated,
    Consumed,
    DeliveredMessage,
    Joined,
    Left,
    OffsetEvent,
    OffsetSeen,
    Owned,
    Received,
)
from rocketdiff.drivers.python.consuming.script import CallEnd
from rocketdiff.drivers.python.session import Speak

TopicQueueText = tuple[str, str, int]


class Reports:
    """A number is taken and its record written at once, so that records come in the order of their numbers."""

    def __init__(self, speak: Speak) -> None:
        self._speak = speak
        self._changed = threading.Condition()
        self._counts = {Allocated: 0, Owned: 0, OffsetSeen: 0}
        self._calls = 0
        self._open = 0
        self._threads: dict[int, int] = {}

    def joined(self, incarnation: int, start_ns: int, client_id: str, error: Exception | None) -> None:
        name, message = (None, None) if error is None else (type(error).__name__, str(error))
        self._speak(Joined(incarnation, start_ns, time.monotonic_ns(), client_id, name, message))

    def left(self, incarnation: int, start_ns: int, error: Exception | None) -> None:
        name = None if error is None else type(error).__name__
        self._speak(Left(incarnation, start_ns, time.monotonic_ns(), name))

    def allocated(
        self,
        incarnation: int,
        topic: str,
        strategy: str,
        ids: Sequence[str],
        queues: Sequence[tuple[str, int]],
        share: Sequence[tuple[str, int]],
    ) -> None:
        """All lists in the order in which the client has them."""
        with self._changed:
            number, now_ns = self._next(Allocated), time.monotonic_ns()
            pairs, own = (tuple((broker, queue_id) for broker, queue_id in part) for part in (queues, share))
            self._speak(Allocated(number, incarnation, now_ns, topic, strategy, tuple(ids), pairs, own))

    def owned(self, incarnation: int, queues: Sequence[TopicQueueText]) -> None:
        with self._changed:
            number = self._next(Owned)
            self._speak(Owned(number, incarnation, time.monotonic_ns(), tuple(sorted(queues))))

    def offset(self, incarnation: int, what: OffsetEvent, of: TopicQueueText, value: int | None) -> None:
        with self._changed:
            number = self._next(OffsetSeen)
            self._speak(OffsetSeen(number, incarnation, time.monotonic_ns(), what, *of, value))

    def received(self, incarnation: int, of: TopicQueueText, at_ns: int, messages: tuple[DeliveredMessage, ...]) -> int:
        """Return the number of the call that begins now."""
        with self._changed:
            call, self._calls, self._open = self._calls, self._calls + 1, self._open + 1
            thread = self._threads.setdefault(threading.get_ident(), len(self._threads))
            self._speak(Received(call, incarnation, thread, at_ns, *of, messages))
            return call

    def consumed(self, call: int, end: CallEnd) -> None:
        with self._changed:
            self._open -= 1
            self._speak(Consumed(call, time.monotonic_ns(), end.result, end.delay_level, ack_index=end.ack_index))
            self._changed.notify_all()

    def await_calls(self) -> int:
        """Wait until every call has ended; return how many there were."""
        with self._changed:
            self._changed.wait_for(lambda: self._open == 0)
            return self._calls

    def _next(self, kind: type[Allocated | Owned | OffsetSeen]) -> int:
        self._counts[kind] += 1
        return self._counts[kind]
