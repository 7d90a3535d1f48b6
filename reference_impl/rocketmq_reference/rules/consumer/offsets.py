"""Offsets that a member remembers between commits (RemoteBrokerOffsetStore), and where a new queue begins."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.consumer.settings import ConsumeFromWhere

RETRY_PREFIX = "%RETRY%"
"""Of the topic that holds the failed messages of a group (MixAll.RETRY_GROUP_TOPIC_PREFIX)."""


class TopicQueue(NamedTuple):
    """A queue with its topic (MessageQueue)."""

    topic: str
    queue: Queue


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

    def keep_only(self, queues: Iterable[TopicQueue]) -> Mapping[TopicQueue, int]:
        """Forget the offsets of other queues, and return what to commit (persistAll)."""
        wanted = set(queues)
        for of in [of for of in self._values if of not in wanted]:
            self.forget(of)
        return dict(self._values)


def begins_at_zero(topic: str, where: ConsumeFromWhere) -> bool:
    """
    True if a queue for which its broker knows no offset begins at 0, False if at its greatest offset (computePullFromWhere).

    Failed messages are never skipped.
    """
    return where is ConsumeFromWhere.FIRST or topic.startswith(RETRY_PREFIX)
