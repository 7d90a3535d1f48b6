"""Offsets that a member remembers between commits (RemoteBrokerOffsetStore), and where a new queue begins."""

from collections.abc import Iterable
from typing import NamedTuple

from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.consumer.settings import ConsumeFromWhere
from rocketmq_reference.rules.java import in_bucket_order, spread, string_hash

RETRY_PREFIX = "%RETRY%"
"""Of the topic that holds the failed messages of a group (MixAll.RETRY_GROUP_TOPIC_PREFIX)."""


class TopicQueue(NamedTuple):
    """A queue with its topic (MessageQueue)."""

    topic: str
    queue: Queue


def in_hash_order(queues: Iterable[TopicQueue], *, buckets: int = 16, concurrent: bool = True) -> list[TopicQueue]:
    """Return queues in the iteration order of a Java hash table (MessageQueue.hashCode)."""
    return in_bucket_order(queues, _spread, buckets=buckets, concurrent=concurrent)


def _spread(of: TopicQueue) -> int:
    code = 31 + string_hash(of.queue.broker)
    return spread(31 * (31 * code + of.queue.queue_id) + string_hash(of.topic))


class Offsets:
    """The next offset of each queue; frozen ones ignore updates until they are forgotten (updateAndFreezeOffset, from 5.2.0)."""

    __slots__ = ("_frozen", "_values")

    def __init__(self) -> None:
        self._values: dict[TopicQueue, int] = {}
        self._frozen: set[TopicQueue] = set()

    def get(self, of: TopicQueue) -> int | None:
        return self._values.get(of)

    def update(self, of: TopicQueue, offset: int, *, increase_only: bool) -> None:
        if of not in self._frozen:
            known = self._values.get(of)
            self._values[of] = max(known, offset) if increase_only and known is not None else offset

    def freeze(self, of: TopicQueue, offset: int) -> None:
        self._values[of] = offset
        self._frozen.add(of)

    def forget(self, of: TopicQueue) -> None:
        self._values.pop(of, None)
        self._frozen.discard(of)

    def following(self, last: TopicQueue | None) -> TopicQueue | None:
        """
        Return the queue that a walk through Java's table comes to after ``last``; None at the end.

        Offsets that are added meanwhile are met if their place is still to come (persistAll).
        """
        known = dict.fromkeys(self._values)
        if last is not None:
            known[last] = None
        ordered = in_hash_order(known)
        place = 0 if last is None else ordered.index(last) + 1
        return ordered[place] if place < len(ordered) else None


def begins_at_zero(topic: str, where: ConsumeFromWhere) -> bool:
    """
    True if a queue for which its broker knows no offset begins at 0, False if at its greatest offset (computePullFromWhere).

    Failed messages are never skipped.
    """
    return where is ConsumeFromWhere.FIRST or topic.startswith(RETRY_PREFIX)
