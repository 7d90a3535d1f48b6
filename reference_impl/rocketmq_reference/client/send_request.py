"""Requests that send a message, as a release makes them (DefaultMQProducerImpl.sendKernelImpl)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from rocketmq_reference.client.message import Message, MessageBatch
from rocketmq_reference.remoting.messages import SysFlag, compress
from rocketmq_reference.remoting.properties import MAX_RECONSUME_TIMES, RECONSUME_TIME, TRANSACTION_PREPARED
from rocketmq_reference.remoting.sending import SendRequest
from rocketmq_reference.rules.consumer.offsets import RETRY_PREFIX
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.java import hash_order

_BUCKETS = 16
"""Of a new HashMap, in which Java keeps the properties of a message."""


@dataclass(frozen=True, slots=True)
class RequestMaker:
    """
    Makes the requests of one producer.

    compress_over: a body of this many bytes or more is compressed, unless it is a batch's. default_topic: whose route a new
    topic gets.
    """

    dialect: Dialect
    group: str
    compress_over: int = 4_096
    compress_level: int = 5
    default_topic: str | None = None
    default_topic_queues: int = 4

    def compresses(self, message: Message) -> bool:
        return len(message.body) >= self.compress_over and not isinstance(message, MessageBatch)

    def request(
        self,
        message: Message,
        broker: str,
        queue_id: int,
        born_timestamp_ms: int,
        compressed: tuple[bytes, int] | None = None,
    ) -> SendRequest:
        """
        Return the request; compressed: as ``compressed`` returned it, None for the body as it is.

        Of a failed message the header takes the reconsume times out of the properties, so a second attempt has none.
        """
        body, sys_flag = compressed or (message.body, 0)
        rules = self.dialect.messages
        properties, times, most = in_java_order(message.properties), None, None
        if message.topic.startswith(RETRY_PREFIX):
            times = message.properties.pop(RECONSUME_TIME, None)
            most = message.properties.pop(MAX_RECONSUME_TIMES, None)
        if message.properties.get(TRANSACTION_PREPARED, "").lower() == "true":
            sys_flag |= SysFlag.TRANSACTION_PREPARED
        return SendRequest(
            topic=message.topic,
            queue_id=queue_id,
            body=body,
            group=self.group,
            born_timestamp_ms=born_timestamp_ms,
            properties=properties,
            sys_flag=sys_flag | rules.sys_flag,
            flag=message.flag,
            is_batch=isinstance(message, MessageBatch) if rules.has_batches else None,
            broker=broker if rules.names_broker else None,
            default_topic=self.default_topic or self.dialect.producer.default_topic,
            default_topic_queues=self.default_topic_queues,
            closes_properties=rules.closes_properties,
            reconsume_times=int(times or 0),
            max_reconsume_times=None if most is None else int(most),
        )

    def compressed(self, message: Message) -> tuple[bytes, int]:
        """
        Return the compressed body and its system flag (tryToCompressMessage); every synchronous attempt compresses again.

        From 4.9.4 the flag also names the compression; every reader takes zero as zlib.
        """
        names_it = self.dialect.client.remoting.names_compression
        flag = SysFlag.COMPRESSED | (SysFlag.COMPRESSION_ZLIB if names_it else 0)
        return compress(message.body, self.compress_level), flag


def in_java_order(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties in the order in which Java's hash table writes them."""
    return {name: properties[name] for name in _ordered(tuple(properties))}


@lru_cache(maxsize=1_024)  # the messages of an application have few sets of names
def _ordered(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(hash_order(names, buckets=_BUCKETS, concurrent=False))
