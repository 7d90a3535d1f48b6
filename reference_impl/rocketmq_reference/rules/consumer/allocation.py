"""
Allocation of a topic's queues to the members of a group (consumer.rebalance.AllocateMessageQueue*, the same in every release).

Queues and ids come sorted, as Java sorts them: queues by broker name as text and queue id as number, ids as text. Ids may
repeat: a broker lists an id once for each of its connections, and no release removes repetitions. A member takes the share of
the first place of its id.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from rocketmq_reference.rules.client.publish import Queue

Strategy = Callable[[str, Sequence[Queue], Sequence[str], str], tuple[Queue, ...]]
"""Returns a member's share, given the topic, all its queues, all ids and the member's own id."""

VIRTUAL_NODES = 10
"""Places of one id on the ring of consistent hashing (virtualNodeCnt)."""


def in_java_order(queues: Iterable[Queue]) -> list[Queue]:
    """Return queues as MessageQueue.compareTo sorts those of one topic: "broker-10" before "broker-2"."""
    return sorted(queues, key=lambda queue: (_text_order(queue.broker), queue.queue_id))


def ids_in_java_order(ids: Iterable[str]) -> list[str]:
    """Return ids as String.compareTo sorts them, with repetitions."""
    return sorted(ids, key=_text_order)


def averagely(_topic: str, queues: Sequence[Queue], ids: Sequence[str], own: str) -> tuple[Queue, ...]:
    """Return one contiguous piece; the first members have one queue more (AllocateMessageQueueAveragely, AVG)."""
    if own not in ids:
        return ()
    place, (size, more) = ids.index(own), divmod(len(queues), len(ids))
    begin = place * size + min(place, more)
    return tuple(queues[begin : begin + size + (place < more)])


def by_circle(_topic: str, queues: Sequence[Queue], ids: Sequence[str], own: str) -> tuple[Queue, ...]:
    """Return every n-th queue of n members (AllocateMessageQueueAveragelyByCircle, AVG_BY_CIRCLE)."""
    return tuple(queues[ids.index(own) :: len(ids)]) if own in ids else ()


def by_consistent_hash(topic: str, queues: Sequence[Queue], ids: Sequence[str], own: str) -> tuple[Queue, ...]:
    """Return the queues whose hash lies before a place of the own id (AllocateMessageQueueConsistentHash, from 4.1.0)."""
    if own not in ids:
        return ()
    ring = sorted(_places(ids).items())
    places = [place for place, _ in ring]

    def owner(queue: Queue) -> str:
        key = f"MessageQueue [topic={topic}, brokerName={queue.broker}, queueId={queue.queue_id}]"
        return ring[bisect_left(places, _hash(key)) % len(ring)][1]

    return tuple(queue for queue in queues if owner(queue) == own)


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {"AVG": averagely, "AVG_BY_CIRCLE": by_circle, "CONSISTENT_HASH": by_consistent_hash}
)
"""By the names that the Java strategies report."""


def _places(ids: Sequence[str]) -> dict[int, str]:
    """Return hash → id; a repeated id gets further places (ConsistentHashRouter.addNode)."""
    places: dict[int, str] = {}
    counted: dict[str, int] = {}
    for one in ids:
        first = counted.get(one, 0)
        places.update((_hash(f"{one}-{number}"), one) for number in range(first, first + VIRTUAL_NODES))
        counted[one] = first + VIRTUAL_NODES
    return places


def _hash(key: str) -> int:
    """Return the first four bytes of the MD5 as a number (ConsistentHashRouter.MD5Hash)."""
    return int.from_bytes(hashlib.md5(key.encode(), usedforsecurity=False).digest()[:4], "big")


def _text_order(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")
