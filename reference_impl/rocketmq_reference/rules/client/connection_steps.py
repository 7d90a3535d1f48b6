"""Connections and requests of a client, and the steps that the connection rules return."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple


class Kind(StrEnum):
    """
    How the caller learns of the answer: it waits, is called back, or never learns (invokeSync, invokeAsync, invokeOneway).

    NOTHING: only connect; the result of the connect is not reported.
    """

    SYNC = "sync"
    ASYNC = "async"
    ONE_WAY = "one-way"
    NOTHING = "nothing"


class State(StrEnum):
    """State of a connection; CLOSED also if the connect failed."""

    CONNECTING = "connecting"
    OPEN = "open"
    CLOSED = "closed"


class Place(StrEnum):
    """
    Where the end of a request is reported.

    CALLER: in the calling thread, which returns or throws. WAKE: the current thread wakes the waiting one. CALLBACKS: a job of
    the callback pool wakes the thread of a synchronous request or runs the callback of an asynchronous one. HERE: at once in
    the current thread, which is an event loop or callback thread.
    """

    CALLER = "caller"
    WAKE = "wake"
    CALLBACKS = "callbacks"
    HERE = "here"


@dataclass(slots=True, eq=False)
class Connection:
    """
    One connection to one address.

    came_about: it was open at least once. has_handlers: a close still runs its handlers, which outlive a close by one event.
    slot: its table entry, None after removal. waiting: requests that wait for the connect. channel: its socket, if there is one.
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
    """Table entry of an address (ChannelWrapper); reconnected_ms: time of its last reconnect after GO_AWAY."""

    connection: Connection
    reconnected_ms: int | None = None


@dataclass(slots=True, eq=False)
class Request:
    """
    One request. Its number (opaque) identifies its response. Times are milliseconds.

    connection: the one to write it on; made_on: the one the caller knows. left_ms: time left at its first write, written_ms.
    redirected: moved to another connection by GO_AWAY. is_over: its caller no longer waits. call: data of the code that carries
    out the steps.
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


# Steps are tuples because every request makes several, and tuples are the fastest to create.


class Connect(NamedTuple):
    """Connect, and report the result (connected or connect_failed)."""

    connection: Connection


class Wait(NamedTuple):
    """Block this thread until a GoOn for its request."""

    request: Request


class GoOn(NamedTuple):
    """
    Continue a request after its connect succeeded or failed (Connections.go_on).

    waking: in the thread that waits for it. Otherwise in the event loop: at once if this thread is it, else as a job there.
    """

    request: Request
    waking: bool


class Write(NamedTuple):
    """Write the request; the thread of a synchronous one then waits at most left_ms."""

    request: Request
    left_ms: int


class Redirect(NamedTuple):
    """Apply GO_AWAY to the request in a job of the callback pool (Connections.redirect)."""

    request: Request


class Close(NamedTuple):
    """Close the connection from this side."""

    connection: Connection


class Noted(NamedTuple):
    """
    Notify the thread that sends heartbeats on new connections (from 5.2.0) that one has ended.

    The thread does nothing for it, but it wakes up and so may greet another connection earlier.
    """

    connection: Connection


class Ended(NamedTuple):
    """
    The request is over: answered (error None), or failed with an exception of that simple class name.

    direct: the failure of an asynchronous request reached its callback without a future in between. cause: exception wrapped
    by that of a synchronous request.
    """

    request: Request
    error: str | None
    place: Place
    direct: bool = False
    cause: str | None = None


ConnectionStep = Connect | Wait | GoOn | Write | Redirect | Close | Noted | Ended
Steps = tuple[ConnectionStep, ...]
