"""Messages of an application: Message and MessageBatch."""

from collections.abc import Iterable
from dataclasses import InitVar, dataclass, field

from rocketmq_reference.remoting.errors import IllegalArgumentException, RuntimeException
from rocketmq_reference.remoting.properties import KEYS, TAGS, UNIQ_KEY, WAIT
from rocketmq_reference.rules.producer.message_rules import MessageRules


@dataclass(slots=True)
class Message:
    """
    One message for a topic (Message, 4.0.0-incubating to 5.5.0).

    properties: names as in ``user_properties``. tags and keys become properties if they are not empty. wait_store_msg_ok
    (property WAIT) asks the broker to answer only after the flush and replication that it is configured for. The first send
    writes the message's id into ``properties`` (UNIQ_KEY); later sends of the same object keep it, as in Java.
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


def user_properties(pairs: Iterable[tuple[str, str]], rules: MessageRules) -> dict[str, str]:
    """
    Return an application's properties of a message (Message.putUserProperty).

    Raises RuntimeException for a name that the release reserves, IllegalArgumentException for a blank name or value.
    """
    properties = dict(pairs)
    for name, value in properties.items():
        refusal = rules.refusal_of_property(name, value)
        if refusal == RuntimeException.__name__:
            raise RuntimeException(f"The Property<{name}> is used by system, input another please")
        if refusal is not None:
            raise IllegalArgumentException("The name or value of property can not be null or blank string!")
    return properties
