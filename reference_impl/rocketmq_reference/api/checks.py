"""
Validation of groups, topics and messages (Validators).

As in 4.9.8 and 5.x for every dialect; before 4.6.1 topics could have 255 characters, and fewer topics were forbidden.
"""

import re
from functools import lru_cache

from rocketmq_reference.api.message import Message
from rocketmq_reference.remoting.codes import ResponseCode
from rocketmq_reference.remoting.errors import MQClientException

TOPIC_MAX_LENGTH = 127
GROUP_MAX_LENGTH = 255

_NAME = re.compile(r"[%|a-zA-Z0-9_-]+")

_FORBIDDEN_TOPICS = frozenset(
    {
        "SCHEDULE_TOPIC_XXXX",
        "RMQ_SYS_TRANS_HALF_TOPIC",
        "RMQ_SYS_TRANS_OP_HALF_TOPIC",
        "TRANS_CHECK_MAX_TIME_TOPIC",
        "SELF_TEST_TOPIC",
        "OFFSET_MOVED_EVENT",
    }
)


def check_group(group: str) -> None:
    """
    Check that a producer group has 1 to 255 of letters, digits, ``%|_-`` and is not the default (Validators.checkGroup, 5.3.3).

    Raises MQClientException.
    """
    _check_name("group", group, GROUP_MAX_LENGTH)
    if group == "DEFAULT_PRODUCER":
        raise MQClientException("producerGroup can not equal DEFAULT_PRODUCER, please specify another one.")


@lru_cache(maxsize=1_024)  # called for every message of few topics
def check_topic(topic: str) -> None:
    """
    Check that a topic has 1 to 127 of letters, digits, ``%|_-`` and is no broker-internal one (Validators.checkTopic, 5.3.3).

    Raises MQClientException without code.
    """
    _check_name("topic", topic, TOPIC_MAX_LENGTH)
    if topic in _FORBIDDEN_TOPICS:
        raise MQClientException(f"Sending message to topic[{topic}] is forbidden.")


def check_message(message: Message, max_message_size: int) -> None:
    """
    Check a message's topic, and its body of 1 to ``max_message_size`` bytes (Validators.checkMessage, 5.3.3).

    Raises MQClientException, with code 13 for a wrong body.
    """
    check_topic(message.topic)
    size = len(message.body)
    if size == 0:
        raise MQClientException("the message body length is zero", ResponseCode.MESSAGE_ILLEGAL)
    if size > max_message_size:
        raise MQClientException(
            f"the message body size over max value, MAX: {max_message_size}", ResponseCode.MESSAGE_ILLEGAL
        )


def _check_name(what: str, name: str, max_length: int) -> None:
    if not name.strip():
        raise MQClientException(f"the specified {what} is blank")
    if len(name) > max_length:
        raise MQClientException(f"the specified {what} is longer than {what} max length {max_length}.")
    if _NAME.fullmatch(name) is None:
        raise MQClientException(
            f"the specified {what}[{name}] contains illegal characters, allowing only ^{_NAME.pattern}$"
        )
