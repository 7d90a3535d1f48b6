"""
Messages of one queue that a member has pulled and not finished (ProcessQueue, from 4.2.0).

Made when the member gets the queue, dropped when it gives it up; a queue that returns gets a new one.
"""

from collections.abc import Iterable, Sequence
from typing import Generic, Protocol, TypeVar


class Pulled(Protocol):
    """A message, as far as its queue is concerned."""

    @property
    def queue_offset(self) -> int: ...
    @property
    def body(self) -> bytes: ...


Msg = TypeVar("Msg", bound=Pulled)

PULL_MAX_IDLE_MS = 120_000
"""A queue without an attempt to pull for longer is given up (rocketmq.client.pull.pullMaxIdleTime)."""


class ProcessQueue(Generic[Msg]):
    """
    last_pull_ms: of the last attempt to pull, also one that was put off. highest: greatest offset ever put, None before.
    """

    __slots__ = ("_waiting", "bytes", "highest", "is_dropped", "last_pull_ms")

    def __init__(self, now_ms: int) -> None:
        self._waiting: dict[int, Msg] = {}
        self.bytes = 0
        self.highest: int | None = None
        self.is_dropped = False
        self.last_pull_ms = now_ms

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def span(self) -> int:
        """Difference of the greatest and the least offset (getMaxSpan)."""
        return max(self._waiting) - min(self._waiting) if self._waiting else 0

    def put(self, messages: Iterable[Msg]) -> None:
        for message in messages:
            if self._waiting.setdefault(message.queue_offset, message) is message:
                self.bytes += len(message.body)
                self.highest = message.queue_offset if self.highest is None else max(self.highest, message.queue_offset)

    def remove(self, messages: Sequence[Msg]) -> int | None:
        """
        Remove finished messages; return the offset to commit: the least one left, else one past the greatest ever put.

        None if nothing was left before (Java: −1).
        """
        if not self._waiting:
            return None
        for message in messages:
            if self._waiting.pop(message.queue_offset, None) is not None:
                self.bytes -= len(message.body)
        if self._waiting:
            return min(self._waiting)
        self.bytes = 0
        assert self.highest is not None
        return self.highest + 1

    def is_pull_expired(self, now_ms: int) -> bool:
        return now_ms - self.last_pull_ms > PULL_MAX_IDLE_MS
