"""Messages and results of sends: Message, MessageBatch and SendResult."""

from dataclasses import InitVar, dataclass, field
from typing import NamedTuple

from rocketmq_reference.remoting.answers import SendStatus
from rocketmq_reference.remoting.properties import KEYS, TAGS, UNIQ_KEY, WAIT


@dataclass(slots=True)
class Message:
    """
    One message for a topic (Message, 4.0.0-incubating to 5.3.3).

    tags and keys become properties if they are not empty. wait_store_msg_ok (property WAIT) asks the broker to answer only
    after the flush and replication that it is configured for. The first send writes the message's id into ``properties``
    (UNIQ_KEY); later sends of the same object keep it, as in Java.
    """

    topic: str
    body: bytes
    properties: dict[str, str] = field(default_factory=dict)
    flag: int = 0
    tags: InitVar[str] = ""
    keys: InitVar[str] = ""
    wait_store_msg_ok: InitVar[bool] = True

    def __post_init__(self, tags: str, keys: str, wait_store_msg_ok: bool) -> None:
        if tags:
            self.properties[TAGS] = tags
        if keys:
            self.properties[KEYS] = keys
        self.properties.setdefault(WAIT, "true" if wait_store_msg_ok else "false")

    @property
    def unique_key(self) -> str | None:
        """The client's id of the message; None before its first send."""
        return self.properties.get(UNIQ_KEY)


@dataclass(slots=True)
class MessageBatch(Message):
    """Several messages of one topic sent as one, made by message_batch.batch_of (MessageBatch, from 4.1.0)."""

    messages: tuple[Message, ...] = ()


class SendResult(NamedTuple):  # made for every send; tuples are the fastest to create
    """
    Result for a message that a broker has accepted (SendResult).

    message_id is the client's id (for a batch: the ids of all messages, separated by commas), offset_message_id the broker's.
    """

    status: SendStatus
    message_id: str
    offset_message_id: str
    topic: str
    broker: str
    queue_id: int
    queue_offset: int
    transaction_id: str | None = None
