"""
Allocation of a topic's queues to the members of a group (consumer.rebalance.Allocate*).

The same in every release, but for machine rooms; hashing came with 4.1.0, nearby machine rooms with 4.3.0.

Queues and ids come sorted, as Java sorts them: queues by broker name as text and queue id as number, ids as text. Ids may
repeat: a broker lists an id once for each of its connections, and no release removes repetitions. A member takes the share of
the first place of its id.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.consumer.consumer_rules import ConsumerRules

Strategy = Callable[[str, Sequence[Queue], Sequence[str], str], tuple[Queue, ...]]
"""Returns a member's share, given the topic, all its queues, all ids and the member's own id. Raises AllocationError."""

_ILLEGAL = "IllegalArgumentException"
_ROOM_AND_NAME = 2

VIRTUAL_NODES = 10
"""Places of one id on the ring of consistent hashing (virtualNodeCnt)."""


class AllocationError(Exception):
    """What a strategy throws, upon which a round changes nothing of the topic; name: of Java's exception."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name = name


def in_java_order(queues: Iterable[Queue]) -> list[Queue]:
    """Return queues as MessageQueue.compareTo sorts those of one topic: "broker-10" before "broker-2"."""
    return sorted(queues, key=lambda queue: (_text_order(queue.broker), queue.queue_id))


def ids_in_java_order(ids: Iterable[str]) -> list[str]:
    """Return ids as String.compareTo sorts them, with repetitions."""
    return sorted(ids, key=_text_order)


def averagely(_topic: str, queues: Sequence[Queue], ids: Sequence[str], own: str) -> tuple[Queue, ...]:
    """Return one contiguous piece; the first members have one queue more (AllocateMessageQueueAveragely, AVG)."""
    if not _is_listed(queues, ids, own):
        return ()
    place, (size, more) = ids.index(own), divmod(len(queues), len(ids))
    begin = place * size + min(place, more)
    return tuple(queues[begin : begin + size + (place < more)])


def by_circle(_topic: str, queues: Sequence[Queue], ids: Sequence[str], own: str) -> tuple[Queue, ...]:
    """Return every n-th queue of n members (AllocateMessageQueueAveragelyByCircle, AVG_BY_CIRCLE)."""
    return tuple(queues[ids.index(own) :: len(ids)]) if _is_listed(queues, ids, own) else ()


def by_consistent_hash(topic: str, queues: Sequence[Queue], ids: Sequence[str], own: str) -> tuple[Queue, ...]:
    """Return the queues whose hash lies before a place of the own id (AllocateMessageQueueConsistentHash, from 4.1.0)."""
    if not _is_listed(queues, ids, own):
        return ()
    ring = sorted(_places(ids).items())
    places = [place for place, _ in ring]

    def owner(queue: Queue) -> str:
        return ring[bisect_left(places, _hash(_shown(topic, queue))) % len(ring)][1]

    return tuple(queue for queue in queues if owner(queue) == own)


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {"AVG": averagely, "AVG_BY_CIRCLE": by_circle, "CONSISTENT_HASH": by_consistent_hash}
)
"""By the names that the Java strategies report; those that need to be told more are made below."""


def by_configuration(share: Sequence[Queue] | None) -> Strategy:
    """
    Return the strategy that gives a member what was configured for it (AllocateMessageQueueByConfig, CONFIG).

    It looks at nothing else: Java gives the same list for every topic, that of failed messages too, whose queues are then nobody's.
    """
    given = tuple(share or ())
    return lambda _topic, _queues, _ids, _own: given


def by_machine_room(rooms: Collection[str] | None, rules: ConsumerRules) -> Strategy:
    """
    Return the strategy for brokers named ``room@name`` (AllocateMessageQueueByMachineRoom, MACHINE_ROOM).

    rooms: whose queues the group consumes (consumeridcs). Each member gets a piece, the first ones one more of what is left. Up to
    4.7.1 the places of the piece are those of all queues, by mistake. Only from 4.9.3 it checks its arguments.
    """

    def is_in_a_room(queue: Queue) -> bool:
        parts = _split(queue.broker)
        if len(parts) != _ROOM_AND_NAME:
            return False
        if rooms is None:
            raise AllocationError("NullPointerException", "consumeridcs is null")
        return parts[0] in rooms

    def allocate(_topic: str, queues: Sequence[Queue], ids: Sequence[str], own: str) -> tuple[Queue, ...]:
        is_listed = _is_listed(queues, ids, own) if rules.machine_room_checks else own in ids
        if not is_listed:
            return ()
        wanted = [queue for queue in queues if is_in_a_room(queue)]
        place, (size, left) = ids.index(own), divmod(len(wanted), len(ids))
        pieces = wanted if rules.machine_room_counts_its_queues else queues
        own_left = [wanted[place + size * len(ids)]] if place < left else []
        return (*pieces[place * size : (place + 1) * size], *own_left)

    return allocate


def nearby(inner: Strategy, room_of_queue: Callable[[Queue], str], room_of_member: Callable[[str], str]) -> Strategy:
    """
    Return the strategy that keeps queues in their machine room (AllocateMachineRoomNearby, MACHINE_ROOM_NEARBY-inner, from 4.3.0).

    The members of a room divide its queues by the inner strategy; all members divide those of each room without members, room by
    room in the order of their names.
    """

    def allocate(topic: str, queues: Sequence[Queue], ids: Sequence[str], own: str) -> tuple[Queue, ...]:
        if not _is_listed(queues, ids, own):
            return ()
        queues_of: dict[str, list[Queue]] = {}
        for queue in queues:
            queues_of.setdefault(_room(room_of_queue(queue), f"mq {_shown(topic, queue)}"), []).append(queue)
        members_of: dict[str, list[str]] = {}
        for one in ids:
            members_of.setdefault(_room(room_of_member(one), f"consumer id {one}"), []).append(one)
        own_room = room_of_member(own)
        share: tuple[Queue, ...] = ()
        if own_room in queues_of:
            share = inner(topic, queues_of[own_room], members_of[own_room], own)
        for room in sorted(queues_of, key=_text_order):
            if room not in members_of:
                share += inner(topic, queues_of[room], ids, own)
        return share

    return allocate


def _room(name: str, of: str) -> str:
    if not name:
        raise AllocationError(_ILLEGAL, f"Machine room is null for {of}")
    return name


def _is_listed(queues: Sequence[Queue], ids: Sequence[str], own: str) -> bool:
    """Check as every release does (AbstractAllocateMessageQueueStrategy.check): a member that is not listed gets nothing."""
    if not own:
        raise AllocationError(_ILLEGAL, "currentCID is empty")
    if not queues:
        raise AllocationError(_ILLEGAL, "mqAll is null or mqAll empty")
    if not ids:
        raise AllocationError(_ILLEGAL, "cidAll is null or cidAll empty")
    return own in ids


def _split(name: str) -> list[str]:
    """Return the parts between the signs ``@``, without empty ones at the end (String.split)."""
    parts = name.split("@")
    while parts and not parts[-1]:
        parts.pop()
    return parts


def _shown(topic: str, queue: Queue) -> str:
    return f"MessageQueue [topic={topic}, brokerName={queue.broker}, queueId={queue.queue_id}]"


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
