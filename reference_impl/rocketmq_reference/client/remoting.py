"""
The client's requests on its connections: what the connection rules ask for is carried out (NettyRemotingClient).

It has the client's network threads: ``callbacks`` does what answers and failures lead to, ``netty`` what waited for a
connection (from 5.3.0). Events of the network happen in neither; between them and what they lead to nothing else happens.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol

from rocketmq_reference.client.codec import A, AsyncEnd, OnEnd, Q
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
"""Stands for the thread that makes a synchronous call: nothing is ever chosen in it down here."""


@dataclass(slots=True)
class Call:
    """
    A request as its caller sees it: what it asks, who is told of its end, and what has come.

    settled: its connection came about or not, where its thread waits for that. over: its caller can know how it ended (told).
    """

    question: Any
    on_end: OnEnd | None
    settled: Signal | None = None
    over: Signal = field(default_factory=Signal)
    told: Ended | None = None
    answer: Any = None


class Network(Protocol):
    """Sockets, or what stands for them; what happens there is told to Remoting as an event."""

    def connect(self, connection: Connection, first: Call | None) -> None:
        """Try to connect; first: of the request that is the reason. Leads to connected()."""
        ...

    def write(self, request: steps.Request, call: Call) -> None:
        """A request goes out on its connection under its number. Leads to answered() or closed(), or to nothing."""
        ...

    def close(self, connection: Connection) -> None:
        """The client closes a connection."""
        ...

    def look(self, address: str) -> None:
        """Somebody is about to use the connection of an address: tell at once what has happened there."""
        ...


class Remoting(Generic[Q, A]):
    """
    Requests of one client, of all purposes; a Transport.

    on_active is told the address of every new connection, on_end of the end of one, where the release greets connections.
    """

    def __init__(self, host: Host, rules: RemotingRules, network: Network) -> None:
        self._host = host
        self._network = network
        self._rules = rules
        self.connections = Connections(rules)
        self.workers = {CALLBACKS: host.worker(CALLBACKS), NETTY: host.worker(NETTY)}
        self.on_active: Callable[[str], None] | None = None
        self.on_end: Callable[[], None] | None = None

    def invoke(self, address: str, timeout_ms: int, question: Q) -> Running[A]:
        """Ask and wait for the answer. Raises RemotingException."""
        request, asked = self._begin(Kind.SYNC, address, timeout_ms, question)
        call: Call = request.call
        if isinstance(asked[0], steps.Write):
            self._network.write(request, call)
        else:
            yield from self._follow(asked, _CALLER)
        if call.told is None:
            if (yield Wait(call.over, request.written_ms + request.left_ms)):
                failed = call.told is not None and call.told.error is not None
                asked = self.connections.woken(request, failed=failed)
            else:
                asked = self.connections.wait_expired(request)
            if asked:
                yield from self._follow(asked, _CALLER)
        _raise_what_was_told(call)
        answer: A = call.answer
        return answer

    def invoke_one_way(self, address: str, timeout_ms: int, question: Q) -> Body:
        """Hand a request over for which no answer is awaited. Raises RemotingException."""
        request, asked = self._begin(Kind.ONE_WAY, address, timeout_ms, question)
        yield from self._follow(asked, _CALLER)
        _raise_what_was_told(request.call)

    def invoke_async(
        self, address: str, timeout_ms: int, question: Q, on_end: OnEnd, thread: Thread, *, is_retry: bool
    ) -> Body:
        """Hand a request over; on_end is what its end leads to. Raises RemotingException."""
        request, asked = self._begin(Kind.ASYNC, address, timeout_ms, question, on_end, is_retry=is_retry)
        yield from self._follow(asked, thread)
        _raise_what_was_told(request.call)

    def reach(self, address: str) -> Body:
        """Make sure of a connection that nothing is sent on yet."""
        _, asked = self._begin(Kind.NOTHING, address, CONNECT_TIMEOUT_MS, None)
        yield from self._follow(asked, _CALLER)

    def is_open(self, address: str) -> bool:
        """Whether the connection of an address can be used."""
        self._network.look(address)
        connection = self.connections.current(address)
        return connection is not None and connection.state is State.OPEN

    def scan(self) -> None:
        """End what should have been answered long ago."""
        self._happen(self.connections.scan(self._host.now_ms))

    def close_all(self) -> None:
        """Close every connection; what waits on them fails where the release fails it."""
        self._happen(self.connections.close_all())

    def connected(self, connection: Connection, *, accepted: bool) -> None:
        """A connect has its result."""
        if not accepted:
            self._settle(self.connections.connect_failed(connection))
            return
        self._settle(self.connections.connected(connection))
        if self._rules.heartbeat_on_connect:
            self._host.soon(lambda: self._active(connection))

    def answered(self, number: int, code: int, answer: A) -> None:
        """An answer to the request of that number has arrived."""
        addressee = self.connections.addressee(number)
        if addressee is not None:
            addressee.call.answer = answer
        for step in self.connections.answered(number, code):
            if isinstance(step, Ended):
                self._end(step, None)
            else:
                self._do(step, None)

    def write_failed(self, request: steps.Request) -> None:
        """A request could not be written, because its connection has just been lost."""
        self._happen(self.connections.write_failed(request))

    def closed(self, connection: Connection, *, reset: bool) -> None:
        """The server has closed a connection, or reset it."""
        self._take_down(connection)
        self._happen(self.connections.peer_closed(connection, reset=reset))

    def idle(self, connection: Connection) -> None:
        """Nothing happened on a connection for long."""
        self._happen(self.connections.idle(connection))

    def _take_down(self, connection: Connection) -> None:
        self._host.soon(lambda: self.connections.taken_down(connection))

    def _active(self, connection: Connection) -> None:
        if connection.state is State.OPEN and self.on_active is not None:
            self.on_active(connection.address)

    def _begin(
        self,
        kind: Kind,
        address: str,
        timeout_ms: int,
        question: Q | None,
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
        """Carry out what an event of the network leads to, which happens in no thread of the client's."""
        for step in asked:
            body = self._do(step, None)
            assert body is None

    def _settle(self, asked: Iterable[ConnectionStep]) -> None:
        """A connect has its result: the network thread gets what waits for that, and threads that wait are woken."""
        requests = [(step.request, step.waking) for step in asked if isinstance(step, steps.GoOn)]
        woken = [request.call.settled for request, waking in requests if waking]
        for request, waking in requests:
            if not waking:
                self.workers[NETTY].submit(self._rest_of(request), together_with=woken)
        self._host.give_together(woken)

    def _follow(self, asked: Iterable[ConnectionStep], thread: Thread) -> Body:
        """Carry out what the rules ask for, in a thread of the client's."""
        for step in asked:
            if isinstance(step, steps.Wait):
                call: Call = step.request.call
                settled = call.settled = Signal()
                yield Wait(settled, self._patience_until_ms())
                yield from self._follow(self.connections.go_on(step.request, self._host.now_ms), thread)
                continue
            body = self._do(step, thread)
            if body is not None:
                yield from body

    def _patience_until_ms(self) -> int | None:
        """How long a thread waits for a connection; from 5.3.0 on for as long as that takes."""
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
            told = self._tell(call, ended, _CALLER)
            if ended.error is not None:
                # requestFail has that pool run the callback, which there is none of
                self.workers[CALLBACKS].submit(_nothing, instant=True)
            return told
        if ended.place is Place.HERE and thread is not None:
            return self._tell(call, ended, thread)
        is_instant = call.on_end is None
        self.workers[CALLBACKS].submit(lambda own: self._tell(call, ended, own), instant=is_instant)
        return None

    def _tell(self, call: Call, ended: Ended, thread: Thread) -> Body | None:
        if call.on_end is not None:
            error = None if ended.error is None else _exception(ended)
            return call.on_end(AsyncEnd(call.answer, error, ended.request.written_ms, ended.direct), thread)
        if call.told is None:
            call.told = ended
            self._host.give(call.over)
        return None


def _nothing(_own: Thread) -> None:
    """Wakes the thread that does it, which may have more to do by then."""


def _raise_what_was_told(call: Call) -> None:
    told, call.told = call.told, None  # it names the request, which names the call: no work for the garbage collector
    if told is not None and told.error is not None:
        raise _exception(told)


def _exception(ended: Ended) -> RemotingException:
    """What an end by that name is to whoever is told."""
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
