"""One attempt: one request with one message to one broker, and its answer (DefaultMQProducerImpl.sendKernelImpl)."""

import time
from dataclasses import dataclass

from reference_impl.message import Message, MessageBatch, SendResult
from reference_impl.remoting.answers import parse_send
from reference_impl.remoting.channels import Channels
from reference_impl.remoting.codes import LanguageCode
from reference_impl.remoting.errors import MQClientException, RemotingTooMuchRequestException
from reference_impl.remoting.messages import SysFlag, compress
from reference_impl.remoting.send_encoder import SendEncoder
from reference_impl.remoting.sending import SendRequest
from reference_impl.remoting.versions import mq_version
from reference_impl.route_table import RouteTable
from reference_impl.rules.dialect import Dialect
from reference_impl.rules.publish import Queue
from reference_impl.settings import ProducerSettings

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
        self, dialect: Dialect, settings: ProducerSettings, group: str, channels: Channels, routes: RouteTable
    ) -> None:
        self._dialect = dialect
        self._settings = settings
        self._group = group
        self._channels = channels
        self._routes = routes
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
        Where to send for a broker: its master's address, or the port two below it where VIP channels are the default.

        An unknown broker makes the topic's route be looked up once. Raises MQClientException if that does not help.
        """
        address = self._routes.master_address(broker)
        if address is None:
            self._routes.find(topic)
            address = self._routes.master_address(broker)
            if address is None:
                raise MQClientException(f"The broker[{broker}] not exist")
        if self._dialect.remoting.vip_channel:
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
        opaque, frame = self._encode(message, payload, queue)
        if self._dialect.loop.shared_budget:
            spent_ms = time.monotonic_ns() // _NS_PER_MS - begin_ms
            if timeout_ms < spent_ms:
                raise RemotingTooMuchRequestException("sendKernelImpl call timeout")
            timeout_ms -= spent_ms
        answer = parse_send(self._channels.invoke_frame(address, opaque, frame, timeout_ms), address)
        return SendResult(
            status=answer.status,
            message_id=_message_id(message),
            offset_message_id=answer.offset_message_id,
            topic=message.topic,
            broker=queue.broker,
            queue_id=answer.queue_id,
            queue_offset=answer.queue_offset,
            transaction_id=answer.transaction_id,
        )

    def _encode(self, message: Message, payload: Payload, queue: Queue) -> tuple[int, bytes]:
        settings = self._settings
        request = SendRequest(
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
            default_topic=settings.create_topic_key,
            default_topic_queues=settings.default_topic_queue_nums,
        )
        return self._encoder.encode(request)


def _message_id(message: Message) -> str:
    """The client's id; for a batch the ids of its messages, separated by commas (processSendResponse)."""
    if isinstance(message, MessageBatch):
        return ",".join(part.unique_key or "" for part in message.messages)
    return message.unique_key or ""
