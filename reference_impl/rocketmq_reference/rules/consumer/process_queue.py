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

    Consumed in order, messages are taken, and then committed or put back; they count until they are committed. is_locked: the
    broker has locked the queue for the member, at last_lock_ms for the last time.
    """

    __slots__ = (
        "_has_run",
        "_taken",
        "_waiting",
        "bytes",
        "highest",
        "is_dropped",
        "is_locked",
        "last_lock_ms",
        "last_pull_ms",
    )

    def __init__(self, now_ms: int) -> None:
        self._waiting: dict[int, Msg] = {}
        self._taken: dict[int, Msg] = {}
        self._has_run = False
        self.bytes = 0
        self.highest: int | None = None
        self.is_dropped = False
        self.is_locked = False
        self.last_lock_ms = self.last_pull_ms = now_ms

    def __len__(self) -> int:
        return len(self._waiting) + len(self._taken)

    @property
    def has_waiting(self) -> bool:
        """True if a message is neither finished nor taken (hasTempMessage)."""
        return bool(self._waiting)

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

    def begin_run(self) -> bool:
        """Return True if messages wait and no run takes them; the caller begins one, which ends when it can take none."""
        begins = bool(self._waiting) and not self._has_run
        self._has_run |= begins
        return begins

    def take(self, most: int) -> list[Msg]:
        """Take the first messages that wait (takeMessages)."""
        found = [self._waiting.pop(offset) for offset in sorted(self._waiting)[:most]]
        self._taken.update((message.queue_offset, message) for message in found)
        self._has_run = bool(found)
        return found

    def commit(self) -> int | None:
        """Finish all that was taken; return the offset to commit, None without any (Java: −1)."""
        if not self._taken:
            return None
        finished, self._taken = self._taken, {}
        self.bytes = sum(len(message.body) for message in self._waiting.values())
        return max(finished) + 1

    def put_back(self, messages: Iterable[Msg] | None = None) -> None:
        """Let taken messages wait again, as they are now (makeMessageToConsumeAgain); None: all of them (rollback)."""
        back = list(self._taken.values()) if messages is None else list(messages)
        for message in back:
            self._taken.pop(message.queue_offset, None)
            self._waiting[message.queue_offset] = message

    def is_lock_expired(self, now_ms: int, live_ms: int) -> bool:
        return now_ms - self.last_lock_ms > live_ms

    def is_pull_expired(self, now_ms: int) -> bool:
        return now_ms - self.last_pull_ms > PULL_MAX_IDLE_MS
