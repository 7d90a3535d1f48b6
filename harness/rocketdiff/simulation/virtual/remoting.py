"""
The remoting client of the depth "remoting": carries out what the connection rules ask for.

It has the client's network threads: ``callbacks`` does what answers and failures lead to, ``netty`` what waited for a
connection (from 5.3.0). Events of the network happen in neither.
"""

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field

from rocketdiff.simulation.virtual.client import Thread
from rocketdiff.simulation.virtual.kernel import Body, Kernel, Signal, Wait
from rocketdiff.simulation.virtual.network import Network
from rocketdiff.simulation.virtual.thrown import Thrown
from rocketdiff.simulation.virtual.transport import Answered
from rocketdiff.simulation.virtual.worker import Worker
from rocketmq_reference.rules.client import connection_steps as steps
from rocketmq_reference.rules.client.background import CONNECT_TIMEOUT_MS
from rocketmq_reference.rules.client.connection_steps import ConnectionStep, Ended, Kind, Place, Request, State
from rocketmq_reference.rules.client.connections import Connections
from rocketmq_reference.rules.client.remoting_rules import RemotingRules
from rocketmq_reference.rules.client.route import TopicRoute

CALLBACKS = "callbacks"
NETTY = "netty"
CALLER = "caller"


OnEnd = Callable[[Ended, Answered | None, Thread], Body]
"""What an asynchronous request leads to: (how it ended, its answer, the thread this happens in) → what is done."""


@dataclass(slots=True)
class Call:
    """
    A request as its caller and this host see it.

    queue_id: of a send request, None of any other. told: how it ended, once its caller can know.
    """

    request: Request
    queue_id: int | None
    on_end: OnEnd | None
    settled: Signal = field(default_factory=Signal)
    over: Signal = field(default_factory=Signal)
    told: Ended | None = None
    answer: Answered | None = None


class Remoting:
    """Requests of one client, of all purposes."""

    def __init__(self, kernel: Kernel, rules: RemotingRules, network: Network) -> None:
        self._kernel = kernel
        self._network = network
        self.connections = Connections(rules)
        self._rules = rules
        self._calls: dict[int, Call] = {}  # by identity: numbers of requests need not be their own
        self.workers = {CALLBACKS: Worker(kernel), NETTY: Worker(kernel)}
        self.on_active: Callable[[str], None] | None = None
        self.on_end: Callable[[], None] | None = None

    def invoke(self, address: str, timeout_ms: int, *, queue_id: int | None = None) -> Generator[Wait, bool, Answered]:
        """Ask and wait for the answer. Raises Thrown."""
        call, asked = self._begin(Kind.SYNC, address, timeout_ms, queue_id)
        yield from self._follow(asked, CALLER)
        if call.told is None:
            until_ms = self._kernel.now_ms + call.request.left_ms
            if not (yield Wait(call.over, until_ms)):
                yield from self._follow(self.connections.wait_expired(call.request), CALLER)
            else:
                failed = call.told is not None and call.told.error is not None
                yield from self._follow(self.connections.woken(call.request, failed=failed), CALLER)
        _throw_what_was_told(call)
        assert call.answer is not None
        return call.answer

    def invoke_one_way(self, address: str, timeout_ms: int, queue_id: int) -> Body:
        """Hand a send request over for which no answer is awaited. Raises Thrown."""
        call, asked = self._begin(Kind.ONE_WAY, address, timeout_ms, queue_id)
        yield from self._follow(asked, CALLER)
        _throw_what_was_told(call)

    def invoke_async(
        self, address: str, timeout_ms: int, on_end: OnEnd, thread: Thread, *, queue_id: int, is_retry: bool
    ) -> Body:
        """Hand a send request over; ``on_end`` is what its end leads to. Raises Thrown."""
        call, asked = self._begin(Kind.ASYNC, address, timeout_ms, queue_id, on_end, is_retry=is_retry)
        yield from self._follow(asked, thread)
        if call.told is not None and call.told.place is Place.CALLER:
            _throw_what_was_told(call)

    def reach(self, address: str) -> Body:
        """Make sure of a connection that nothing is sent on yet."""
        _, asked = self._begin(Kind.NOTHING, address, CONNECT_TIMEOUT_MS, None)
        yield from self._follow(asked, CALLER)

    def scan(self) -> None:
        """End what should have been answered long ago."""
        self._happen(self.connections.scan(self._kernel.now_ms))

    def connected(self, connection: steps.Connection, *, accepted: bool) -> None:
        """A connect has its result."""
        if not accepted:
            self._settle(self.connections.connect_failed(connection))
            return
        self._settle(self.connections.connected(connection))
        if self._rules.heartbeat_on_connect:
            self._kernel.after(0, lambda: self._active(connection))

    def answered(self, request: Request, code: int, route: TopicRoute | None) -> None:
        """An answer has arrived, which if it comes from the name server tells its route."""
        addressee = self.connections.addressee(request)
        if addressee is not None:
            self._calls[id(addressee)].answer = Answered(code, self._calls[id(request)].queue_id, route)
        self._happen(self.connections.answered(request, code))

    def closed(self, connection: steps.Connection, *, reset: bool) -> None:
        """The server has closed a connection, or reset it."""
        self._take_down(connection)
        self._happen(self.connections.peer_closed(connection, reset=reset))

    def idle(self, connection: steps.Connection) -> None:
        """Nothing happened on a connection for long."""
        self._happen(self.connections.idle(connection))

    def _take_down(self, connection: steps.Connection) -> None:
        self._kernel.after(0, lambda: self.connections.taken_down(connection))

    def _active(self, connection: steps.Connection) -> None:
        if connection.state is State.OPEN and self.on_active is not None:
            self.on_active(connection.address)

    def _begin(
        self,
        kind: Kind,
        address: str,
        timeout_ms: int,
        queue_id: int | None,
        on_end: OnEnd | None = None,
        *,
        is_retry: bool = False,
    ) -> tuple[Call, Iterable[ConnectionStep]]:
        now_ms = self._kernel.now_ms
        request, asked = self.connections.invoke(kind, address, timeout_ms, now_ms, is_retry=is_retry)
        call = self._calls[id(request)] = Call(request, queue_id, on_end)
        return call, asked

    def _happen(self, asked: Iterable[ConnectionStep]) -> None:
        """Carry out what an event of the network leads to, which happens in no thread of the client's."""
        for step in asked:
            actor = self._do(step, None)
            assert actor is None

    def _settle(self, asked: Iterable[ConnectionStep]) -> None:
        """A connect has its result: the network thread gets what waits for that, and threads that wait are woken."""
        requests = [(step.request, step.waking) for step in asked if isinstance(step, steps.GoOn)]
        woken = [self._calls[id(request)].settled for request, waking in requests if waking]
        for request, waking in requests:
            if not waking:
                self.workers[NETTY].submit(self._rest_of(request), together_with=woken)
        self._kernel.give_together(woken)

    def _follow(self, asked: Iterable[ConnectionStep], thread: Thread) -> Body:
        """Carry out what the rules ask for, in a thread of the client's."""
        for step in asked:
            if isinstance(step, steps.Wait):
                call = self._calls[id(step.request)]
                call.settled = Signal()
                yield Wait(call.settled, self._patience_until_ms())
                yield from self._follow(self.connections.go_on(step.request, self._kernel.now_ms), thread)
                continue
            actor = self._do(step, thread)
            if actor is not None:
                yield from actor

    def _patience_until_ms(self) -> int | None:
        """How long a thread waits for a connection; from 5.3.0 on for as long as that takes."""
        return None if self._rules.connects_in_background else self._kernel.now_ms + CONNECT_TIMEOUT_MS

    def _do(self, step: ConnectionStep, thread: Thread | None) -> Body | None:
        match step:
            case steps.Connect(connection):
                self._network.connect(connection, self, sending=self._is_for_send(connection))
            case steps.GoOn(request, waking):
                return self._go_on(request, thread, waking=waking)
            case steps.Write(request, _):
                self._network.write(request, self, is_send=self._calls[id(request)].queue_id is not None)
            case steps.Redirect(request):
                self.workers[CALLBACKS].submit(
                    lambda: self._follow(self.connections.redirect(request, self._kernel.now_ms), CALLBACKS)
                )
            case steps.Close(connection):
                self._network.close(connection)
                self._take_down(connection)
            case steps.Noted():
                if self.on_end is not None:
                    self.on_end()
            case Ended():
                return self._end(step, thread)
        return None

    def _go_on(self, request: Request, thread: Thread | None, *, waking: bool) -> Body | None:
        if waking:
            self._kernel.give(self._calls[id(request)].settled)
            return None
        if thread == NETTY:
            return self._rest_of(request)()
        self.workers[NETTY].submit(self._rest_of(request))
        return None

    def _rest_of(self, request: Request) -> Callable[[], Body]:
        return lambda: self._follow(self.connections.go_on(request, self._kernel.now_ms), NETTY)

    def _end(self, ended: Ended, thread: Thread | None) -> Body | None:
        call = self._calls[id(ended.request)]
        if ended.place is Place.CALLER:
            call.told = ended
            return None
        if ended.place is Place.WAKE:
            told = self._tell(call, ended, CALLER)
            if ended.error is not None:
                self.workers[CALLBACKS].submit(
                    _nothing
                )  # requestFail has that pool run the callback, which there is none of
            return told
        if ended.place is Place.HERE and thread is not None:
            return self._tell(call, ended, thread)
        self.workers[CALLBACKS].submit(lambda: self._tell(call, ended, CALLBACKS))
        return None

    def _tell(self, call: Call, ended: Ended, thread: Thread) -> Body | None:
        if call.on_end is not None:
            return call.on_end(ended, call.answer, thread)
        if call.told is None:
            call.told = ended
            self._kernel.give(call.over)
        return None

    def _is_for_send(self, connection: steps.Connection) -> bool:
        """Whether the request that made this connection necessary is a send request; it is the first that waits."""
        return any(self._calls[id(request)].queue_id is not None for request in connection.waiting[:1])


def _nothing() -> None:
    """Wakes the thread that does it, which may have more to do by then."""


def _throw_what_was_told(call: Call) -> None:
    if call.told is not None and call.told.error is not None:
        raise Thrown(call.told.error, cause=call.told.cause)
