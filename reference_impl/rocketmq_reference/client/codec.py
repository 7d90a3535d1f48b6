"""What the client says to servers and hears from them: made and read by the host's side, carried by a transport."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from rocketmq_reference.client.effects import Body, Running
from rocketmq_reference.client.memory import Thread
from rocketmq_reference.remoting.errors import IllegalStateException, NullPointerException, RocketMQException
from rocketmq_reference.rules.client.route import TopicRoute
from rocketmq_reference.rules.producer.attempt import AttemptResult

Failure = RocketMQException | IllegalStateException | NullPointerException
FAILURES = (RocketMQException, IllegalStateException, NullPointerException)
"""What may prevent a send or end an attempt: the client's exceptions, and Java's runtime exceptions that it meets."""


class Sendable(Protocol):
    """A message: what it says is the application's and the codec's business."""

    @property
    def topic(self) -> str: ...


class Sent(Protocol):
    """What an application gets for a message that a broker took."""

    @property
    def status(self) -> str: ...


M = TypeVar("M", bound=Sendable)
Q = TypeVar("Q")
A = TypeVar("A")
R = TypeVar("R", bound=Sent)
"""Messages, questions (requests not yet numbered), answers, results."""

M_contra = TypeVar("M_contra", bound=Sendable, contravariant=True)
Q_co = TypeVar("Q_co", covariant=True)
Q_contra = TypeVar("Q_contra", contravariant=True)
A_co = TypeVar("A_co", covariant=True)
A_contra = TypeVar("A_contra", contravariant=True)
R_co = TypeVar("R_co", bound=Sent, covariant=True)
R_contra = TypeVar("R_contra", bound=Sent, contravariant=True)


class Codec(Protocol[M_contra, Q_co, A_contra, R_co]):
    """Makes questions and reads answers."""

    def takes_time(self, message: M_contra) -> bool:
        """Whether making its request takes so long that others of the client should go on meanwhile."""
        ...

    def send(self, message: M_contra, broker: str, queue_id: int, *, one_way: bool) -> Q_co:
        """The request for a message that goes to a queue."""
        ...

    def result(self, message: M_contra, broker: str, answer: A_contra, address: str) -> R_co:
        """
        What a broker's answer says of a message.

        Raises MQBrokerException for an error answer, NullPointerException for one that answers something else.
        """
        ...

    def route(self, topic: str) -> Q_co:
        """Which route does a topic have?"""
        ...

    def read_route(self, topic: str, answer: A_contra) -> TopicRoute:
        """What a name server answered. Raises MQClientException with its code where that is no route."""
        ...

    def heartbeat(self) -> Q_co:
        """The client lives."""
        ...

    def unregister(self) -> Q_co:
        """The client goes."""
        ...

    def probe(self, topic: str) -> Q_co:
        """What is the largest offset of the topic's first queue? Asked to see whether the broker answers."""
        ...

    def is_reachable(self, answer: A_contra) -> bool:
        """Whether the answer to a probe is a proper one."""
        ...


@dataclass(frozen=True, slots=True)
class AsyncEnd:
    """
    How an asynchronous request ended: the answer or what failed it.

    direct: the failure came through no future. written_ms: when it was written, 0 if it was not.
    """

    answer: Any
    error: Failure | None
    written_ms: int
    direct: bool


OnEnd = Callable[[AsyncEnd, Thread], Body]
"""What the end of an asynchronous request leads to, in whatever thread that happens."""


class Transport(Protocol[Q_contra, A_co]):
    """Carries requests; times in milliseconds. All raise RemotingException where a request comes to nothing."""

    def invoke(self, address: str, timeout_ms: int, question: Q_contra, /) -> Running[A_co]:
        """Ask and wait for the answer."""
        ...

    def invoke_one_way(self, address: str, timeout_ms: int, question: Q_contra, /) -> Body:
        """Ask and wait for nothing but that the request is handed over."""
        ...

    def invoke_async(
        self, address: str, timeout_ms: int, question: Q_contra, on_end: OnEnd, thread: Thread, /, *, is_retry: bool
    ) -> Body:
        """Hand a request over whose end is told to on_end, but for what is raised here."""
        ...

    def reach(self, address: str, /) -> Body:
        """Make sure of a connection that nothing is sent on yet; whether there is one then, is_open tells."""
        ...

    def is_open(self, address: str, /) -> bool:
        """Whether the connection of an address can be used."""
        ...


class Attempts(Protocol[M_contra, A_contra, R_contra]):
    """Whoever is told of the attempts of sends."""

    def begun(
        self, message: M_contra, number: int, broker: str, queue_id: int, address: str | None, *, vip: bool
    ) -> Any:
        """An attempt is about to be made, at the address (None: a name server's); what is returned goes to the other two."""
        ...

    def requested(self, attempt: Any, timeout_ms: int) -> None:
        """Its request goes to the remoting client with so much time."""
        ...

    def ended(self, attempt: Any, outcome: R_contra | Failure | None, answer: A_contra | None) -> None:
        """It is over, by a result or what failed it, None for a one-way request; answer: what came back, if anything did."""
        ...


def attempt_result(outcome: Sent | Failure | None) -> AttemptResult:
    """As the rules are told of an attempt's end; None: a one-way request is written."""
    if outcome is None:
        return AttemptResult()
    if isinstance(outcome, FAILURES):
        return AttemptResult(error=type(outcome).__name__, code=code_of(outcome))
    return AttemptResult(status=outcome.status)


def code_of(error: BaseException) -> int | None:
    """Response code of an exception, None where Java leaves it at −1."""
    code: int | None = getattr(error, "code", None)
    return None if code == -1 else code
