"""What a producer tells whoever listens: attempts and changed routes, in the thread they happen in."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from rocketmq_reference.application.message import Message
from rocketmq_reference.remoting.answers import SendStatus


class AttemptStarted(NamedTuple):  # two events are made for every send, and tuples are made fastest
    """
    A request is about to be sent; ``attempt`` counts from 0 within the call. Times on the monotonic clock.

    broker and queue_id are what the queue says now; to 5.1.3 another thread may rewrite it during the attempt.
    """

    message: Message
    attempt: int
    broker: str
    queue_id: int
    start_ns: int


class AttemptEnded(NamedTuple):
    """
    The attempt is over: a status, or the exception that the send loop got.

    An attempt for whose broker no address is known is none: it is neither started nor ended, as for Java's
    SendMessageHook.
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

    A new list means new counters in every thread, even where its queues are the old ones.
    """

    topic: str
    route: int
    at_ns: int
    queues: tuple[tuple[str, int], ...]


class Listener(Protocol):
    """
    Whoever wants to know. An exception from it goes through to the caller of the producer.

    It is called while nothing else of the client runs, so it must be quick and must not call the producer.
    """

    def attempt_started(self, event: AttemptStarted) -> None:
        """Called in the sending thread, before the request is encoded."""
        ...

    def attempt_ended(self, event: AttemptEnded) -> None:
        """Called in the sending thread, before the send loop decides."""
        ...

    def route_changed(self, event: RouteChanged) -> None:
        """Called in the thread that asked the name server."""
        ...
