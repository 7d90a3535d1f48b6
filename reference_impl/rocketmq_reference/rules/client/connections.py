"""
The connections of one client and the requests that wait on them, as a state machine (NettyRemotingClient, N1–N10).

Theory of operation. Events go in, steps come out, in the order in which Java takes them; whoever carries them out
(`rocketmq_reference.client.remoting`) has the threads, and its network the sockets. Nothing else may happen between an event and
its steps. Times are milliseconds of one clock. An address has one entry in a table, the entry one connection, made when it is
needed. A request has a number; its answer is known by that number alone, on whatever connection it comes.

| Connection | Event | What follows |
|---|---|---|
| none, or CLOSED | invoke | a new one in the entry, CONNECTING: Connect; a caller that waits for it: Wait |
| CONNECTING | invoke | the request waits with the others |
| | connected | OPEN; those that waited go on in their order (GoOn, then go_on): Write |
| | connect_failed | CLOSED; those that waited go on, and end in RemotingConnectException |
| OPEN | invoke | Write; from 5.3.0, for a caller that does not wait, by way of the event loop: GoOn |
| | answered | the request ends: Ended; GO_AWAY from 5.2.0: Redirect, then redirect connects anew and writes again |
| | wait_expired, woken | a synchronous request's thread goes on; what went wrong may cost the connection: Close |
| | peer_closed | CLOSED; the entry goes and what waits fails, if reset or the rules react to an orderly close |
| | idle, close_all | Close; what waits fails, if the rules say so |
| any | scan | asynchronous requests end whose time was up EXPIRY_GRACE_MS ago |

| Request | Ends where (Place) |
|---|---|
| before it was written | in the call; from 5.3.0, unless synchronous, in the event loop |
| synchronous, answered or lost | its thread is woken, from 5.2.0 by a job of the callback pool |
| synchronous, nothing in time | in its thread; from 5.2.0 it stays among the pending ones, for nobody |
| asynchronous | in a job of the callback pool |

A connection that lost its entry to another one lives on until somebody closes it; see LateClose for what that may cost the
other one. Read in NettyRemotingClient, NettyRemotingAbstract and ResponseFuture of every release.
"""

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


class Connections:
    """
    What one client knows of its connections.

    Requests of any kind and purpose go through here, so that a heartbeat's timeout fails the sends on its connection.
    """

    def __init__(self, rules: RemotingRules) -> None:
        self.rules = rules
        self._table = ConnectionTable(rules.late_close)
        self._pending = PendingRequests(rules)

    def current(self, address: str) -> Connection | None:
        """The connection that an address leads to, whatever its state."""
        return self._table.current(address)

    def has_unattended(self, connection: Connection) -> bool:
        """Whether an answer is awaited on a connection by no thread that would read there itself."""
        return self._pending.has_unattended(connection)

    def close_all(self) -> Steps:
        """The client shuts down: every connection is closed from this side (NettyRemotingClient.shutdown)."""
        return tuple(step for connection in self._table.opened() for step in self._close(connection))

    def open_to(self, address: str) -> int:
        """How many connections there are to an address."""
        return self._table.open_to(address)

    def invoke(
        self, kind: Kind, address: str, timeout_ms: int, now_ms: int, *, is_retry: bool = False
    ) -> tuple[Request, Steps]:
        """A new request to an address, connecting first if need be; is_retry: an asynchronous one is made again."""
        connection, is_new = self._table.reach(address)
        first: Steps = (Connect(connection),) if is_new else ()
        number = _NO_COMMAND if kind is Kind.NOTHING else self._pending.number(is_retry=is_retry)
        request = Request(number, kind, timeout_ms, now_ms, connection, connection)
        in_background = self._in_background(kind)
        if connection.state is State.OPEN:
            return request, (GoOn(request, waking=False),) if in_background else self.go_on(request, now_ms)
        connection.waiting.append(request)
        return request, (*first, *(() if in_background else (Wait(request),)))

    def connected(self, connection: Connection) -> Steps:
        """The connection has come about; those who wait for it go on in the order in which they came."""
        if connection.state is State.CONNECTING:
            self._table.came_about(connection)
        return self._settled(connection)

    def connect_failed(self, connection: Connection) -> Steps:
        """It has not: refused, or no answer for CONNECT_TIMEOUT_MS."""
        connection.state = State.CLOSED
        connection.has_handlers = False
        return self._settled(connection)

    def go_on(self, request: Request, now_ms: int) -> Steps:
        """The request's connection is there or not: write, or end the request."""
        if request.kind is Kind.NOTHING:
            return (Ended(request, None, Place.CALLER),)
        if request.redirected:
            return self._write_again(request, now_ms)
        if request.connection.state is not State.OPEN:
            closing = request.connection.came_about or not self._in_background(request.kind)
            steps = self._give_up(request.connection) if closing else ()
            return (*steps, self._failed_early(request, _REFUSED))
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

    def addressee(self, number: int) -> Request | None:
        """Whose answer an answer of this number would be taken for now; None: nobody waits for one."""
        return self._pending.known_as(number)

    def answered(self, number: int, code: int = 0) -> Steps:
        """
        An answer has come; one that came too late is no more than that, but has taken a number as any command does.

        It is known by its request's number alone, so that to 4.6.1 it can be taken for another one's (see addressee).
        """
        self._pending.number()
        request = self._pending.take(number)
        if request is None:
            return ()
        if code == GO_AWAY and self.rules.go_away is not GoAway.NOTHING:
            if not request.redirected:
                return (Redirect(request),)
            if self.rules.go_away is GoAway.FAILS:
                return self._end(request, _LOST)
        return self._end(request, None)

    def write_failed(self, request: Request) -> Steps:
        """A request could not be written, because its connection has just been lost (invokeSyncImpl's listener)."""
        return () if self._pending.take(request.number) is None else self._end(request, _LOST)

    def redirect(self, request: Request, now_ms: int) -> Steps:
        """
        GO_AWAY: connect anew, unless somebody has done so, and write the request there.

        Where that may not be, or there is nothing to connect from any more, the answer is handed up, or (FAILS) the
        request is lost.
        """
        slot = request.connection.slot
        steps: Steps = ()
        if slot is not None and self._may_reconnect(slot, request.connection, now_ms):
            slot.connection = Connection(request.connection.address, slot=slot)
            slot.reconnected_ms = now_ms
            steps = (Connect(slot.connection),)
        if slot is None or slot.connection is request.connection:
            error = _LOST if self.rules.go_away is GoAway.FAILS else None
            return self._end(request, error, Place.HERE)
        request.redirected = True
        request.number = self._pending.number()
        request.connection = slot.connection
        if slot.connection.state is State.CONNECTING:
            slot.connection.waiting.append(request)
            return (*steps, *(() if self.rules.connects_in_background else (Wait(request),)))
        if self.rules.go_away is GoAway.FAILS:
            return (*steps, GoOn(request, waking=False))
        return (*steps, *self.go_on(request, now_ms))

    def wait_expired(self, request: Request) -> Steps:
        """
        A synchronous request's caller was told nothing in time, which may cost its connection.

        From 5.2.0 on the request stays among the pending ones, although nobody waits for it; and the answer may be there
        already, but not have come through the callback pool.
        """
        request.is_over = True
        if not self.rules.futures:
            self._pending.take(request.number)
        closing = self.rules.closes_connection(request.timeout_ms, request.left_ms)
        steps = self._give_up(request.made_on) if closing else ()
        return (*steps, Ended(request, _EXPIRED, Place.CALLER))

    def woken(self, request: Request, *, failed: bool) -> Steps:
        """
        The thread of a synchronous request goes on with its answer, or with an error, for which it closes its connection.

        By then that may be closed, and another one be there: see LateClose. To 5.1.4 it removes its request once more, or
        what has the same number now.
        """
        if not self.rules.futures:
            self._pending.take(request.number)
        return self._give_up(request.made_on) if failed else ()

    def peer_closed(self, connection: Connection, *, reset: bool) -> Steps:
        """
        The other side has closed the connection, or reset it.

        To 5.1.2 a client does not react to an orderly close until it needs the connection again.
        """
        if connection.state is not State.OPEN:
            return ()
        self._table.shut(connection)
        closing = self._table.is_known(connection) and (reset or self.rules.fin_fails_pending)
        connection.has_handlers = closing and reset
        if not closing:
            return self._noted(connection) if reset else ()
        self._table.forget(connection)
        return (*self._fail_fast(connection), *self._noted(connection))

    def taken_down(self, connection: Connection) -> None:
        """The event after its close: the connection's handlers are gone."""
        connection.has_handlers = False

    def idle(self, connection: Connection) -> Steps:
        """Nothing was read or written for IDLE_MS: closed, unless another one has taken its place."""
        return self._close(connection) if self._table.is_known(connection) else ()

    def scan(self, now_ms: int) -> Steps:
        """End the requests whose time was up EXPIRY_GRACE_MS ago; done at the rules' ScanTimes."""
        expired = self._pending.take_expired(now_ms)
        return tuple(step for request in expired for step in self._end(request, _EXPIRED))

    def _settled(self, connection: Connection) -> Steps:
        waiting, connection.waiting = connection.waiting, []
        return tuple(GoOn(request, waking=self._waits(request)) for request in waiting)

    def _waits(self, request: Request) -> bool:
        return not (self.rules.connects_in_background if request.redirected else self._in_background(request.kind))

    def _in_background(self, kind: Kind) -> bool:
        return self.rules.connects_in_background and kind is not Kind.SYNC

    def _write(self, request: Request, left_ms: int) -> Steps:
        if request.kind is not Kind.ONE_WAY:
            self._pending.put(request)
        return (Write(request, left_ms),)

    def _failed_early(self, request: Request, error: str) -> Ended:
        """Ended before it was written: the call throws, or (from 5.3.0, unless synchronous) fails in the event loop."""
        request.is_over = True
        place = Place.HERE if self._in_background(request.kind) else Place.CALLER
        return Ended(request, error, place, direct=True)

    def _too_late(self, request: Request, left_ms: int) -> Steps:
        if request.kind is Kind.SYNC:
            request.left_ms = left_ms
            return self.wait_expired(request)
        ended = self._failed_early(request, _TOO_LATE)
        return (ended, Ended(request, _EXPIRED, Place.HERE)) if self.rules.late_async_fails_twice else (ended,)

    def _write_again(self, request: Request, now_ms: int) -> Steps:
        left_ms = request.left_ms - (now_ms - request.written_ms)
        if request.connection.state is State.OPEN:
            return self._write(request, left_ms) if left_ms >= 0 else self._end(request, _EXPIRED, Place.HERE)
        if self.rules.connects_in_background:
            return self._end(request, _REFUSED, Place.HERE)
        return self._end(request, None, Place.HERE)

    def _may_reconnect(self, slot: Slot, connection: Connection, now_ms: int) -> bool:
        if self.rules.go_away is not GoAway.ONCE_A_MINUTE:
            return slot.connection is connection
        return slot.reconnected_ms is None or now_ms - slot.reconnected_ms > _RECONNECT_INTERVAL_MS

    def _end(self, request: Request, error: str | None, place: Place | None = None) -> Steps:
        """
        The end of a written request.

        One that nobody waits for any more ends in a job of the callback pool all the same (from 5.2.0), for nobody.
        """
        if request.is_over and not (self.rules.futures and request.kind is Kind.SYNC):
            return ()
        request.is_over = True
        if place is None:
            by_job = request.kind is Kind.ASYNC or self.rules.futures
            place = Place.CALLBACKS if by_job else Place.WAKE
        if request.kind is Kind.ASYNC or error is None:
            return (Ended(request, error, place),)
        # Whatever fails a synchronous request is this to its caller.
        return (Ended(request, _LOST, place, cause=error if self.rules.futures else None),)

    def _give_up(self, connection: Connection) -> Steps:
        """Close a connection that failed a request; by then another one may be in its place."""
        self._table.give_up(connection)
        return self._close(connection)

    def _close(self, connection: Connection) -> Steps:
        """
        Close a connection, and fail what waits on it.

        One that the other side closed before has no handlers any more that could fail anything.
        """
        if connection.state is not State.OPEN:
            return self._noted(connection) if connection.has_handlers else ()
        self._table.shut(connection)
        if self._table.is_known(connection):
            self._table.forget(connection)
        return (Close(connection), *self._fail_fast(connection), *self._noted(connection))

    def _noted(self, connection: Connection) -> Steps:
        return (Noted(connection),) if self.rules.heartbeat_on_connect else ()

    def _fail_fast(self, connection: Connection) -> Steps:
        """End what waits on a connection that is being closed, where the release does."""
        lost = self._pending.take_all(connection) if self.rules.fails_fast_on_close else []
        return tuple(step for request in lost for step in self._end(request, _LOST))
