"""What a message carries besides its body, by RocketMQ's names, and the delays a broker knows."""

import hashlib
import json
from collections.abc import Mapping

from rocketdiff.core.sends.plan import PlannedSend

KEYS, TAGS, DELAY = "KEYS", "TAGS", "DELAY"

ID_PROPERTY = "rocketdiff.id"
"""User property with our own id of a message, ``RUN/TOPIC/SEND``; the body begins with the same text."""

_PADDING = b"."

RESERVED_PROPERTIES = frozenset(
    {
        *(KEYS, TAGS, DELAY, "WAIT", "RETRY_TOPIC", "REAL_TOPIC", "REAL_QID", "TRAN_MSG", "PGROUP"),
        *("MIN_OFFSET", "MAX_OFFSET", "BUYER_ID", "ORIGIN_MESSAGE_ID", "TRANSFER_FLAG", "CORRECTION_FLAG", "MQ2_FLAG"),
        *("RECONSUME_TIME", "UNIQ_KEY", "MAX_RECONSUME_TIMES", "CONSUME_START_TIME", "MSG_REGION", "TRACE_ON"),
        *("CLUSTER", "INSTANCE_ID", "CORRELATION_ID", "REPLY_TO_CLIENT", "TTL", "INNER_NUM", "INNER_MULTI_DISPATCH"),
        ID_PROPERTY,
    }
)
"""Names that clients refuse in putUserProperty (MessageConst.STRING_HASH_SET), or that are written by somebody else."""

_COMPRESSIONS = {0: "", 1: "LZ4", 2: "ZSTD", 3: "ZLIB"}

SECOND, MINUTE, HOUR = 1, 60, 3_600

DELAY_S = (
    *(1 * SECOND, 5 * SECOND, 10 * SECOND, 30 * SECOND),
    *(minutes * MINUTE for minutes in (*range(1, 11), 20, 30)),
    *(1 * HOUR, 2 * HOUR),
)
"""
Seconds of delay levels 1 to 18 (messageDelayLevel of MessageStoreConfig, the same default in every release: 1s 5s 10s 30s
1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h).
"""


AWAITED_S = 10
"""Longest delay whose delivery a run waits for (level 3); of longer ones only what is kept back is read."""


def delay_s(level: int) -> int:
    """Seconds for which a broker keeps a message of this level back; 0 for level 0."""
    return DELAY_S[level - 1] if level else 0


def sys_flag_text(flag: int) -> str:
    """A system flag with what it says of compression (MessageSysFlag: bit 0, and bits 8 to 10 for the method): ``769 (compressed, ZLIB)``."""
    if not flag & 1:
        return f"{flag}"
    method = _COMPRESSIONS.get(flag >> 8 & 7, "a method that RocketMQ does not have")
    return f"{flag} (compressed, {method or 'no method named'})"


def properties_text(properties: Mapping[str, str]) -> str:
    """Properties as one text that is equal where they are: JSON, by name."""
    return json.dumps(dict(sorted(properties.items())), ensure_ascii=False, separators=(",", ":"))


def carried_text(send: PlannedSend) -> str | None:
    """
    What a plan wants a message to carry besides our id, as such a text; None where that is nothing.

    The delay is not among it: brokers take it off a message that they deliver.
    """
    carried = {KEYS: send.keys, TAGS: send.tags, **dict(send.properties)}
    carried = {name: value for name, value in carried.items() if value}
    return properties_text(carried) if carried else None


def body_digest(body: bytes) -> str:
    """Enough of a digest to tell two bodies apart."""
    return hashlib.sha256(body).hexdigest()[:16]


def padded(identity: str, body_bytes: int) -> bytes:
    """The body of a message: its id, padded to the planned size; the id alone where that is longer."""
    return identity.encode().ljust(body_bytes, _PADDING)
