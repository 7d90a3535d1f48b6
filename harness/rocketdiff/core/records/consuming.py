"""Records of a consumer, one member of a group in a process of its own: one frozen dataclass per output line."""

from dataclasses import dataclass
from enum import StrEnum
from signal import Signals

from rocketdiff.core.consuming.plan import ConsumerCall, ListenerKind, MessageModel
from rocketdiff.core.records.field_types import (
    BrokerName,
    ErrorName,
    FilledName,
    Int64,
    Name,
    Natural32,
    Natural64,
    Queue,
    TopicQueue,
)

ALLOCATIONS, OWNED, OFFSETS = "allocations", "owned", "offsets"
"""Capabilities: these records are complete. Unclaimed ones may not be written."""

CONTENT = "content"
"""Capability: the key of each message, and its properties at its first delivery too if its sender gave it any."""

TAGS = "tags"
"""Capability: subscriptions to some tags only."""

ASSIGN = "assign"
"""Capability: the application of a lite pull consumer chooses its queues."""

SEEKS, PAUSES_QUEUES = "seek", "pause"
"""Capabilities: it goes to another offset of a queue; it pulls no more from a queue, and again."""

LISTENER = "listener:"
"""Prefix of a claim for an outcome, or a field of the context, that the client's listener has."""

PROPERTY = "property:"
"""Prefix of a claim for a system property that not every release reads."""

CONSUMING_CLAIMS = frozenset(
    {
        *ListenerKind,
        *MessageModel,
        *(ALLOCATIONS, OWNED, OFFSETS, CONTENT, TAGS, ASSIGN, SEEKS, PAUSES_QUEUES),
        *(LISTENER + what for what in ("later", "level", "throw", "null", "suspend", "commit", "ack-index")),
    }
)
"""Capabilities of consumers besides settings and security."""


class OffsetEvent(StrEnum):
    """What was done with a queue's offset inside a client."""

    QUERY = "query"
    UPDATE = "update"
    COMMIT = "commit"
    FORGET = "forget"
    FREEZE = "freeze"


class CallResult(StrEnum):
    """How a call of the application's listener ended."""

    SUCCESS = "success"
    LATER = "later"
    THROW = "throw"
    NULL = "null"
    COMMIT = "commit"
    ROLLBACK = "rollback"


FAILED = frozenset({CallResult.LATER, CallResult.THROW, CallResult.NULL})
"""Results of calls whose messages are to come again."""


@dataclass(frozen=True, slots=True)
class Joined:
    """The call to start returned or threw. With an error the member is possibly there until it has left."""

    incarnation: Natural32
    start_ns: Int64
    end_ns: Int64
    client_id: Name | None = None
    error: ErrorName | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Left:
    """
    The call to shut down returned.

    error: what it threw, or by which signal (``SIGSEGV``) the client's process died in it: then calls under way do not end.
    """

    incarnation: Natural32
    start_ns: Int64
    end_ns: Int64
    error: ErrorName | None = None

    @property
    def has_died(self) -> bool:
        """True if the client's process did not survive its shutdown."""
        return self.error in Signals.__members__


@dataclass(frozen=True, slots=True)
class Allocated:
    """
    The client computed its share of a topic. ``number`` counts from 1, over all incarnations and topics.

    ids, queues, result: in the order in which the client has them; an id may be repeated. error: if the strategy threw.
    """

    number: Natural32
    incarnation: Natural32
    at_ns: Int64
    topic: FilledName
    strategy: FilledName
    ids: tuple[FilledName, ...]
    queues: tuple[Queue, ...]
    result: tuple[Queue, ...]
    error: ErrorName | None = None


@dataclass(frozen=True, slots=True)
class Owned:
    """The set of queues that the client works on has changed, as seen at one of its looks; ``number`` counts from 1."""

    number: Natural32
    incarnation: Natural32
    at_ns: Int64
    queues: tuple[TopicQueue, ...]


@dataclass(frozen=True, slots=True)
class OffsetSeen:
    """
    Something was done with a queue's offset inside the client; ``number`` counts from 1.

    value: as the client has it, so -1 and -2 too; None if the event has none.
    """

    number: Natural32
    incarnation: Natural32
    at_ns: Int64
    what: OffsetEvent
    topic: FilledName
    broker: BrokerName
    queue_id: Natural32
    value: Int64 | None = None


@dataclass(frozen=True, slots=True)
class DeliveredMessage:
    """
    One message of a call, as the client shows it.

    send: number in our id; None if it has none of ours. times: reconsume times. topic: of the message, if it is not that of the
    queue. key, origin: UNIQ_KEY, ORIGIN_MESSAGE_ID. body_ok: equal to the fed one byte by byte. properties: all, if they differ
    from those of the first delivery of that number in this process, or this is the first one and its sender gave it some.
    """

    offset: Natural64
    times: Natural32
    store_ms: Int64
    body_ok: bool
    send: Natural64 | None = None
    topic: Name | None = None
    key: Name | None = None
    origin: Name | None = None
    store_host: Name | None = None
    properties: str | None = None


@dataclass(frozen=True, slots=True)
class Received:
    """The listener was called; ``call`` counts from 0, over all incarnations. thread: in order of appearance."""

    call: Natural64
    incarnation: Natural32
    thread: Natural32
    at_ns: Int64
    topic: FilledName
    broker: BrokerName
    queue_id: Natural32
    messages: tuple[DeliveredMessage, ...]


@dataclass(frozen=True, slots=True)
class Consumed:
    """The listener's call ended."""

    call: Natural64
    at_ns: Int64
    result: CallResult
    delay_level: Int64 | None = None
    suspend_ms: Int64 | None = None
    ack_index: Int64 | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """
    A call of the application about a queue returned, or threw ``error``; ``number`` counts from 1.

    Polls that returned before start_ns, and their work, are over; later ones begin after end_ns.
    """

    number: Natural32
    incarnation: Natural32
    what: ConsumerCall
    broker: BrokerName
    queue_id: Natural32
    start_ns: Int64
    end_ns: Int64
    offset: Natural64 | None = None
    error: ErrorName | None = None


ConsumingRecord = Joined | Left | Allocated | Owned | OffsetSeen | Received | Consumed | Applied

CONSUMING_RECORDS: dict[str, type[ConsumingRecord]] = {
    "joined": Joined,
    "left": Left,
    "allocated": Allocated,
    "owned": Owned,
    "offset": OffsetSeen,
    "received": Received,
    "consumed": Consumed,
    "applied": Applied,
}
"""By the ``type`` of a line."""
