"""
The connections of one client and the requests pending on them, as a state machine (NettyRemotingClient, generations N1–N10).

Theory of operation. Each method is an event and returns steps, in the order in which Java performs them.
`rocketmq_reference.client.remoting` carries the steps out; it owns the threads, and its network owns the sockets. No other
event may come between an event and its steps. Times are milliseconds of one clock. Each address has one table entry, and each
entry one connection, created on demand. A response is matched to its request by the request number (opaque) alone, whatever
connection it arrives on.

What happens to a connection depends on its state; TRANSITIONS is this table, and the docstrings of its handlers are the
last column (a test compares them):

| Connection | Event | What follows |
|---|---|---|
| CLOSED | invoked | CONNECTING, in a new connection: Connect; a blocking caller also: Wait. |
| CONNECTING | invoked | The request joins the waiting requests; a blocking caller: Wait. |
| OPEN | invoked | As went_on; from 5.3.0, for a non-blocking caller, through the event loop: GoOn. |
| CONNECTING | connected | OPEN; the waiting requests go on in order of arrival: GoOn. |
| CONNECTING | connect_failed | CLOSED; the waiting requests go on, and end: GoOn. |
| CONNECTING | went_on | The request ends in RemotingConnectException; others may still wait for the connection. |
| OPEN | went_on | The request is pending: Write; it ends if connecting took its time. |
| CLOSED | went_on | The request ends in RemotingConnectException; the connection may be closed (close). |
| CONNECTING | went_on_again | The request ends in RemotingConnectException; in 5.2.0 the GO_AWAY answer is returned. |
| OPEN | went_on_again | Write, unless its time is over. |
| CLOSED | went_on_again | The request ends in RemotingConnectException; in 5.2.0 the GO_AWAY answer is returned. |
| CONNECTING | peer_closed | Nothing. |
| OPEN | peer_closed | CLOSED; on a reset, or if the release reacts to FIN: the entry is removed and pending requests fail. |
| CLOSED | peer_closed | Nothing. |
| CONNECTING | close | Nothing; from 5.2.0 its handlers, while they live, note the close: Noted. |
| OPEN | close | CLOSED: Close; pending requests fail if the release fails fast. |
| CLOSED | close | Nothing; from 5.2.0 its handlers, while they live, note the close: Noted. |

The other events concern a request, whatever the state of its connection:

| Event | What follows |
|---|---|
| answered | the request ends: Ended; GO_AWAY from 5.2.0: Redirect, then redirect reconnects and writes again |
| wait_expired, woken | the thread of a synchronous request continues; a failure may close the connection (close) |
| write_failed | the request ends, unless the loss of its connection has ended it already |
| idle, close_all | close, of one connection and of all open ones |
| scan | requests whose timeout passed EXPIRY_GRACE_MS ago end |

| Request | Where it ends (Place) |
|---|---|
| not yet written | in the call; from 5.3.0, unless synchronous, in the event loop |
| synchronous, answered or lost | its thread is woken; from 5.2.0 by a job of the callback pool |
| synchronous, timed out | in its thread; from 5.2.0 it stays pending although its caller has gone |
| asynchronous | in a job of the callback pool |

A connection that lost its entry to another one stays open until it is closed explicitly; LateClose states what that close may
do to the other one. Read in NettyRemotingClient, NettyRemotingAbstract and ResponseFuture of every release.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import ClassVar

from rocketmq_reference.rules.client.connection_steps import (
    Close,
    Connect,
    Connection,
    Ended,
    GoOn,
    Kind,
    Noted,
    Place,
    Redirect,
    Request,
    Slot,
    State,
    Steps,
    Wait,
    Write,
)
from rocketmq_reference.rules.client.connection_table import ConnectionTable
from rocketmq_reference.rules.client.pending_requests import PendingRequests
from rocketmq_reference.rules.client.remoting_rules import GoAway, RemotingRules

GO_AWAY = 1500
_NO_COMMAND = -1
_RECONNECT_INTERVAL_MS = 60_000  # maxReconnectIntervalTimeSeconds, 5.2.0 and 5.3.0

_REFUSED, _LOST = "RemotingConnectException", "RemotingSendRequestException"
_EXPIRED, _TOO_LATE = "RemotingTimeoutException", "RemotingTooMuchRequestException"


class Event(StrEnum):
    """
    What happens to a connection.

    INVOKED: a request needs it. WENT_ON: a request goes on after the connect, whatever came of it. WENT_ON_AGAIN: the same for a
    request that GO_AWAY moved to this connection. CLOSED_HERE: the client gives it up.
    """

    INVOKED = "invoked"
    CONNECTED = "connected"
    CONNECT_FAILED = "connect_failed"
    WENT_ON = "went_on"
    WENT_ON_AGAIN = "went_on_again"
    PEER_CLOSED = "peer_closed"
    CLOSED_HERE = "close"


Handler = Callable[..., Steps]
"""Carries out a transition of a connection, or of a request on it; handlers of one event have the same parameters."""


class Connections:
    """
    All connections of one client.

    Requests of every purpose share them, so the timeout of a heartbeat can fail the sends on its connection.
    """

    def __init__(self, rules: RemotingRules) -> None:
        self.rules = rules
        self._table = ConnectionTable(rules.late_close)
        self._pending = PendingRequests(rules)

    def current(self, address: str) -> Connection | None:
        return self._table.current(address)

    def has_unattended(self, connection: Connection) -> bool:
        """True if a pending request on the connection has no waiting thread that would read the response itself."""
        return self._pending.has_unattended(connection)

    def close_all(self) -> Steps:
        """Close every open connection from this side (NettyRemotingClient.shutdown)."""
        return tuple(step for connection in self._table.opened() for step in self._close(connection))

    def open_to(self, address: str) -> int:
        return self._table.open_to(address)

    def invoke(
        self, kind: Kind, address: str, timeout_ms: int, now_ms: int, *, is_retry: bool = False
    ) -> tuple[Request, Steps]:
        """Create a request to an address, and connect first if necessary; is_retry: a repeated asynchronous request."""
        connection, is_new = self._table.reach(address)
        # The number is taken when the command is made, before the connection is known to be usable.
        number = _NO_COMMAND if kind is Kind.NOTHING else self._pending.number(is_retry=is_retry)
        request = Request(number, kind, timeout_ms, now_ms, connection, connection)
        state = State.CLOSED if is_new else connection.state
        return request, _TRANSITIONS[state, Event.INVOKED](self, request, now_ms)

    def connected(self, connection: Connection) -> Steps:
        return _TRANSITIONS[connection.state, Event.CONNECTED](self, connection)

    def connect_failed(self, connection: Connection) -> Steps:
        """Record that the connect was refused, or unanswered for CONNECT_TIMEOUT_MS."""
        return _TRANSITIONS[connection.state, Event.CONNECT_FAILED](self, connection)

    def go_on(self, request: Request, now_ms: int) -> Steps:
        """Write the request, or end it if its connection is not open or no time is left."""
        if request.kind is Kind.NOTHING:
            return (Ended(request, None, Place.CALLER),)
        event = Event.WENT_ON_AGAIN if request.redirected else Event.WENT_ON
        return _TRANSITIONS[request.connection.state, event](self, request, now_ms)

    def addressee(self, number: int) -> Request | None:
        """Return the pending request that a response of this number would be matched to now, or None."""
        return self._pending.known_as(number)

    def answered(self, number: int, code: int = 0) -> Steps:
        """
        Match a response to its request and end or redirect the request; a late response has no further effect.

        The number alone identifies the request, so up to 4.6.1 a response can be matched to a wrong one (see addressee).
        """
        # Every response takes a number, as any command does, even if no request waits for it.
        self._pending.number()
        request = self._pending.take(number)
        if request is None:
            return ()
        if code == GO_AWAY and self.rules.go_away is not GoAway.NOTHING:
            if not request.redirected:
                # Not pending until it is written again: no scan can end it meanwhile.
                return (Redirect(request),)
            # A second GO_AWAY is not redirected again: it is lost from 5.3.2, before that returned as an answer.
            if self.rules.go_away is GoAway.FAILS:
                return self._end(request, _LOST)
        return self._end(request, None)

    def write_failed(self, request: Request) -> Steps:
        """End a request whose write failed because its connection was just lost (invokeSyncImpl's listener)."""
        # No longer pending: the loss of the connection has ended it already.
        return () if self._pending.take(request.number) is None else self._end(request, _LOST)

    def redirect(self, request: Request, now_ms: int) -> Steps:
        """
        React to GO_AWAY: reconnect, unless another request has done so, and write the request on the new connection.

        If it may not reconnect or the table entry is gone, the GO_AWAY answer is returned or (FAILS) the request is lost.
        """
        # The slot and not the address leads to the new connection. Up to 5.3.3 a connection that was removed from the
        # table has no slot; from 5.4.0 it keeps one, and is reconnected beside the connection that took its place.
        slot = request.connection.slot
        steps: Steps = ()
        if slot is not None and self._may_reconnect(slot, request.connection, now_ms):
            slot.connection = Connection(request.connection.address, slot=slot)
            slot.reconnected_ms = now_ms
            steps = (Connect(slot.connection),)
        if slot is None or slot.connection is request.connection:
            error = _LOST if self.rules.go_away is GoAway.FAILS else None
            return self._end(request, error, Place.HERE)
        # Another request may have reconnected first; this one then uses that connection.
        request.redirected = True
        request.number = self._pending.number()
        request.connection = slot.connection
        if slot.connection.state is State.CONNECTING:
            slot.connection.waiting.append(request)
            # In 5.2.0 the callback thread blocks until connected; from 5.3.0 the event loop continues the request.
            return (*steps, *(() if self.rules.connects_in_background else (Wait(request),)))
        if self.rules.go_away is GoAway.FAILS:
            return (*steps, GoOn(request, waking=False))
        return (*steps, *self.go_on(request, now_ms))

    def wait_expired(self, request: Request) -> Steps:
        """
        Time out a synchronous request, which may close its connection.

        From 5.2.0 on the request stays pending although its caller has gone. Its answer may even have arrived, but not yet have
        passed the callback pool.
        """
        request.is_over = True
        if not self.rules.futures:
            # invokeSyncImpl removes by number. Up to 4.6.1 that may be a retry that took this number: the retry then
            # never ends.
            self._pending.take(request.number)
        closing = self.rules.closes_connection(request.timeout_ms, request.left_ms)
        steps = self._give_up(request.made_on) if closing else ()
        return (*steps, Ended(request, _EXPIRED, Place.CALLER))

    def woken(self, request: Request, *, failed: bool) -> Steps:
        """
        Continue the thread of a synchronous request; after an error it closes the connection.

        By then that connection may be closed and replaced: see LateClose. Up to 5.1.4 the thread also removes its request once
        more, or the request that has the same number by now.
        """
        if not self.rules.futures:
            self._pending.take(request.number)
        return self._give_up(request.made_on) if failed else ()

    def peer_closed(self, connection: Connection, *, reset: bool) -> Steps:
        """
        Handle a close (FIN) or reset by the peer.

        Up to 5.1.2 a client ignores a FIN until it needs the connection again.
        """
        return _TRANSITIONS[connection.state, Event.PEER_CLOSED](self, connection, reset=reset)

    def taken_down(self, connection: Connection) -> None:
        """Remove the connection's handlers; the event after its close."""
        connection.has_handlers = False

    def idle(self, connection: Connection) -> Steps:
        """Close a connection without traffic for IDLE_MS, unless another one has taken its entry."""
        return self._close(connection) if self._table.is_known(connection) else ()

    def scan(self, now_ms: int) -> Steps:
        """End the requests whose timeout passed EXPIRY_GRACE_MS ago; runs at the rules' ScanTimes."""
        expired = self._pending.take_expired(now_ms)
        return tuple(step for request in expired for step in self._end(request, _EXPIRED))

    def _connect(self, request: Request, now_ms: int) -> Steps:
        """CONNECTING, in a new connection: Connect; a blocking caller also: Wait."""
        return (Connect(request.connection), *self._join(request, now_ms))

    def _join(self, request: Request, _now_ms: int) -> Steps:
        """The request joins the waiting requests; a blocking caller: Wait."""
        # One connect serves all requests that arrive while it is under way.
        request.connection.waiting.append(request)
        return () if self.rules.leaves_to_event_loop(request.kind) else (Wait(request),)

    def _use(self, request: Request, now_ms: int) -> Steps:
        """As went_on; from 5.3.0, for a non-blocking caller, through the event loop: GoOn."""
        if self.rules.leaves_to_event_loop(request.kind):
            return (GoOn(request, waking=False),)
        return self.go_on(request, now_ms)

    def _open(self, connection: Connection) -> Steps:
        """OPEN; the waiting requests go on in order of arrival: GoOn."""
        # By now it may have lost its entry: to 5.2.0 a caller gives up after CONNECT_TIMEOUT_MS. It opens all the same.
        self._table.came_about(connection)
        return self._settled(connection)

    def _fail(self, connection: Connection) -> Steps:
        """CLOSED; the waiting requests go on, and end: GoOn."""
        # The entry stays: reach replaces it, so a waiting request that closes this one later may meet a successor.
        connection.state = State.CLOSED
        connection.has_handlers = False
        return self._settled(connection)

    def _leave(self, request: Request, _now_ms: int) -> Steps:
        """The request ends in RemotingConnectException; others may still wait for the connection."""
        return (self._failed_early(request, _REFUSED),)

    def _refuse(self, request: Request, _now_ms: int) -> Steps:
        """The request ends in RemotingConnectException; the connection may be closed (close)."""
        # A blocking caller always closes the connection, which may evict its successor (LateClose). A non-blocking
        # one (from 5.3.0) closes it only if it had been open.
        closing = request.connection.came_about or not self.rules.leaves_to_event_loop(request.kind)
        steps = self._give_up(request.connection) if closing else ()
        return (*steps, self._failed_early(request, _REFUSED))

    def _write_in_time(self, request: Request, now_ms: int) -> Steps:
        """The request is pending: Write; it ends if connecting took its time."""
        # The time spent connecting counts from 4.3.0 on, but not for one-way requests: they wait for no answer.
        spent_ms = now_ms - request.began_ms
        left_ms: int | None = request.timeout_ms
        if request.kind is Kind.SYNC:
            left_ms = self.rules.time_left_ms(request.timeout_ms, spent_ms)
        elif request.kind is Kind.ASYNC:
            left_ms = self.rules.async_time_left_ms(request.timeout_ms, spent_ms)
        if left_ms is None:
            return self._too_late(request, request.timeout_ms - spent_ms)
        request.left_ms, request.written_ms = left_ms, now_ms
        return self._write(request, left_ms)

    def _write_again(self, request: Request, now_ms: int) -> Steps:
        """Write, unless its time is over."""
        # The timeout still counts from the first write; exactly 0 ms left is still written.
        left_ms = request.left_ms - (now_ms - request.written_ms)
        return self._write(request, left_ms) if left_ms >= 0 else self._end(request, _EXPIRED, Place.HERE)

    def _give_back(self, request: Request, _now_ms: int) -> Steps:
        """The request ends in RemotingConnectException; in 5.2.0 the GO_AWAY answer is returned."""
        return self._end(request, _REFUSED if self.rules.connects_in_background else None, Place.HERE)

    def _lose(self, connection: Connection, *, reset: bool) -> Steps:
        """CLOSED; on a reset, or if the release reacts to FIN: the entry is removed and pending requests fail."""
        self._table.shut(connection)
        closing = self._table.is_known(connection) and (reset or self.rules.fin_fails_pending)
        # After a reset the handlers live until the next event (taken_down), and see a close that comes before that.
        connection.has_handlers = closing and reset
        if not closing:
            # The entry, if it is still this one's, stays; pending requests run into their timeouts.
            return self._noted(connection) if reset else ()
        self._table.forget(connection)
        return (*self._fail_fast(connection), *self._noted(connection))

    def _ignore(self, _connection: Connection, *, reset: bool) -> Steps:  # noqa: ARG002 - rows of one event share a signature
        """Nothing."""
        return ()

    def _shut(self, connection: Connection) -> Steps:
        """CLOSED: Close; pending requests fail if the release fails fast."""
        self._table.shut(connection)
        if self._table.is_known(connection):
            self._table.forget(connection)
        return (Close(connection), *self._fail_fast(connection), *self._noted(connection))

    def _note(self, connection: Connection) -> Steps:
        """Nothing; from 5.2.0 its handlers, while they live, note the close: Noted."""
        return self._noted(connection) if connection.has_handlers else ()

    def _settled(self, connection: Connection) -> Steps:
        waiting, connection.waiting = connection.waiting, []
        return tuple(GoOn(request, waking=self._waits(request)) for request in waiting)

    def _waits(self, request: Request) -> bool:
        # Whether a thread blocks on the connect; a redirected request of any kind was moved by a callback thread.
        return not (
            self.rules.connects_in_background if request.redirected else self.rules.leaves_to_event_loop(request.kind)
        )

    def _write(self, request: Request, left_ms: int) -> Steps:
        # Pending before it is written, so that no response can arrive too early.
        if request.kind is not Kind.ONE_WAY:
            self._pending.put(request)
        return (Write(request, left_ms),)

    def _failed_early(self, request: Request, error: str) -> Ended:
        """Fail an unwritten request: the call throws, or (from 5.3.0, unless synchronous) it fails in the event loop."""
        request.is_over = True
        place = Place.HERE if self.rules.leaves_to_event_loop(request.kind) else Place.CALLER
        return Ended(request, error, place, direct=True)

    def _too_late(self, request: Request, left_ms: int) -> Steps:
        if request.kind is Kind.SYNC:
            # closes_connection decides by the time left when written: none here, so from 5.1.4 the connection survives.
            request.left_ms = left_ms
            return self.wait_expired(request)
        ended = self._failed_early(request, _TOO_LATE)
        # 5.3.0 to 5.3.3 fail the request and send it all the same, which fails again.
        return (ended, Ended(request, _EXPIRED, Place.HERE)) if self.rules.late_async_fails_twice else (ended,)

    def _may_reconnect(self, slot: Slot, connection: Connection, now_ms: int) -> bool:
        if self.rules.go_away is not GoAway.ONCE_A_MINUTE:
            # Only the first of several redirected requests reconnects.
            return slot.connection is connection
        return slot.reconnected_ms is None or now_ms - slot.reconnected_ms > _RECONNECT_INTERVAL_MS

    def _end(self, request: Request, error: str | None, place: Place | None = None) -> Steps:
        """
        End a written request.

        From 5.2.0 a synchronous request whose caller has gone still ends in a job of the callback pool, without effect.
        """
        if request.is_over and not (self.rules.futures and request.kind is Kind.SYNC):
            return ()
        request.is_over = True
        if place is None:
            by_job = request.kind is Kind.ASYNC or self.rules.futures
            place = Place.CALLBACKS if by_job else Place.WAKE
        if request.kind is Kind.ASYNC or error is None:
            return (Ended(request, error, place),)
        # The caller of a synchronous request sees RemotingSendRequestException, whatever failed it.
        return (Ended(request, _LOST, place, cause=error if self.rules.futures else None),)

    def _give_up(self, connection: Connection) -> Steps:
        """Close a connection that failed a request; another one may be in its entry by then."""
        self._table.give_up(connection)
        return self._close(connection)

    def _close(self, connection: Connection) -> Steps:
        return _TRANSITIONS[connection.state, Event.CLOSED_HERE](self, connection)

    def _noted(self, connection: Connection) -> Steps:
        return (Noted(connection),) if self.rules.heartbeat_on_connect else ()

    def _fail_fast(self, connection: Connection) -> Steps:
        lost = self._pending.take_all(connection) if self.rules.fails_fast_on_close else []
        return tuple(step for request in lost for step in self._end(request, _LOST))

    TRANSITIONS: ClassVar[dict[tuple[State, Event], Handler]] = {
        (State.CLOSED, Event.INVOKED): _connect,
        (State.CONNECTING, Event.INVOKED): _join,
        (State.OPEN, Event.INVOKED): _use,
        (State.CONNECTING, Event.CONNECTED): _open,
        (State.CONNECTING, Event.CONNECT_FAILED): _fail,
        (State.CONNECTING, Event.WENT_ON): _leave,
        (State.OPEN, Event.WENT_ON): _write_in_time,
        (State.CLOSED, Event.WENT_ON): _refuse,
        (State.CONNECTING, Event.WENT_ON_AGAIN): _give_back,
        (State.OPEN, Event.WENT_ON_AGAIN): _write_again,
        (State.CLOSED, Event.WENT_ON_AGAIN): _give_back,
        (State.CONNECTING, Event.PEER_CLOSED): _ignore,
        (State.OPEN, Event.PEER_CLOSED): _lose,
        (State.CLOSED, Event.PEER_CLOSED): _ignore,
        (State.CONNECTING, Event.CLOSED_HERE): _note,
        (State.OPEN, Event.CLOSED_HERE): _shut,
        (State.CLOSED, Event.CLOSED_HERE): _note,
    }
    """What happens in each state; an address without a connection counts as CLOSED. Missing pairs cannot happen."""


_TRANSITIONS = Connections.TRANSITIONS  # read for every request, and a global is read faster than an attribute
