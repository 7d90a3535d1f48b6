"""Requests to scripted servers and their responses, reduced to what a script can distinguish; nothing is encoded."""

from collections.abc import Sequence
from dataclasses import dataclass

from rocketdiff.simulation.virtual.requests import request_text
from rocketdiff.simulation.virtual.send_record import WRITTEN, End, SendRecord, VirtualAttempt
from rocketmq_reference.client.codec import FAILURES, Compressed, Failure, code_of
from rocketmq_reference.client.effects import Host
from rocketmq_reference.client.message import Message as Carried
from rocketmq_reference.client.send_request import RequestMaker
from rocketmq_reference.remoting.errors import (
    MQBrokerException,
    MQClientException,
    NullPointerException,
    RuntimeException,
)
from rocketmq_reference.rules.client.route import TopicRoute
from rocketmq_reference.rules.producer.attempt import SEND_OK, AttemptResult

TOPIC = "topic"
"""The name matters only for the order in which topics are polled."""

NAME_SERVER = "the name server"
_VIP = " at the port two below"
"""Broker names have no spaces, so neither value can be a broker's address."""

TOPIC_NOT_EXIST = 17

_STATUSES = {0: SEND_OK, 10: "FLUSH_DISK_TIMEOUT", 11: "SLAVE_NOT_AVAILABLE", 12: "FLUSH_SLAVE_TIMEOUT"}
"""Response codes that are send statuses; any other code is an error response."""

Question = int | str | None
"""A send request's queue id, a route request's topic, or None for any other request."""


@dataclass(frozen=True, slots=True)
class Message:
    """
    A message of a script, with the record of its send.

    carried: what it carries, if that matters. requests: makes the request that the answer shows, if any.
    """

    record: SendRecord
    topic: str = TOPIC
    carried: Carried | None = None
    requests: RequestMaker | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """
    A response.

    queue_id: that of the send request; None for any other request. route: the name server's route at the arrival of the
    response.
    """

    code: int
    queue_id: int | None = None
    route: TopicRoute | None = None


def status_of(code: int) -> str | None:
    """Return the send status that a response code is; None for an error."""
    return _STATUSES.get(code)


def is_send(question: object) -> bool:
    """True if the request sends a message."""
    return isinstance(question, int) or getattr(question, "sends", False)


def response_to(question: Question, code: int, route: TopicRoute | None) -> Answered:
    """
    Return the response with this code; route: the name server's route of the script's topic.

    The name server does not know the default topic. A route response can reach a send: up to 4.6.1 an asynchronous retry may
    get it.
    """
    if not isinstance(question, str):
        return Answered(code, question)
    known = route if question == TOPIC else None
    return Answered(TOPIC_NOT_EXIST if known is None and not code else code, route=known)


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a stored message."""

    status: str
    broker: str
    queue_id: int | None


def vip_address(broker: str) -> str:
    """Return the address of a broker's VIP port, two below its own."""
    return broker + _VIP


def broker_at(address: str) -> str:
    """Return the broker of an address, for either port."""
    return address.removesuffix(_VIP)


class ScriptCodec:
    """The codecs of client and producer for scripts."""

    __slots__ = ()

    def takes_time(self, _message: Message) -> bool:
        return False

    def compressed(self, _message: Message) -> Compressed:
        raise AssertionError("a message of a script has no body")

    def send(
        self,
        _message: Message,
        _broker: str,
        queue_id: int,
        _compressed: Compressed | None,
        *,
        one_way: bool,  # noqa: ARG002 - the same to a server
    ) -> Question:
        return queue_id

    def result(self, _message: Message, broker: str, answer: Answered, _address: str) -> Result:
        status = status_of(answer.code)
        if status is None:
            raise MQBrokerException(answer.code, None)
        if answer.code == 0 and answer.queue_id is None:
            raise NullPointerException
        return Result(status, broker, answer.queue_id)

    def route(self, topic: str) -> Question:
        return topic

    def read_route(self, _topic: str, answer: Answered) -> TopicRoute:
        if answer.code or answer.route is None:
            raise MQClientException("no route", answer.code)
        return answer.route

    def heartbeat(self, _producer_groups: Sequence[str], _consumers: Sequence[object]) -> Question:
        return None

    def unregister(self, _group: str) -> Question:
        return None

    unregister_consumer = unregister

    def probe(self, _topic: str) -> Question:
        return None

    def is_reachable(self, answer: Answered) -> bool:
        return answer.code == 0


class AttemptRecorder:
    """Records the attempts of a send whose request reached the remoting client."""

    __slots__ = ("_host",)

    def __init__(self, host: Host) -> None:
        self._host = host

    def begun(
        self, message: Message, _number: int, broker: str, queue_id: int, address: str | None, *, vip: bool
    ) -> tuple[SendRecord, VirtualAttempt]:
        request = None
        maker, carried = message.requests, message.carried
        if maker is not None and carried is not None:
            compressed = maker.compressed(carried) if maker.compresses(carried) else None
            request = request_text(maker.request(carried, broker, queue_id, 0, compressed))
        return message.record, VirtualAttempt(address, queue_id, 0, 0, vip, request=request)

    def requested(self, noted: tuple[SendRecord, VirtualAttempt], timeout_ms: int) -> None:
        record, attempt = noted
        attempt.timeout_ms, attempt.began_ms = timeout_ms, self._host.now_ms
        record.attempts.append(attempt)

    def ended(
        self, noted: tuple[SendRecord, VirtualAttempt], outcome: Result | Failure | None, answer: Answered | None
    ) -> None:
        """The response code takes precedence over the outcome, because the sender cannot decode every response."""
        _, attempt = noted
        now_ms = self._host.now_ms
        if answer is not None:
            status = _STATUSES.get(answer.code)
            result = AttemptResult.ok(status) if status else AttemptResult.failed("MQBrokerException", answer.code)
            attempt.ended(now_ms, result)
        elif isinstance(outcome, FAILURES):
            attempt.ended(now_ms, AttemptResult.failed(type(outcome).__name__, code_of(outcome)))
        else:
            attempt.end(now_ms, WRITTEN)


def end_of(outcome: Result | Failure | RuntimeException | None) -> End:
    """Return the application's view of a send; outcome None: a one-way request was written."""
    if outcome is None:
        return End("ok")
    if isinstance(outcome, (*FAILURES, RuntimeException)):
        cause = None if outcome.__cause__ is None else type(outcome.__cause__).__name__
        return End("exception", exception=type(outcome).__name__, code=code_of(outcome), cause=cause)
    return End("ok", outcome.status, outcome.broker, outcome.queue_id)
