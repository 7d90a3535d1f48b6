"""Events of a producer for a listener: attempts and changed routes, in the thread where they happen."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from rocketmq_reference.client.message import Message
from rocketmq_reference.remoting.answers import SendStatus


class AttemptStarted(NamedTuple):  # every send makes two events; tuples are the fastest to create
    """
    A request is about to be sent; ``attempt`` counts from 0 within the call. Times are of the monotonic clock.

    broker and queue_id are those of the queue now; up to 5.1.3 another thread may rewrite it during the attempt.
    """

    message: Message
    attempt: int
    broker: str
    queue_id: int
    start_ns: int


class AttemptEnded(NamedTuple):
    """
    The attempt is over: a status, or the exception that the send loop got.

    An attempt without a known broker address has no events, as for Java's SendMessageHook.
    """

    message: Message
    attempt: int
    broker: str
    queue_id: int
    start_ns: int
    end_ns: int
    status: SendStatus | None
    error: Exception | None


@dataclass(frozen=True, slots=True)
class RouteChanged:
    """
    A topic has a new publish list; ``route`` counts from 1.

    A new list has new counters in every thread, even if its queues are the same.
    """

    topic: str
    route: int
    at_ns: int
    queues: tuple[tuple[str, int], ...]


class Listener(Protocol):
    """
    Listener of a producer. An exception from it reaches the caller of the producer.

    It is called while nothing else of the client runs, so it must be fast and must not call the producer.
    """

    def attempt_started(self, event: AttemptStarted) -> None:
        """Called in the sending thread, before the request is encoded."""
        ...

    def attempt_ended(self, event: AttemptEnded) -> None:
        """Called in the sending thread, before the send loop decides."""
        ...

    def route_changed(self, event: RouteChanged) -> None:
        """Called in the thread that fetched the route."""
        ...
