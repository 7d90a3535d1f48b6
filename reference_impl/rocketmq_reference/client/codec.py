"""Interfaces for making requests, reading answers and carrying both; the host's side implements them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from rocketmq_reference.client.effects import Body, Running
from rocketmq_reference.client.memory import Thread
from rocketmq_reference.remoting.consuming import ConsumerGroup
from rocketmq_reference.remoting.errors import IllegalStateException, NullPointerException, RocketMQException
from rocketmq_reference.rules.client.route import TopicRoute
from rocketmq_reference.rules.producer.attempt import AttemptResult

Failure = RocketMQException | IllegalStateException | NullPointerException
FAILURES = (RocketMQException, IllegalStateException, NullPointerException)
"""Exceptions that may prevent a send or end an attempt: the client's, and the Java runtime exceptions it meets."""


class Sendable(Protocol):
    """A message; only the application and the codec know its content."""

    @property
    def topic(self) -> str: ...


class Sent(Protocol):
    """Result for a message that a broker accepted."""

    @property
    def status(self) -> str: ...


Compressed = tuple[bytes, int]
"""A compressed body and the system flag that says so."""

Msg = TypeVar("Msg", bound=Sendable)
Request = TypeVar("Request")
Answer = TypeVar("Answer")
Result = TypeVar("Result", bound=Sent)
"""Type variables: message; request as the codec makes it, without a number; answer; result."""

Msg_contra = TypeVar("Msg_contra", bound=Sendable, contravariant=True)
Request_co = TypeVar("Request_co", covariant=True)
Request_contra = TypeVar("Request_contra", contravariant=True)
Answer_co = TypeVar("Answer_co", covariant=True)
Answer_contra = TypeVar("Answer_contra", contravariant=True)
Result_co = TypeVar("Result_co", bound=Sent, covariant=True)
Result_contra = TypeVar("Result_contra", bound=Sent, contravariant=True)


class ClientCodec(Protocol[Request_co, Answer_contra]):
    """Makes the requests of every client and reads their answers."""

    def route(self, topic: str) -> Request_co:
        """Make a request for a topic's route."""
        ...

    def read_route(self, topic: str, answer: Answer_contra) -> TopicRoute:
        """Return the route in a name server's answer. Raises MQClientException with the answer's code if it has none."""
        ...

    def heartbeat(self, producer_groups: Sequence[str], consumers: Sequence[ConsumerGroup]) -> Request_co:
        """Make a heartbeat of a client with these groups."""
        ...

    def unregister(self, producer_group: str) -> Request_co: ...

    def unregister_consumer(self, group: str) -> Request_co: ...


class SendCodec(Protocol[Msg_contra, Request_co, Answer_contra, Result_co]):
    """Makes the requests of a producer and reads their answers."""

    def takes_time(self, message: Msg_contra) -> bool:
        """True if compressing takes so long that other threads of the client should run meanwhile."""
        ...

    def compressed(self, message: Msg_contra) -> Compressed:
        """Compress a message, before the hooks see it and its request is made (tryToCompressMessage)."""
        ...

    def send(
        self, message: Msg_contra, broker: str, queue_id: int, compressed: Compressed | None, *, one_way: bool
    ) -> Request_co:
        """Make the request that sends a message to a queue; compressed: None if it takes no time to compress."""
        ...

    def result(self, message: Msg_contra, broker: str, answer: Answer_contra, address: str) -> Result_co:
        """
        Return the send result in a broker's answer.

        Raises MQBrokerException for an error answer, NullPointerException for the answer to another kind of request.
        """
        ...

    def probe(self, topic: str) -> Request_co:
        """Make a probe of a broker: a request for the maximum offset of the topic's first queue."""
        ...

    def is_reachable(self, answer: Answer_contra) -> bool:
        """True if the answer to a probe is valid."""
        ...


@dataclass(frozen=True, slots=True)
class AsyncEnd:
    """
    End of an asynchronous request: its answer or its failure.

    direct: no future was between the failure and the callback. written_ms: time of the write, 0 if it was not written.
    """

    answer: Any
    error: Failure | None
    written_ms: int
    direct: bool


OnEnd = Callable[[AsyncEnd, Thread], Body]
"""Called at the end of an asynchronous request, with the thread in which it ends."""


class Transport(Protocol[Request_contra, Answer_co]):
    """Carries requests; times in milliseconds. All methods raise RemotingException for a request that fails."""

    def invoke(self, address: str, timeout_ms: int, question: Request_contra, /) -> Running[Answer_co]:
        """Send a request and wait for the answer."""
        ...

    def invoke_one_way(self, address: str, timeout_ms: int, question: Request_contra, /) -> Body:
        """Send a request without an answer."""
        ...

    def invoke_async(
        self,
        address: str,
        timeout_ms: int,
        question: Request_contra,
        on_end: OnEnd,
        thread: Thread,
        /,
        *,
        is_retry: bool,
    ) -> Body:
        """Send a request; on_end gets its end unless this raises."""
        ...

    def reach(self, address: str, /) -> Body:
        """Connect without sending anything; is_open tells whether it succeeded."""
        ...

    def is_open(self, address: str, /) -> bool: ...


class Attempts(Protocol[Msg_contra, Answer_contra, Result_contra]):
    """Observer of the attempts of sends."""

    def begun(
        self, message: Msg_contra, number: int, broker: str, queue_id: int, address: str | None, *, vip: bool
    ) -> Any:
        """Record the begin of an attempt at an address (None: a name server's); the return value identifies it below."""
        ...

    def requested(self, attempt: Any, timeout_ms: int) -> None: ...

    def ended(self, attempt: Any, outcome: Result_contra | Failure | None, answer: Answer_contra | None) -> None:
        """Record its end: a result or failure, None for a one-way request; answer: the broker's answer, if any."""
        ...


def attempt_result(outcome: Sent | Failure | None) -> AttemptResult:
    """Return the end of an attempt as the rules take it; None: a one-way request was written."""
    if outcome is None:
        return AttemptResult()
    if isinstance(outcome, FAILURES):
        return AttemptResult(error=type(outcome).__name__, code=code_of(outcome))
    return AttemptResult(status=outcome.status)


def code_of(error: BaseException) -> int | None:
    """Return the response code of an exception, None where Java leaves it at −1."""
    code: int | None = getattr(error, "code", None)
    return None if code == -1 else code
