"""Transport of the depth "send-loop": no connections, only answers, latencies and failures."""

from collections.abc import Generator

from rocketdiff.simulation.virtual.client import Thread
from rocketdiff.simulation.virtual.kernel import Body, Kernel, Signal, Wait
from rocketdiff.simulation.virtual.servers import Server, Servers
from rocketdiff.simulation.virtual.thrown import Thrown
from rocketdiff.simulation.virtual.transport import Answered, OnEnd, Target, route_answered
from rocketmq_reference.rules.client.route import TopicRoute


class LoopTransport:
    """Stands for the whole remoting client."""

    __slots__ = ("_kernel", "_servers")

    def __init__(self, kernel: Kernel, servers: Servers) -> None:
        self._kernel = kernel
        self._servers = servers

    def send(self, target: Target, timeout_ms: int) -> Generator[Wait, bool, Answered]:
        """One request; the answer counts if it comes no later than the deadline."""
        code = yield from self._ask(self._broker(target), timeout_ms, is_send=True)
        return Answered(code, target.queue_id)

    def send_one_way(self, target: Target, _timeout_ms: int) -> Body:
        """Written at once, or refused at once."""
        server = self._broker(target)
        if not server.accepts(is_send=True):
            raise Thrown("RemotingConnectException")
        server.arrive(_Heard(self._kernel), is_send=True)
        yield from ()

    def send_async(self, _target: Target, _timeout_ms: int, _on_end: OnEnd, _thread: Thread, *, is_retry: bool) -> Body:
        """Scripts that send asynchronously run at the depth "remoting"."""
        raise NotImplementedError

    def route(self, timeout_ms: int, *, default_topic: bool) -> Generator[Wait, bool, TopicRoute]:
        """Asked at once; what the name server knows when the client reads its answer."""
        name_server = self._servers.name_server
        code = yield from self._ask(name_server.server, timeout_ms, is_send=False)
        return route_answered(name_server.route, code, default_topic=default_topic)

    def _broker(self, target: Target) -> Server:
        assert target.broker is not None
        return self._servers.broker(target.broker)

    def _ask(self, server: Server, timeout_ms: int, *, is_send: bool) -> Generator[Wait, bool, int]:
        """A request; without time left it is written, and nobody waits for the answer."""
        if not server.accepts(is_send=is_send):
            raise Thrown("RemotingConnectException")
        heard = _Heard(self._kernel)
        server.arrive(heard, is_send=is_send)
        if not (yield Wait(heard.over, self._kernel.now_ms + timeout_ms)):
            raise Thrown("RemotingTimeoutException")
        if heard.code is None:
            raise Thrown("RemotingSendRequestException")
        return heard.code


class _Heard:
    """What becomes of one request; code None once it is over: the connection broke."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self.over = Signal()
        self.code: int | None = None

    def answered(self, code: int) -> None:
        self.code = code
        self._kernel.give(self.over)

    def broken(self, *, reset: bool) -> None:  # noqa: ARG002 - without connections there is no difference
        self._kernel.give(self.over)
