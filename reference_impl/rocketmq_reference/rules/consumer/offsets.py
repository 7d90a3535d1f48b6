"""Offsets that a member remembers between commits (RemoteBrokerOffsetStore), and where a new queue begins."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.consumer.settings import ConsumeFromWhere
from rocketmq_reference.rules.java import grown, in_bucket_order, spread, string_hash

RETRY_PREFIX = "%RETRY%"
"""Of the topic that holds the failed messages of a group (MixAll.RETRY_GROUP_TOPIC_PREFIX)."""

PROCESS_BUCKETS = 128
"""Of processQueueTable, which is made for 64 queues."""

_FIRST_BUCKETS = 16
"""Of a table that is made for no number of queues."""


RESET_WAIT_MS = 10_000
"""From a broker's request for other offsets to their commit, in which calls under way may end."""


class TopicQueue(NamedTuple):
    """A queue with its topic (MessageQueue)."""

    topic: str
    queue: Queue


def in_hash_order(
    queues: Iterable[TopicQueue], *, buckets: int = _FIRST_BUCKETS, concurrent: bool = True
) -> list[TopicQueue]:
    """Return queues in the iteration order of a Java hash table (MessageQueue.hashCode)."""
    return in_bucket_order(queues, _spread, buckets=buckets, concurrent=concurrent)


def _spread(of: TopicQueue) -> int:
    code = 31 + string_hash(of.queue.broker)
    return spread(31 * (31 * code + of.queue.queue_id) + string_hash(of.topic))


@dataclass(slots=True, eq=False)
class Remembered:
    """
    The offset of one queue; whoever has it in hand sees its last value, also when the queue is forgotten (AtomicLong).

    after: when it was forgotten, the next one in its bucket, where a walk that has come to it goes on.
    """

    of: TopicQueue
    offset: int
    after: "Remembered | None" = None


class Offsets:
    """The next offset of each queue; frozen ones ignore updates until they are forgotten (updateAndFreezeOffset, from 5.2.0)."""

    __slots__ = ("_frozen", "_values")

    def __init__(self) -> None:
        self._values: dict[TopicQueue, Remembered] = {}
        self._frozen: set[TopicQueue] = set()

    def get(self, of: TopicQueue) -> int | None:
        known = self._values.get(of)
        return None if known is None else known.offset

    def update(self, of: TopicQueue, offset: int, *, increase_only: bool) -> None:
        if of not in self._frozen:
            known = self._values.setdefault(of, Remembered(of, offset))
            known.offset = max(known.offset, offset) if increase_only else offset

    def freeze(self, of: TopicQueue, offset: int) -> None:
        self._values.setdefault(of, Remembered(of, offset)).offset = offset
        self._frozen.add(of)

    def forget(self, of: TopicQueue) -> None:
        self._frozen.discard(of)
        known = self._values.get(of)
        if known is not None:
            after = self.following(known)
            known.after = after if after is not None and self._bucket(after.of) == self._bucket(of) else None
            del self._values[of]

    def following(self, last: Remembered | None) -> Remembered | None:
        """
        Return what a walk through Java's table comes to after ``last``; None at the end.

        Offsets that are added meanwhile are met if their place, the last of their bucket, is still to come (persistAll). A forgotten
        one leads to what followed it in its bucket, also if that is forgotten by now.
        """
        if last is not None and last.after is not None:
            return last.after
        ordered = in_hash_order(self._values)
        if last is None:
            place = 0
        elif self._values.get(last.of) is last:
            place = ordered.index(last.of) + 1
        else:
            place = sum(self._bucket(of) <= self._bucket(last.of) for of in ordered)
        return self._values[ordered[place]] if place < len(ordered) else None

    def _bucket(self, of: TopicQueue) -> int:
        return _spread(of) % grown(_FIRST_BUCKETS, len(self._values))


def begins_at_zero(topic: str, where: ConsumeFromWhere) -> bool:
    """
    True if a queue for which its broker knows no offset begins at 0, False if at its greatest offset (computePullFromWhere).

    Failed messages are never skipped.
    """
    return where is ConsumeFromWhere.FIRST or topic.startswith(RETRY_PREFIX)
