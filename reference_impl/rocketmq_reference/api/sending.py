"""One live producer on a live client: its sends as frames, and its attempts for a listener."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from rocketmq_reference.api.listener import AttemptEnded, AttemptStarted, Listener, RouteChanged
from rocketmq_reference.api.message import SendResult
from rocketmq_reference.api.settings import ProducerSettings
from rocketmq_reference.client.async_sending import AsyncSender
from rocketmq_reference.client.codec import FAILURES, Compressed, Failure
from rocketmq_reference.client.detection import Detection
from rocketmq_reference.client.memory import ProducerMemory
from rocketmq_reference.client.message import Message, MessageBatch
from rocketmq_reference.client.publishing import PublishLists, known_routes
from rocketmq_reference.client.remoting import CALLBACKS
from rocketmq_reference.client.send_request import RequestMaker
from rocketmq_reference.client.sending import Sender
from rocketmq_reference.host.access import OPEN, Access
from rocketmq_reference.host.assembly import LiveClient, live_client
from rocketmq_reference.host.channels import Question, question_of
from rocketmq_reference.host.codec import vip_address
from rocketmq_reference.remoting import requests
from rocketmq_reference.remoting.answers import parse_offset, parse_send
from rocketmq_reference.remoting.codes import LanguageCode, ResponseCode
from rocketmq_reference.remoting.errors import NullPointerException, RocketMQException
from rocketmq_reference.remoting.frames import ONEWAY_FLAG, Command
from rocketmq_reference.remoting.send_encoder import SendEncoder
from rocketmq_reference.remoting.sending import send_message
from rocketmq_reference.remoting.signing import Credentials
from rocketmq_reference.remoting.versions import mq_version
from rocketmq_reference.rules.client.publish import PublishInfo
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.producer.async_rules import AsyncThread
from rocketmq_reference.rules.tape import Tape

_NS_PER_MS = 1_000_000
_POOLS = {AsyncThread.OWN.value: "AsyncSenderExecutor"}
"""The pool of asynchronous sends, and its name in Java."""


@dataclass(frozen=True, slots=True)
class LiveProducer:
    """A producer's parts on its client; ``client.host.run`` runs the coroutines that they return."""

    client: LiveClient
    memory: ProducerMemory
    lists: PublishLists
    sender: Sender[Message, Question, Command, SendResult]
    async_sender: AsyncSender[Message, Question, Command, SendResult]
    detection: Detection


def live_producer(
    name_servers: Sequence[str],
    group: str,
    dialect: Dialect,
    settings: ProducerSettings,
    listener: Listener | None,
    tapes: Callable[[], Tape],
    access: Access = OPEN,
) -> LiveProducer:
    """Make a producer on a client of its own, whose background tasks are not started yet."""
    known = known_routes(dialect, settings.create_topic_key)
    client = live_client(name_servers, group, dialect, settings, known, access, _POOLS)
    host, remoting = client.host, client.remoting
    memory = ProducerMemory(dialect, settings, tapes)
    lists = PublishLists(memory, client.routes, _route_changed(listener))
    codec = FrameSendCodec(dialect, settings, group, access.credentials)
    sender = Sender(memory, host, lists, remoting, codec, HeardAttempts(listener), vip_address)
    workers = {
        AsyncThread.CALLBACKS: remoting.workers[CALLBACKS],
        AsyncThread.OWN: host.worker(AsyncThread.OWN),
    }
    client.memory.roles.append(lists)
    client.memory.producer_groups.append(group)
    detection = Detection(memory, host, client.routes.known, remoting, codec, vip_address)
    client.background.tasks.extend(detection.tasks())
    return LiveProducer(client, memory, lists, sender, AsyncSender(sender, workers), detection)


def _route_changed(listener: Listener | None) -> Callable[[str, int, PublishInfo], None] | None:
    if listener is None:
        return None

    def report(topic: str, version: int, info: PublishInfo) -> None:
        queues = tuple((queue.broker, queue.queue_id) for queue in info.queues)
        listener.route_changed(RouteChanged(topic, version, time.monotonic_ns(), queues))

    return report


class FrameSendCodec:
    """SendCodec of one producer, in the wire form of its dialect; with credentials every request is signed."""

    def __init__(
        self, dialect: Dialect, settings: ProducerSettings, group: str, credentials: Credentials | None = None
    ) -> None:
        self._credentials = credentials
        self._settings = settings
        self._requests = RequestMaker(
            dialect,
            group,
            settings.compress_msg_body_over_howmuch,
            settings.compress_level,
            settings.create_topic_key,
            settings.default_topic_queue_nums,
        )
        self._version = mq_version(dialect.releases.first)
        self._encoder = SendEncoder(settings.serialization, language=LanguageCode.PYTHON, version=self._version)

    def takes_time(self, message: Message) -> bool:
        """True for a message that is compressed: no batch, and a large enough body."""
        return self._requests.compresses(message)

    def compressed(self, message: Message) -> Compressed:
        return self._requests.compressed(message)

    def send(
        self, message: Message, broker: str, queue_id: int, compressed: Compressed | None, *, one_way: bool
    ) -> Question:
        request = self._requests.request(message, broker, queue_id, time.time_ns() // _NS_PER_MS, compressed)
        if self._credentials is None:
            return partial(self._encoder.encode, request, is_oneway=one_way)
        command = send_message(request, serialization=self._settings.serialization, version=self._version)
        return self._asked(replace(command, flag=ONEWAY_FLAG if one_way else 0))

    def result(self, message: Message, broker: str, answer: Command, address: str) -> SendResult:
        """
        Return the send result in a broker's answer.

        Raises MQBrokerException for an error answer, NullPointerException for one without a header.
        """
        if answer.code == ResponseCode.SUCCESS and not answer.ext_fields:
            raise NullPointerException("the answer has no header")
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

    def probe(self, topic: str) -> Question:
        return self._asked(requests.get_max_offset(topic, 0, serialization=self._settings.serialization))

    def is_reachable(self, answer: Command) -> bool:
        """True if the answer has an offset; for the detector a broker without the topic is unreachable."""
        try:
            parse_offset(answer)
        except RocketMQException:
            return False
        return True

    def _asked(self, command: Command) -> Question:
        return question_of(command, self._credentials)


class HeardAttempts:
    """Reports every attempt to a listener, if there is one."""

    def __init__(self, listener: Listener | None) -> None:
        self._listener = listener

    def begun(
        self,
        message: Message,
        number: int,
        broker: str,
        queue_id: int,
        _address: str | None,
        *,
        vip: bool,  # noqa: ARG002 - not part of the event
    ) -> AttemptStarted | None:
        if self._listener is None:
            return None
        event = AttemptStarted(message, number, broker, queue_id, time.monotonic_ns())
        self._listener.attempt_started(event)
        return event

    def requested(self, attempt: AttemptStarted | None, timeout_ms: int) -> None:
        """Do nothing: the event of the begin was enough."""

    def ended(
        self, attempt: AttemptStarted | None, outcome: SendResult | Failure | None, _answer: Command | None
    ) -> None:
        if self._listener is None or attempt is None:
            return
        self._listener.attempt_ended(
            AttemptEnded(
                attempt.message,
                attempt.attempt,
                attempt.broker,
                attempt.queue_id,
                attempt.start_ns,
                time.monotonic_ns(),
                outcome.status if isinstance(outcome, SendResult) else None,
                outcome if isinstance(outcome, FAILURES) else None,
            )
        )


def _message_id(message: Message) -> str:
    """Return the client's id; for a batch the ids of its messages, separated by commas (processSendResponse)."""
    if isinstance(message, MessageBatch):
        return ",".join(part.unique_key or "" for part in message.messages)
    return message.unique_key or ""
