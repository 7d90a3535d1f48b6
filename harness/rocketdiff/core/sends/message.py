"""Message properties under RocketMQ's names, and the delay levels of a broker."""

import hashlib
import json
from collections.abc import Mapping

from rocketdiff.core.sends.plan import PlannedSend

KEYS, TAGS, DELAY = "KEYS", "TAGS", "DELAY"

ID_PROPERTY = "rocketdiff.id"
"""User property with our id of a message, ``RUN/TOPIC/SEND``. The body begins with the same text."""

_PADDING = b"."

RESERVED_PROPERTIES = frozenset(
    {
        *(KEYS, TAGS, DELAY, "WAIT", "RETRY_TOPIC", "REAL_TOPIC", "REAL_QID", "TRAN_MSG", "PGROUP"),
        *("MIN_OFFSET", "MAX_OFFSET", "BUYER_ID", "ORIGIN_MESSAGE_ID", "TRANSFER_FLAG", "CORRECTION_FLAG", "MQ2_FLAG"),
        *("RECONSUME_TIME", "UNIQ_KEY", "MAX_RECONSUME_TIMES", "CONSUME_START_TIME", "MSG_REGION", "TRACE_ON"),
        *("CLUSTER", "INNER_NUM", "INNER_MULTI_DISPATCH", ID_PROPERTY),
    }
)
"""Names that no scenario may set: every Java release reserves them (``ReservedNames.SINCE_4_0_0``), or brokers change them."""

OF_EVERY_MESSAGE = frozenset({ID_PROPERTY, "UNIQ_KEY", "WAIT", "CLUSTER", "MSG_REGION", "TRACE_ON"})
"""Properties of a message to which its sender gave none."""

_COMPRESSIONS = {0: "", 1: "LZ4", 2: "ZSTD", 3: "ZLIB"}

SECOND, MINUTE, HOUR = 1, 60, 3_600

DELAY_S = (
    *(1 * SECOND, 5 * SECOND, 10 * SECOND, 30 * SECOND),
    *(minutes * MINUTE for minutes in (*range(1, 11), 20, 30)),
    *(1 * HOUR, 2 * HOUR),
)
"""Seconds of delay levels 1 to 18, the default of MessageStoreConfig.messageDelayLevel in every release."""


AWAITED_S = 10
"""Longest delay whose delivery a run waits for (level 3). Of longer ones only the held-back message is read."""


def delay_s(level: int) -> int:
    """Return how many seconds a broker holds back a message of this level; 0 for level 0."""
    return DELAY_S[level - 1] if level else 0


def is_awaited(level: int) -> bool:
    """Return True for a delayed message whose delivery a run waits for."""
    return 0 < delay_s(level) <= AWAITED_S


def sys_flag_text(flag: int) -> str:
    """Return a system flag with its compression: ``769 (compressed, ZLIB)``. MessageSysFlag: bit 0; method in bits 8 to 10."""
    if not flag & 1:
        return f"{flag}"
    method = _COMPRESSIONS.get(flag >> 8 & 7, "a method that RocketMQ does not have")
    return f"{flag} (compressed, {method or 'no method named'})"


def properties_text(properties: Mapping[str, str]) -> str:
    """Return properties as canonical text: JSON, sorted by name."""
    return json.dumps(dict(sorted(properties.items())), ensure_ascii=False, separators=(",", ":"))


def carried_text(send: PlannedSend) -> str | None:
    """
    Return the planned properties besides our id, as canonical text; None for none.

    The delay is excluded: brokers remove it from delivered messages.
    """
    carried = {KEYS: send.keys, TAGS: send.tags, **dict(send.properties)}
    carried = {name: value for name, value in carried.items() if value}
    return properties_text(carried) if carried else None


def body_digest(body: bytes) -> str:
    """Return a digest long enough to distinguish two bodies."""
    return hashlib.sha256(body).hexdigest()[:16]


def padded(identity: str, body_bytes: int) -> bytes:
    """Return a message body: its id, padded to the planned size, or the longer id alone."""
    return identity.encode().ljust(body_bytes, _PADDING)
