"""
Requests of one client: carries out the steps of the connection rules (NettyRemotingClient).

It owns the client's network threads: ``callbacks`` handles answers and failures, ``netty`` the requests that waited for a
connection (from 5.3.0). Network events run in neither. Nothing else of the client runs between an event and its steps.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol

from rocketmq_reference.client.codec import Answer, AsyncEnd, OnEnd, Request
from rocketmq_reference.client.effects import Body, Host, Running, Signal, Wait
from rocketmq_reference.client.memory import Thread
from rocketmq_reference.remoting.errors import (
    RemotingConnectException,
    RemotingException,
    RemotingSendRequestException,
    RemotingTimeoutException,
    RemotingTooMuchRequestException,
)
from rocketmq_reference.rules.client import connection_steps as steps
from rocketmq_reference.rules.client.background import CONNECT_TIMEOUT_MS
from rocketmq_reference.rules.client.connection_steps import (
    Connection,
    ConnectionStep,
    Ended,
    Kind,
    Place,
    State,
    Steps,
)
from rocketmq_reference.rules.client.connections import Connections
from rocketmq_reference.rules.client.remoting_rules import RemotingRules

CALLBACKS = "callbacks"
NETTY = "netty"

_CALLER = Thread("caller")
"""Placeholder for the thread of a synchronous call; remoting selects no queue, so the real thread does not matter."""


@dataclass(slots=True)
class Call:
    """
    A request as its caller sees it.

    settled: given when the connect succeeded or failed, if its thread waits for that. over: given when the end (told) is known.
    """

    question: Any
    on_end: OnEnd | None
    settled: Signal | None = None
    over: Signal = field(default_factory=Signal)
    told: Ended | None = None
    answer: Any = None


Handler = Callable[[Any, Thread], Running[Any]]
"""Serves a request of a server in a thread of the client, and returns the answer; None: the server gets none."""


class Network(Protocol):
    """Sockets, or their simulation; reports what happens there to Remoting as events."""

    def connect(self, connection: Connection, first: Call | None) -> None:
        """Try to connect; first: the request that caused it. Leads to connected()."""
        ...

    def write(self, request: steps.Request, call: Call) -> None:
        """Write a request on its connection under its number. Leads to answered(), closed() or nothing."""
        ...

    def respond(self, connection: Connection, asked: Any, answer: Any) -> None:
        """Answer a server's request on its connection; without effect if that is closed or the request is one-way."""
        ...

    def close(self, connection: Connection) -> None: ...

    def look(self, address: str) -> None:
        """Report at once what has happened on the connection of an address, because it is about to be used."""
        ...


class Remoting(Generic[Request, Answer]):
    """
    The Transport of one client, for requests of every purpose.

    From 5.2.0 (heartbeat_on_connect): on_active gets the address of every new connection, on_end is called when one ends.
    """

    def __init__(self, host: Host, rules: RemotingRules, network: Network) -> None:
        self._host = host
        self._network = network
        self._rules = rules
        self.connections = Connections(rules)
        self.workers = {CALLBACKS: host.worker(CALLBACKS), NETTY: host.worker(NETTY)}
        self.on_active: Callable[[str], None] | None = None
        self.on_end: Callable[[], None] | None = None
        self._handlers: dict[int, tuple[Handler, bool]] = {}

    def invoke(
        self, address: str, timeout_ms: int, question: Request, is_interrupted: Callable[[], bool] | None = None
    ) -> Running[Answer]:
        """is_interrupted: True when the answer, or its absence, has no effect any more."""
        request, asked = self._begin(Kind.SYNC, address, timeout_ms, question)
        call: Call = request.call
        if isinstance(asked[0], steps.Write):
            # The common case of an open connection, without a generator.
            self._network.write(request, call)
        else:
            yield from self._follow(asked, _CALLER)
        if call.told is None:
            # The wait counts from the write: connecting was charged to left_ms before.
            is_over = yield Wait(call.over, request.written_ms + request.left_ms)
            if is_interrupted is not None and is_interrupted():
                raise RemotingTimeoutException(address, timeout_ms)
            if is_over:
                failed = call.told is not None and call.told.error is not None
                asked = self.connections.woken(request, failed=failed)
            else:
                asked = self.connections.wait_expired(request)
            if asked:
                yield from self._follow(asked, _CALLER)
        _raise_failure(call)
        answer: Answer = call.answer
        return answer

    def invoke_one_way(self, address: str, timeout_ms: int, question: Request) -> Body:
        request, asked = self._begin(Kind.ONE_WAY, address, timeout_ms, question)
        yield from self._follow(asked, _CALLER)
        _raise_failure(request.call)

    def invoke_async(
        self, address: str, timeout_ms: int, question: Request, on_end: OnEnd, thread: Thread, *, is_retry: bool
    ) -> Body:
        request, asked = self._begin(Kind.ASYNC, address, timeout_ms, question, on_end, is_retry=is_retry)
        yield from self._follow(asked, thread)
        _raise_failure(request.call)

    def reach(self, address: str) -> Body:
        _, asked = self._begin(Kind.NOTHING, address, CONNECT_TIMEOUT_MS, None)
        yield from self._follow(asked, _CALLER)

    def is_open(self, address: str) -> bool:
        # A close may have arrived unread on an idle connection.
        self._network.look(address)
        connection = self.connections.current(address)
        return connection is not None and connection.state is State.OPEN

    def serve(self, code: int, handler: Handler, *, lasting: bool = False) -> None:
        """
        Serve the requests of servers with this code from now on (registerProcessor); before the first connection.

        The handler runs in a thread of the callback pool, as Java's processors. What it raises is logged, and no answer goes out.
        lasting: it may take seconds.
        """
        self._handlers[code] = handler, lasting

    @property
    def serves(self) -> bool:
        """True if requests of servers may arrive at any time that this client answers."""
        return bool(self._handlers)

    def requested(self, connection: Connection, code: int, asked: Any) -> bool:
        """Hand a server's request to its handler; False if this client serves none of this code."""
        found = self._handlers.get(code)
        if found is None:
            return False
        handler, lasting = found
        self.workers[CALLBACKS].submit(lambda own: self._serve(handler, connection, asked, own), lasting=lasting)
        return True

    def scan(self) -> None:
        self._happen(self.connections.scan(self._host.now_ms))

    def close_all(self) -> None:
        """Close every connection; pending requests fail if the release fails fast."""
        self._happen(self.connections.close_all())

    def connected(self, connection: Connection, *, accepted: bool) -> None:
        if not accepted:
            self._settle(self.connections.connect_failed(connection))
            return
        self._settle(self.connections.connected(connection))
        if self._rules.heartbeat_on_connect:
            # An event of its own, after the requests that waited for the connection.
            self._host.soon(lambda: self._active(connection))

    def answered(self, number: int, code: int, answer: Answer) -> None:
        # Looked up first, because the rules remove the request. The answer goes to whichever request has the number,
        # even if (to 4.6.1) it asked something else.
        addressee = self.connections.addressee(number)
        if addressee is not None:
            addressee.call.answer = answer
        for step in self.connections.answered(number, code):
            if isinstance(step, Ended):
                self._end(step, None)
            else:
                self._do(step, None)

    def write_failed(self, request: steps.Request) -> None:
        self._happen(self.connections.write_failed(request))

    def closed(self, connection: Connection, *, reset: bool) -> None:
        self._take_down(connection)
        self._happen(self.connections.peer_closed(connection, reset=reset))

    def idle(self, connection: Connection) -> None:
        self._happen(self.connections.idle(connection))

    def _serve(self, handler: Handler, connection: Connection, asked: Any, thread: Thread) -> Body:
        answer = yield from handler(asked, thread)
        if answer is not None:
            self._network.respond(connection, asked, answer)

    def _take_down(self, connection: Connection) -> None:
        # The handlers outlive the close by one event: a second close in between still meets them.
        self._host.soon(lambda: self.connections.taken_down(connection))

    def _active(self, connection: Connection) -> None:
        if connection.state is State.OPEN and self.on_active is not None:
            self.on_active(connection.address)

    def _begin(
        self,
        kind: Kind,
        address: str,
        timeout_ms: int,
        question: Request | None,
        on_end: OnEnd | None = None,
        *,
        is_retry: bool = False,
    ) -> tuple[steps.Request, Steps]:
        self._network.look(address)
        now_ms = self._host.now_ms
        request, asked = self.connections.invoke(kind, address, timeout_ms, now_ms, is_retry=is_retry)
        request.call = Call(question, on_end)
        return request, asked

    def _happen(self, asked: Iterable[ConnectionStep]) -> None:
        """Carry out the steps of a network event, which runs in no thread of the client."""
        for step in asked:
            body = self._do(step, None)
            assert body is None

    def _settle(self, asked: Iterable[ConnectionStep]) -> None:
        """Continue the requests that waited for a connect: in the network thread, or in the waiting threads."""
        # One instant for all: the jobs are queued before the signals are given, and name the signals (together_with),
        # so that the host can order the jobs and the woken threads.
        requests = [(step.request, step.waking) for step in asked if isinstance(step, steps.GoOn)]
        woken = [request.call.settled for request, waking in requests if waking]
        for request, waking in requests:
            if not waking:
                self.workers[NETTY].submit(self._rest_of(request), together_with=woken)
        self._host.give_together(woken)

    def _follow(self, asked: Iterable[ConnectionStep], thread: Thread) -> Body:
        for step in asked:
            if isinstance(step, steps.Wait):
                call: Call = step.request.call
                settled = call.settled = Signal()
                # Whether connected, failed or out of patience: go_on decides by the state of the connection.
                yield Wait(settled, self._patience_until_ms())
                yield from self._follow(self.connections.go_on(step.request, self._host.now_ms), thread)
                continue
            body = self._do(step, thread)
            if body is not None:
                yield from body

    def _patience_until_ms(self) -> int | None:
        """Return the deadline of a wait for a connect; None from 5.3.0 on, where the wait is unlimited."""
        return None if self._rules.connects_in_background else self._host.now_ms + CONNECT_TIMEOUT_MS

    def _do(self, step: ConnectionStep, thread: Thread | None) -> Body | None:
        match step:
            case steps.Write(request, _):
                self._network.write(request, request.call)
            case Ended():
                return self._end(step, thread)
            case steps.Connect(connection):
                self._network.connect(connection, connection.waiting[0].call if connection.waiting else None)
            case steps.GoOn(request, waking):
                return self._go_on(request, thread, waking=waking)
            case steps.Redirect(request):
                self.workers[CALLBACKS].submit(
                    lambda own: self._follow(self.connections.redirect(request, self._host.now_ms), own)
                )
            case steps.Close(connection):
                self._network.close(connection)
                self._take_down(connection)
            case steps.Noted():
                if self.on_end is not None:
                    self.on_end()
        return None

    def _go_on(self, request: steps.Request, thread: Thread | None, *, waking: bool) -> Body | None:
        if waking:
            self._host.give(request.call.settled)
            return None
        rest = self._rest_of(request)
        # In the event loop itself the request continues at once, from any other thread as a job there.
        if thread is not None and thread.name == NETTY:
            return rest(thread)
        self.workers[NETTY].submit(rest)
        return None

    def _rest_of(self, request: steps.Request) -> Callable[[Thread], Body]:
        return lambda own: self._follow(self.connections.go_on(request, self._host.now_ms), own)

    def _end(self, ended: Ended, thread: Thread | None) -> Body | None:
        call: Call = ended.request.call
        if ended.place is Place.CALLER:
            call.told = ended
            return None
        if ended.place is Place.WAKE:
            body = self._deliver(call, ended, _CALLER)
            if ended.error is not None:
                # requestFail submits the callback to the pool; there is no callback, but a pool thread wakes up.
                self.workers[CALLBACKS].submit(_nothing, instant=True)
            return body
        if ended.place is Place.HERE and thread is not None:
            return self._deliver(call, ended, thread)
        # Without a callback the job only gives a signal, so no pool thread need be woken for it.
        is_instant = call.on_end is None
        self.workers[CALLBACKS].submit(lambda own: self._deliver(call, ended, own), instant=is_instant)
        return None

    def _deliver(self, call: Call, ended: Ended, thread: Thread) -> Body | None:
        if call.on_end is not None:
            error = None if ended.error is None else _exception(ended)
            return call.on_end(AsyncEnd(call.answer, error, ended.request.written_ms, ended.direct), thread)
        # The caller may have timed out already (from 5.2.0 the request stays pending); its end then has no effect.
        if call.told is None:
            call.told = ended
            self._host.give(call.over)
        return None


def _nothing(_own: Thread) -> None:
    """Do nothing; the pool thread wakes up, and may find more jobs by then."""


def _raise_failure(call: Call) -> None:
    ended, call.told = call.told, None  # breaks the cycle call → end → request → call, for the GC
    if ended is not None and ended.error is not None:
        raise _exception(ended)


def _exception(ended: Ended) -> RemotingException:
    request = ended.request
    address = request.made_on.address
    error: RemotingException
    match ended.error:
        case "RemotingConnectException":
            error = RemotingConnectException(address)
        case "RemotingTimeoutException":
            written = request.written_ms > 0
            error = RemotingTimeoutException(
                address, request.left_ms if written else request.timeout_ms, written=written
            )
        case "RemotingTooMuchRequestException":
            error = RemotingTooMuchRequestException(f"invokeAsync call the addr[{address}] timeout")
        case _:
            error = RemotingSendRequestException(address)
    if ended.cause is not None:
        error.__cause__ = _CAUSES.get(ended.cause, RemotingException)(address)
    return error


def _timeout(address: str) -> RemotingException:
    return RemotingTimeoutException(address, 0)


_CAUSES: dict[str, Callable[[str], RemotingException]] = {
    "RemotingConnectException": RemotingConnectException,
    "RemotingSendRequestException": RemotingSendRequestException,
    "RemotingTimeoutException": _timeout,
    "RemotingTooMuchRequestException": RemotingTooMuchRequestException,
}
