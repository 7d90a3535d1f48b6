"""
Differences between releases in which messages a producer refuses before it sends, and how it writes their properties.

Read by executing the classes of every release: MessageConst.STRING_HASH_SET, Message.putUserProperty, Validators,
MessageDecoder.messageProperties2String and encodeMessage, MessageBatch.
"""

from dataclasses import dataclass
from enum import StrEnum

PROPERTIES_MAX_BYTES = 32_767
"""Of one message of a batch: the size is written as a signed short."""


class ReservedNames(StrEnum):
    """The names that putUserProperty refuses, by the first release that has this set."""

    SINCE_4_0_0 = "22 names"
    SINCE_4_5_1 = "23 names"
    SINCE_4_6_0 = "30 names"
    SINCE_4_9_3 = "31 names"
    PREVIEW = "32 names"
    ALPHA = "33 names"
    SINCE_5_0_0 = "48 names"
    SINCE_5_1_0 = "50 names"
    SINCE_5_2_0 = "51 names"
    SINCE_5_4_0 = "53 names"
    SINCE_5_5_0 = "54 names"

    @property
    def names(self) -> frozenset[str]:
        return _NAMES[self]


_OLDEST = frozenset(
    [
        "BUYER_ID",
        "CONSUME_START_TIME",
        "CORRECTION_FLAG",
        "DELAY",
        "KEYS",
        "MAX_OFFSET",
        "MAX_RECONSUME_TIMES",
        "MIN_OFFSET",
        "MQ2_FLAG",
        "MSG_REGION",
        "ORIGIN_MESSAGE_ID",
        "PGROUP",
        "REAL_QID",
        "REAL_TOPIC",
        "RECONSUME_TIME",
        "RETRY_TOPIC",
        "TAGS",
        "TRACE_ON",
        "TRANSFER_FLAG",
        "TRAN_MSG",
        "UNIQ_KEY",
        "WAIT",
    ]
)
_REQUEST_REPLY = frozenset(
    ["ARRIVE_TIME", "CLUSTER", "CORRELATION_ID", "MSG_TYPE", "PUSH_REPLY_TIME", "REPLY_TO_CLIENT", "TTL"]
)
_POP = frozenset({"1ST_POP_TIME", "POP_CK"})
_TIMER = frozenset(
    [
        "BORN_TIMESTAMP",
        "DUP_INFO",
        "EXTEND_UNIQ_INFO",
        "POP_CK_OFFSET",
        "TIMER_DELAY_LEVEL",
        "TIMER_DELAY_MS",
        "TIMER_DELAY_SEC",
        "TIMER_DELIVER_MS",
        "TIMER_DEL_UNIQKEY",
        "TIMER_DEQUEUE_MS",
        "TIMER_ENQUEUE_MS",
        "TIMER_OUT_MS",
        "TIMER_ROLL_TIMES",
        "TRAN_PREPARED_QUEUE_OFFSET",
        "__BORNHOST",
    ]
)

_4_5_1 = _OLDEST | {"INSTANCE_ID"}
_4_6_0 = _4_5_1 | _REQUEST_REPLY
_4_9_3 = _4_6_0 | {"INNER_MULTI_QUEUE_OFFSET"}
_5_0_0 = _4_9_3 | _POP | _TIMER
_5_1_0 = _5_0_0 | {"DLQ_ORIGIN_MESSAGE_ID", "DLQ_ORIGIN_TOPIC"}
_5_2_0 = _5_1_0 | {"__CRC32#"}
_5_4_0 = _5_2_0 | {"ORIGIN_GROUP", "_SYS_MSG_PRIORITY_"}

_NAMES = {
    ReservedNames.SINCE_4_0_0: _OLDEST,
    ReservedNames.SINCE_4_5_1: _4_5_1,
    ReservedNames.SINCE_4_6_0: _4_6_0,
    ReservedNames.SINCE_4_9_3: _4_9_3,
    ReservedNames.PREVIEW: _4_6_0 | _POP,
    ReservedNames.ALPHA: _4_9_3 | _POP,
    ReservedNames.SINCE_5_0_0: _5_0_0,
    ReservedNames.SINCE_5_1_0: _5_1_0,
    ReservedNames.SINCE_5_2_0: _5_2_0,
    ReservedNames.SINCE_5_4_0: _5_4_0,
    ReservedNames.SINCE_5_5_0: _5_4_0 | {"__LITE_TOPIC"},
}


@dataclass(frozen=True, slots=True)
class MessageRules:
    """Which messages a release accepts, and how it writes their properties."""

    reserved_properties: ReservedNames
    """Names of properties that an application may not set (RuntimeException)."""
    refuses_blank_properties: bool
    """A property without a name or value is refused (IllegalArgumentException, from 4.1.0)."""
    closes_properties: bool
    """A separator follows the last property too (to 4.9.0, and again from 5.2.0)."""
    topic_max_length: int
    """Longest topic in characters: 255, from 4.6.1 127."""
    forbids_default_topic: bool
    """The release's default topic, whose route new topics get, is refused (to 4.7.0)."""
    forbidden_topics: frozenset[str]
    """Topics of brokers that are refused (from 4.7.1)."""
    has_batches: bool
    """Several messages can be sent as one (from 4.1.0)."""
    batch_has_own_key: bool
    """A batch has an id besides those of its messages (from 5.0.0)."""
    names_broker: bool
    """The header has the broker's name (4.9.5 to 4.9.8, and from 5.1.0)."""
    sys_flag: int
    """System flag of every message: 64 in 5.0.0-PREVIEW, else 0."""
    refuses_dispatch_path: bool
    """A path in INNER_MULTI_DISPATCH is refused (from 5.1.2)."""
    measures_batch_properties: bool
    """Too large properties of a message in a batch are refused by their size (4.9.3 to 4.9.8); else writing them fails."""

    def refusal_of_property(self, name: str, value: str) -> str | None:
        """Return the simple class name of what putUserProperty throws, None for a property that is accepted."""
        if name in self.reserved_properties.names:
            return "RuntimeException"
        is_blank = not (name.strip() and value.strip())
        return "IllegalArgumentException" if is_blank and self.refuses_blank_properties else None

    def refusal_in_batch(self, properties_bytes: int) -> str | None:
        """Return what encodeMessage throws for a message with encoded properties of this size, None for a good one."""
        if properties_bytes <= PROPERTIES_MAX_BYTES:
            return None
        if self.measures_batch_properties:
            return "RuntimeException"
        # The size as a short: the buffer would have a negative size, or be too small.
        return "IllegalArgumentException" if properties_bytes & 0x8000 else "BufferOverflowException"
