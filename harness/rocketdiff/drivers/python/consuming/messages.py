"""Recognises the fed messages by our own id, and compares each with what was fed and with its first delivery."""

import json
from collections.abc import Sequence

from rocketdiff.core.records.consuming import DeliveredMessage
from rocketdiff.core.sends.message import ID_PROPERTY, padded
from rocketdiff.protocol.consuming import MemberSetup
from rocketmq_reference.remoting.messages import StoredMessage

_OF_A_DELIVERY = frozenset({"MIN_OFFSET", "MAX_OFFSET", "CONSUME_START_TIME"})
"""The client itself sets these anew at each delivery."""


class MessageReader:
    """Reads the messages of one member in all its incarnations; thread-safe."""

    def __init__(self, setup: MemberSetup) -> None:
        self._prefix = f"{setup.run}/{setup.topic}/"
        self._body_bytes = setup.body_bytes
        self._first: dict[int, str] = {}

    def read(self, messages: Sequence[StoredMessage], queue_topic: str) -> tuple[DeliveredMessage, ...]:
        return tuple(self._read(message, queue_topic) for message in messages)

    def _read(self, message: StoredMessage, queue_topic: str) -> DeliveredMessage:
        send = self._send_of(message.properties.get(ID_PROPERTY, ""))
        return DeliveredMessage(
            offset=message.queue_offset,
            times=message.reconsume_times,
            store_ms=message.store_timestamp_ms,
            body_ok=send is not None and message.body == self._fed_body(send),
            send=send,
            topic=None if message.topic == queue_topic else message.topic,
            key=message.unique_key,
            origin=message.properties.get("ORIGIN_MESSAGE_ID"),
            store_host=message.store_host,
            properties=self._changed(send, message.properties),
        )

    def _send_of(self, identity: str) -> int | None:
        number = identity.removeprefix(self._prefix)
        return int(number) if number != identity and number.isdecimal() else None

    def _fed_body(self, send: int) -> bytes:
        return padded(f"{self._prefix}{send}", self._body_bytes[send % len(self._body_bytes)])

    def _changed(self, send: int | None, properties: dict[str, str]) -> str | None:
        """Return all properties as JSON if they differ from those of the first delivery in this process."""
        shown = {name: value for name, value in properties.items() if name not in _OF_A_DELIVERY}
        now = json.dumps(shown, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        before = now if send is None else self._first.setdefault(send, now)
        return None if now == before else now
