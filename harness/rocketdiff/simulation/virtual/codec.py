"""What the client says to scripted servers and hears from them: no bytes, but what a script can tell apart."""

from dataclasses import dataclass

from rocketdiff.simulation.virtual.book import WRITTEN, Attempt, Book, End
from rocketmq_reference.client.codec import FAILURES, Failure, code_of
from rocketmq_reference.client.effects import Host
from rocketmq_reference.remoting.errors import MQBrokerException, MQClientException, NullPointerException
from rocketmq_reference.rules.client.route import TopicRoute
from rocketmq_reference.rules.producer.attempt import SEND_OK, AttemptResult

TOPIC = "topic"
"""Its name matters only for the order in which topics are polled."""

NAME_SERVER = "the name server"
_VIP = " at the port two below"
"""Names of brokers have no spaces, so these are addresses of nobody else."""

TOPIC_NOT_EXIST = 17

_STATUSES = {0: SEND_OK, 10: "FLUSH_DISK_TIMEOUT", 11: "SLAVE_NOT_AVAILABLE", 12: "FLUSH_SLAVE_TIMEOUT"}
"""Response codes that are send statuses; any other is an error the broker answered."""

Question = int | None
"""The queue that a send request goes to; None for any other request."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a script has nothing but the book of its send."""

    book: Book
    topic: str = TOPIC


@dataclass(frozen=True, slots=True)
class Answered:
    """
    An answer: its code, and the queue that a send's answer names, which is that of the request it answers.

    queue_id None: no send was asked. route: what the name server knew when it arrived.
    """

    code: int
    queue_id: int | None
    route: TopicRoute | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """A message that a broker took."""

    status: str
    broker: str
    queue_id: int | None


def vip_address(broker: str) -> str:
    """Address of the port two below a broker's."""
    return broker + _VIP


def broker_at(address: str) -> str:
    """The broker of an address, whichever port it is."""
    return address.removesuffix(_VIP)


class ScriptCodec:
    """Questions and answers of a script."""

    __slots__ = ()

    def takes_time(self, _message: Message) -> bool:
        return False

    def send(self, _message: Message, _broker: str, queue_id: int, *, one_way: bool) -> Question:  # noqa: ARG002 - the same to a server
        return queue_id

    def result(self, _message: Message, broker: str, answer: Answered, _address: str) -> Result:
        status = _STATUSES.get(answer.code)
        if status is None:
            raise MQBrokerException(answer.code, None)
        if answer.code == 0 and answer.queue_id is None:
            raise NullPointerException
        return Result(status, broker, answer.queue_id)

    def route(self, _topic: str) -> Question:
        return None

    def read_route(self, topic: str, answer: Answered) -> TopicRoute:
        """The name server never knows the stand-in topic."""
        if answer.code or answer.queue_id is not None:
            raise MQClientException("no route", answer.code)
        if answer.route is None or topic != TOPIC:
            raise MQClientException("no route", TOPIC_NOT_EXIST)
        return answer.route

    def heartbeat(self) -> Question:
        return None

    def unregister(self) -> Question:
        return None

    def probe(self, _topic: str) -> Question:
        return None

    def is_reachable(self, answer: Answered) -> bool:
        return answer.code == 0


class NotedAttempts:
    """Writes the attempts of a send into its book: those whose request went to the remoting client."""

    __slots__ = ("_host",)

    def __init__(self, host: Host) -> None:
        self._host = host

    def begun(
        self, message: Message, _number: int, _broker: str, queue_id: int, address: str | None, *, vip: bool
    ) -> tuple[Book, Attempt]:
        return message.book, Attempt(address, queue_id, 0, 0, vip)

    def requested(self, noted: tuple[Book, Attempt], timeout_ms: int) -> None:
        book, attempt = noted
        attempt.timeout_ms, attempt.began_ms = timeout_ms, self._host.now_ms
        book.attempts.append(attempt)

    def ended(self, noted: tuple[Book, Attempt], outcome: Result | Failure | None, answer: Answered | None) -> None:
        """What its answer's code alone says goes before what the sender makes of it, who cannot read every answer."""
        _, attempt = noted
        now_ms = self._host.now_ms
        if answer is not None:
            status = _STATUSES.get(answer.code)
            said = (
                AttemptResult.failed("MQBrokerException", answer.code) if status is None else AttemptResult.ok(status)
            )
            attempt.ended(now_ms, said)
        elif isinstance(outcome, FAILURES):
            attempt.ended(now_ms, AttemptResult.failed(type(outcome).__name__, code_of(outcome)))
        else:
            attempt.end(now_ms, WRITTEN)


def end_of(told: Result | Failure | None) -> End:
    """What the application sees of a send; None: a one-way request is written."""
    if told is None:
        return End("ok")
    if isinstance(told, FAILURES):
        cause = None if told.__cause__ is None else type(told.__cause__).__name__
        return End("exception", exception=type(told).__name__, code=code_of(told), cause=cause)
    return End("ok", told.status, told.broker, told.queue_id)
