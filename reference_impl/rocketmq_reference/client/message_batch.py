"""Several messages as one (MessageBatch.generateFromList and DefaultMQProducer.batch, from 4.1.0)."""

from collections.abc import Callable, Sequence

from rocketmq_reference.client.message import Message, MessageBatch
from rocketmq_reference.client.message_checks import check_message
from rocketmq_reference.client.send_request import in_java_order
from rocketmq_reference.remoting import errors
from rocketmq_reference.remoting.batch import BatchEntry, encode_batch
from rocketmq_reference.remoting.errors import MQClientException, RocketMQException, UnsupportedOperationException
from rocketmq_reference.remoting.properties import DELAY, UNIQ_KEY, WAIT, encode_properties
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.producer.message_rules import MessageRules

_RETRY_TOPIC_PREFIX = "%RETRY%"


def batch_of(
    messages: Sequence[Message], new_key: Callable[[], str], dialect: Dialect, max_message_size: int
) -> MessageBatch:
    """
    Make a batch: one topic, one WAIT property, no delays and no retry topics; each message gets an id.

    new_key: makes an id. Before 4.1.0 raises UnsupportedOperationException, later MQClientException with the reason as its
    cause.
    """
    rules = dialect.messages
    if not rules.has_batches:
        raise UnsupportedOperationException("this release cannot send a batch")
    try:
        if not messages:
            raise errors.NullPointerException("first")
        for message in messages:
            _check_member(message, messages[0])
        for message in messages:
            check_message(message, dialect, max_message_size)
            message.properties.setdefault(UNIQ_KEY, new_key())
        body = encode_batch([_entry(message, rules) for message in messages], closed=rules.closes_properties)
    except (RocketMQException, RuntimeError) as error:
        raise MQClientException("Failed to initiate the MessageBatch") from error
    first = messages[0]
    properties = {WAIT: first.properties[WAIT]}
    if rules.batch_has_own_key:
        properties[UNIQ_KEY] = new_key()
    return MessageBatch(first.topic, body, properties, messages=tuple(messages))


def _entry(message: Message, rules: MessageRules) -> BatchEntry:
    properties = in_java_order(message.properties)
    size = len(encode_properties(properties, closed=rules.closes_properties).encode())
    refusal = rules.refusal_in_batch(size)
    if refusal is not None:
        refused: RuntimeError = getattr(errors, refusal)(f"{size} bytes of properties")
        raise refused
    return BatchEntry(message.body, properties, message.flag)


def _check_member(message: Message, first: Message) -> None:
    if message.properties.get(DELAY, "0") != "0":
        raise UnsupportedOperationException("TimeDelayLevel is not supported for batching")
    if message.topic.startswith(_RETRY_TOPIC_PREFIX):
        raise UnsupportedOperationException("Retry Group is not supported for batching")
    if message.topic != first.topic:
        raise UnsupportedOperationException("The topic of the messages in one batch should be the same")
    if message.properties[WAIT] != first.properties[WAIT]:
        raise UnsupportedOperationException("The waitStoreMsgOK of the messages in one batch should the same")
