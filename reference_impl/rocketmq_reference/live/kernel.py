"""One attempt: one request with one message to one broker, and its answer (DefaultMQProducerImpl.sendKernelImpl)."""

import time
from dataclasses import dataclass

from rocketmq_reference.application.message import Message, MessageBatch, SendResult
from rocketmq_reference.application.settings import ProducerSettings
from rocketmq_reference.connections.async_requests import AsyncRequests, OnEnd
from rocketmq_reference.connections.channels import Channels
from rocketmq_reference.live.route_table import RouteTable
from rocketmq_reference.remoting.answers import parse_send
from rocketmq_reference.remoting.codes import LanguageCode
from rocketmq_reference.remoting.errors import MQClientException, RemotingTooMuchRequestException
from rocketmq_reference.remoting.frames import Command
from rocketmq_reference.remoting.messages import SysFlag, compress
from rocketmq_reference.remoting.send_encoder import SendEncoder
from rocketmq_reference.remoting.sending import SendRequest
from rocketmq_reference.remoting.versions import mq_version
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.dialect import Dialect

_NS_PER_MS = 1_000_000
_VIP_PORT_OFFSET = 2


@dataclass(frozen=True, slots=True)
class Payload:
    """A message's body as it travels, and the flag that tells how to read it."""

    body: bytes
    sys_flag: int = 0


class Kernel:
    """Sends single requests by the wire form and the time rules of a dialect; safe for threads."""

    def __init__(
        self,
        dialect: Dialect,
        settings: ProducerSettings,
        group: str,
        channels: Channels,
        routes: RouteTable,
        requests: AsyncRequests,
    ) -> None:
        self._dialect = dialect
        self._settings = settings
        self._group = group
        self._channels = channels
        self._routes = routes
        self._requests = requests
        version = mq_version(dialect.releases.first)
        self._encoder = SendEncoder(settings.serialization, language=LanguageCode.PYTHON, version=version)

    def payload(self, message: Message) -> Payload:
        """
        The body, compressed with zlib if it is large enough and no batch (tryToCompressMessage); done for every attempt.

        The flag also names the kind of compression from 4.9.4 on; zero there means zlib to everyone.
        """
        settings = self._settings
        if len(message.body) < settings.compress_msg_body_over_howmuch or isinstance(message, MessageBatch):
            return Payload(message.body)
        sys_flag = SysFlag.COMPRESSED | (SysFlag.COMPRESSION_ZLIB if self._dialect.remoting.names_compression else 0)
        return Payload(compress(message.body, settings.compress_level), sys_flag)

    def address_of(self, topic: str, broker: str) -> str:
        """
        Where to send for a broker; an unknown one makes the topic's route be looked up once.

        Raises MQClientException if that does not help.
        """
        address = self.known_address(broker)
        if address is None:
            self._routes.find(topic)
            address = self.known_address(broker)
            if address is None:
                raise MQClientException(f"The broker[{broker}] not exist")
        return address

    def known_address(self, broker: str) -> str | None:
        """A broker's master, or the port two below it where VIP channels are the default; None if no route named it."""
        address = self._routes.known.master(broker)
        if address is not None and self._dialect.uses_vip_channel(self._settings):
            host, _, port = address.rpartition(":")
            return f"{host}:{int(port) - _VIP_PORT_OFFSET}"
        return address

    def send(
        self, message: Message, payload: Payload, queue: Queue, address: str, timeout_ms: int, begin_ms: int
    ) -> SendResult:
        """
        Send a message to a queue and wait for the answer, ``timeout_ms`` milliseconds from ``begin_ms`` on.

        Time spent since begin_ms counts from 4.3.0 on. Raises RemotingTooMuchRequestException if it was all of it,
        MQBrokerException for an error answer, and what Channels.invoke raises.
        """
        request = self.request(message, payload, queue)
        opaque, frame = self._encoder.encode(request)
        answer = self._channels.invoke_frame(address, opaque, frame, self._left_ms(timeout_ms, begin_ms))
        return self.result(message, queue.broker, answer, address)

    def send_oneway(
        self, message: Message, payload: Payload, queue: Queue, address: str, timeout_ms: int, begin_ms: int
    ) -> None:
        """
        As send(), without an answer.

        Raises RemotingTooMuchRequestException and what AsyncRequests.invoke_oneway raises.
        """
        _, frame = self._encoder.encode(self.request(message, payload, queue), is_oneway=True)
        self._left_ms(timeout_ms, begin_ms)
        self._requests.invoke_oneway(address, frame)

    def send_async(self, request: SendRequest, address: str, timeout_ms: int, on_end: OnEnd) -> None:
        """A request once more, under a new number; ``on_end`` is told how it ended. Raises as AsyncRequests.invoke does."""
        opaque, frame = self._encoder.encode(request)
        self._requests.invoke(address, opaque, frame, timeout_ms, on_end)

    def result(self, message: Message, broker: str, answer: Command, address: str | None) -> SendResult:
        """
        What a broker's answer says of a message.

        Raises MQBrokerException for an error answer.
        """
        stored = parse_send(answer, address)
        return SendResult(
            status=stored.status,
            message_id=_message_id(message),
            offset_message_id=stored.offset_message_id,
            topic=message.topic,
            broker=broker,
            queue_id=stored.queue_id,
            queue_offset=stored.queue_offset,
            transaction_id=stored.transaction_id,
        )

    def request(self, message: Message, payload: Payload, queue: Queue) -> SendRequest:
        """The request for a message that goes to a queue."""
        settings = self._settings
        return SendRequest(
            topic=message.topic,
            queue_id=queue.queue_id,
            body=payload.body,
            group=self._group,
            born_timestamp_ms=time.time_ns() // _NS_PER_MS,
            properties=message.properties,
            sys_flag=payload.sys_flag,
            flag=message.flag,
            is_batch=isinstance(message, MessageBatch),
            broker=queue.broker,
            default_topic=settings.create_topic_key or self._dialect.default_topic,
            default_topic_queues=settings.default_topic_queue_nums,
        )

    def _left_ms(self, timeout_ms: int, begin_ms: int) -> int:
        left_ms = self._dialect.loop.left_ms(timeout_ms, time.monotonic_ns() // _NS_PER_MS - begin_ms)
        if left_ms is None:
            raise RemotingTooMuchRequestException("sendKernelImpl call timeout")
        return left_ms


def _message_id(message: Message) -> str:
    """The client's id; for a batch the ids of its messages, separated by commas (processSendResponse)."""
    if isinstance(message, MessageBatch):
        return ",".join(part.unique_key or "" for part in message.messages)
    return message.unique_key or ""
