"""
Messages of one queue that a member has pulled and not finished (ProcessQueue).

Made when the member gets the queue, dropped when it gives it up; a queue that returns gets a new one. Calls of an orderly listener
take messages out of it, and end with a commit or a rollback.
"""

from collections.abc import Iterable, Sequence
from typing import Generic, Protocol, TypeVar

from rocketmq_reference.rules.consumer.consumer_rules import ConsumerRules


class Pulled(Protocol):
    """A message, as far as its queue is concerned."""

    @property
    def queue_offset(self) -> int: ...
    @property
    def body(self) -> bytes: ...


Msg = TypeVar("Msg", bound=Pulled)

PULL_MAX_IDLE_MS = 120_000
"""A queue without an attempt to pull for longer is given up (rocketmq.client.pull.pullMaxIdleTime)."""


class ProcessQueueError(Exception):
    """What a call of a queue throws; name: of Java's exception."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name = name


class ProcessQueue(Generic[Msg]):
    """
    Messages that wait for a call of the listener or whose call has not ended, those that an orderly call has taken, and their count.

    count, bytes: as the member keeps them, with what was taken; not always what is there. last_put: offset that was put last, 0
    before. last_pull_ms: of the last attempt to pull, also one that was put off. is_locked: the broker has locked the queue for the
    member, at last_lock_ms for the last time. begun_ms: by offset, when the last call with a message began.
    """

    __slots__ = (
        "_has_run",
        "_rules",
        "_taken",
        "_waiting",
        "begun_ms",
        "bytes",
        "count",
        "is_dropped",
        "is_locked",
        "last_lock_ms",
        "last_pull_ms",
        "last_put",
    )

    def __init__(self, now_ms: int, rules: ConsumerRules) -> None:
        self._rules = rules
        self._waiting: dict[int, Msg] = {}
        self._taken: dict[int, Msg] = {}
        self.begun_ms: dict[int, int] = {}
        self.count = 0
        self.bytes = 0
        self.last_put = 0
        self._has_run = False
        self.is_dropped = False
        self.is_locked = False
        self.last_lock_ms = self.last_pull_ms = now_ms

    @property
    def has_waiting(self) -> bool:
        """True if a message is neither finished nor taken (hasTempMessage)."""
        return bool(self._waiting)

    @property
    def waiting(self) -> list[int]:
        """Offsets that were put and neither removed nor taken (msgTreeMap)."""
        return sorted(self._waiting)

    @property
    def taken(self) -> list[int]:
        """Offsets that an orderly call has taken (consumingMsgOrderlyTreeMap)."""
        return sorted(self._taken)

    @property
    def span(self) -> int:
        """Difference of the greatest and the least offset that waits (getMaxSpan)."""
        return max(self._waiting) - min(self._waiting) if self._waiting else 0

    def put(self, messages: Iterable[Msg]) -> None:
        """
        Add messages; a message of the same offset is replaced, and counts once.

        Raises ProcessQueueError, with the message put but not counted, for one without a body (up to 5.3.1).
        """
        new = 0
        for message in messages:
            is_new = message.queue_offset not in self._waiting
            self._waiting[message.queue_offset] = message
            self.begun_ms.pop(message.queue_offset, None)
            if is_new:
                new += 1
                self.last_put = message.queue_offset
                self.bytes += self._size_of(message)
        self.count += new

    def begin_run(self) -> bool:
        """Return True if messages wait and no run of orderly calls takes them; the caller begins one, until it can take none."""
        begins = bool(self._waiting) and not self._has_run
        self._has_run |= begins
        return begins

    def remove(self, messages: Sequence[Msg]) -> int | None:
        """
        Remove finished messages; return the offset to commit: the least one left, else one past the one put last.

        None if nothing was left before (Java: −1).
        """
        if not self._waiting:
            return None
        removed = 0
        for message in messages:
            if self._waiting.pop(message.queue_offset, None) is None:
                continue
            self.begun_ms.pop(message.queue_offset, None)
            removed += 1
            try:
                self.bytes -= self._size_of(message)
            except ProcessQueueError:
                return self.last_put + 1  # what is left has no say, and nothing is uncounted
        self._uncount(removed)
        return min(self._waiting, default=self.last_put + 1)

    def expired(self, now_ms: int, timeout_ms: int) -> Msg | None:
        """
        Return the first message, if its call takes longer than a timeout (cleanExpiredMsg).

        Raises ProcessQueueError if its call has not begun (up to 4.9.2).
        """
        if not self._waiting:
            return None
        first = min(self._waiting)
        if first not in self.begun_ms:
            if self._rules.cleaning_can_die:
                raise ProcessQueueError("NumberFormatException", "a message whose call has not begun")
            return None
        return self._waiting[first] if now_ms - self.begun_ms[first] > timeout_ms else None

    def remove_expired(self, message: Msg) -> None:
        """Remove a message that was sent back, if it is still the first. Raises ProcessQueueError."""
        if min(self._waiting, default=None) != message.queue_offset:
            return
        if self._rules.uncounts_expired:
            self.remove([message])
        else:
            del self._waiting[message.queue_offset]

    def take(self, most: int) -> list[Msg]:
        """Take the first messages for an orderly call; without any, the run is over (takeMessages)."""
        first = sorted(self._waiting)[:most]
        messages = [self._waiting.pop(offset) for offset in first]
        self._taken |= zip(first, messages, strict=True)
        if not messages:
            self._has_run = False
        return messages

    def commit(self) -> int:
        """
        Finish what was taken; return the offset to commit.

        Raises ProcessQueueError if nothing was taken, which no release does, or for a message without a body (up to 5.3.1).
        """
        if not self._taken:
            raise ProcessQueueError("NoSuchElementException", "nothing was taken")
        last = max(self._taken)
        self._uncount(len(self._taken))
        if self.count or not self._rules.resets_bytes:
            for _, message in sorted(self._taken.items()):
                self.bytes -= self._size_of(message)
        self._taken = {}
        return last + 1

    def put_back(self, messages: Iterable[Msg] | None = None) -> None:
        """Let messages wait again, as they are now (makeMessageToConsumeAgain); None: all that were taken (rollback)."""
        for message in list(self._taken.values()) if messages is None else messages:
            self._taken.pop(message.queue_offset, None)
            self._waiting[message.queue_offset] = message

    def clear(self) -> None:
        """Forget all messages."""
        self._waiting, self._taken, self.begun_ms = {}, {}, {}
        self.count = self.bytes = self.last_put = 0

    def is_lock_expired(self, now_ms: int, live_ms: int) -> bool:
        return now_ms - self.last_lock_ms > live_ms

    def is_pull_expired(self, now_ms: int) -> bool:
        return now_ms - self.last_pull_ms > PULL_MAX_IDLE_MS

    def _uncount(self, messages: int) -> None:
        self.count -= messages
        if not self.count and self._rules.resets_bytes:
            self.bytes = 0

    def _size_of(self, message: Msg) -> int:
        """Return what a message counts for flow control; decoded messages without a body have none, not an empty one."""
        if not self._rules.counts_bytes:
            return 0
        if not message.body and not self._rules.takes_empty_bodies:
            raise ProcessQueueError("NullPointerException", "a message without a body")
        return len(message.body)
