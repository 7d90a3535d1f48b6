"""Connections and requests as the client sees them, and what its connection rules ask to be done with them."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple


class Kind(StrEnum):
    """
    Whether the caller waits for the answer, is called back, or never hears of it (invokeSync, invokeAsync, invokeOneway).

    NOTHING: only the connection is wanted; whoever asks is never told whether it came about.
    """

    SYNC = "sync"
    ASYNC = "async"
    ONE_WAY = "one-way"
    NOTHING = "nothing"


class State(StrEnum):
    """Of a connection; CLOSED also if it never came about."""

    CONNECTING = "connecting"
    OPEN = "open"
    CLOSED = "closed"


class Place(StrEnum):
    """
    Where the end of a request is told.

    CALLER: in the thread that makes the call, which returns or throws. WAKE: its waiting thread is woken, from whatever
    thread this happens in. CALLBACKS: in a job of the callback pool, which then wakes the thread of a synchronous request
    and calls back for an asynchronous one. HERE: at once, in the thread this happens in, which is that of the event loop
    or of a callback.
    """

    CALLER = "caller"
    WAKE = "wake"
    CALLBACKS = "callbacks"
    HERE = "here"


@dataclass(slots=True, eq=False)
class Connection:
    """
    One connection to one address.

    slot: the table's entry it is known under, None once it is forgotten. has_handlers: closing it still goes through its
    handlers, which outlive a close by a moment. channel: its socket, where the steps are carried out on one.
    """

    address: str
    state: State = State.CONNECTING
    came_about: bool = False
    has_handlers: bool = True
    slot: "Slot | None" = None
    waiting: "list[Request]" = field(default_factory=list)
    channel: Any = None


@dataclass(slots=True, eq=False)
class Slot:
    """The table's entry for an address (ChannelWrapper); reconnected_ms: when GO_AWAY last made it connect anew."""

    connection: Connection
    reconnected_ms: int | None = None


@dataclass(slots=True, eq=False)
class Request:
    """
    One request; its number tells its age, and is what its answer is known by. Milliseconds.

    connection: where it is written, or to be written; made_on: the one the caller knows. left_ms: what it had left when it
    was first written, at written_ms. redirected: GO_AWAY sent it elsewhere. is_over: its caller waits no more. call: what
    belongs to it where the steps are carried out.
    """

    number: int
    kind: Kind
    timeout_ms: int
    began_ms: int
    connection: Connection
    made_on: Connection
    left_ms: int = 0
    written_ms: int = 0
    redirected: bool = False
    is_over: bool = False
    call: Any = None


# The steps are tuples, because several are made for every request, and tuples are made fastest.


class Connect(NamedTuple):
    """Ask for the connection, and tell how that ended."""

    connection: Connection


class Wait(NamedTuple):
    """This thread waits until there is a GoOn for its request."""

    request: Request


class GoOn(NamedTuple):
    """
    Go on with a request whose connection has been settled.

    waking: in the thread that waits for it. Otherwise in the event loop: at once if this is it, else as a job there.
    """

    request: Request
    waking: bool


class Write(NamedTuple):
    """The request goes out; a synchronous one's thread now waits left_ms at most."""

    request: Request
    left_ms: int


class Redirect(NamedTuple):
    """In a job of the callback pool: see what GO_AWAY does to the request."""

    request: Request


class Close(NamedTuple):
    """Close the connection from this side."""

    connection: Connection


class Noted(NamedTuple):
    """
    The thread that greets new connections (from 5.2.0) is told of the end of one.

    It has nothing to do with it but wakes up, and so may greet another one earlier.
    """

    connection: Connection


class Ended(NamedTuple):
    """
    The request is over: answered, or failed with an exception of that simple class name.

    direct: of an asynchronous request, that no future stood between the failure and its callback. cause: of a
    synchronous one, what the exception wraps.
    """

    request: Request
    error: str | None
    place: Place
    direct: bool = False
    cause: str | None = None


ConnectionStep = Connect | Wait | GoOn | Write | Redirect | Close | Noted | Ended
Steps = tuple[ConnectionStep, ...]
