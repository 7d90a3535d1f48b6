"""Several messages as one (MessageBatch.generateFromList and DefaultMQProducer.batch, 4.1.0 to 5.3.3)."""

from collections.abc import Sequence

from rocketmq_reference.api.checks import check_message
from rocketmq_reference.api.message import Message, MessageBatch
from rocketmq_reference.api.unique_key import UniqueKeys
from rocketmq_reference.remoting.batch import BatchEntry, encode_batch
from rocketmq_reference.remoting.errors import MQClientException, RocketMQException
from rocketmq_reference.remoting.properties import DELAY, UNIQ_KEY, WAIT

_RETRY_TOPIC_PREFIX = "%RETRY%"


def batch_of(
    messages: Sequence[Message], keys: UniqueKeys, max_message_size: int, *, has_own_key: bool
) -> MessageBatch:
    """
    Make a batch: one topic, one WAIT property, no delays and no retry topics; each message gets an id.

    has_own_key: the batch gets an id too, which brokers store instead of those of its messages (from 5.0.0). Raises
    MQClientException, with the reason as its cause.
    """
    try:
        if not messages:
            raise MQClientException("messages is empty")
        for message in messages:
            _check_member(message, messages[0])
            check_message(message, max_message_size)
            message.properties.setdefault(UNIQ_KEY, keys.create())
        body = encode_batch(BatchEntry(message.body, message.properties, message.flag) for message in messages)
    except RocketMQException as error:
        raise MQClientException("Failed to initiate the MessageBatch") from error
    first = messages[0]
    properties = {WAIT: first.properties[WAIT]}
    if has_own_key:
        properties[UNIQ_KEY] = keys.create()
    return MessageBatch(first.topic, body, properties, messages=tuple(messages))


def _check_member(message: Message, first: Message) -> None:
    if message.properties.get(DELAY, "0") != "0":
        raise MQClientException("TimeDelayLevel is not supported for batching")
    if message.topic.startswith(_RETRY_TOPIC_PREFIX):
        raise MQClientException("Retry Group is not supported for batching")
    if message.topic != first.topic:
        raise MQClientException("The topic of the messages in one batch should be the same")
    if message.properties[WAIT] != first.properties[WAIT]:
        raise MQClientException("The waitStoreMsgOK of the messages in one batch should the same")
