"""Validation of topics and messages (Validators), in the order of the client's checks."""

import re
from functools import lru_cache

from rocketmq_reference.client.message import Message
from rocketmq_reference.remoting.codes import ResponseCode
from rocketmq_reference.remoting.errors import MQClientException
from rocketmq_reference.rules.dialect import Dialect

_DISPATCH = "INNER_MULTI_DISPATCH"
_NAME = re.compile(r"[%|a-zA-Z0-9_-]+")


def check_message(message: Message, dialect: Dialect, max_message_size: int) -> None:
    """
    Check a message's topic, its body of 1 to ``max_message_size`` bytes, and its property for several queues (checkMessage).

    Raises MQClientException, with code 13 for a wrong body or property.
    """
    rules, default_topic = dialect.messages, dialect.producer.default_topic
    check_topic(
        message.topic,
        rules.topic_max_length,
        rules.forbidden_topics | {default_topic} if rules.forbids_default_topic else rules.forbidden_topics,
    )
    size = len(message.body)
    if size == 0:
        raise MQClientException("the message body length is zero", ResponseCode.MESSAGE_ILLEGAL)
    if size > max_message_size:
        raise MQClientException(
            f"the message body size over max value, MAX: {max_message_size}", ResponseCode.MESSAGE_ILLEGAL
        )
    if rules.refuses_dispatch_path and "/" in message.properties.get(_DISPATCH, ""):
        raise MQClientException(
            f"{_DISPATCH} {message.properties[_DISPATCH]} can not contain /", ResponseCode.MESSAGE_ILLEGAL
        )


@lru_cache(maxsize=1_024)  # called for every message of few topics
def check_topic(topic: str, max_length: int, forbidden: frozenset[str]) -> None:
    """Check that a topic has letters, digits, ``%|_-`` and is not forbidden; raises MQClientException without code."""
    check_name("topic", topic, max_length)
    if topic in forbidden:
        raise MQClientException(f"Sending message to topic[{topic}] is forbidden.")


def check_name(what: str, name: str, max_length: int) -> None:
    """Check the length and the characters of a topic or group; raises MQClientException without code."""
    if not name.strip():
        raise MQClientException(f"the specified {what} is blank")
    if len(name) > max_length:
        raise MQClientException(f"the specified {what} is longer than {what} max length {max_length}.")
    if _NAME.fullmatch(name) is None:
        raise MQClientException(
            f"the specified {what}[{name}] contains illegal characters, allowing only ^{_NAME.pattern}$"
        )
