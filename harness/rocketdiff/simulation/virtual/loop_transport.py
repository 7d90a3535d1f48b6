"""Transport at depth "send-loop": responses, latencies and failures without connections."""

from rocketdiff.simulation.virtual.codec import NAME_SERVER, Answered, Question, broker_at, is_send, response_to
from rocketdiff.simulation.virtual.kernel import Kernel
from rocketdiff.simulation.virtual.servers import Server, Servers
from rocketmq_reference.client.codec import OnEnd
from rocketmq_reference.client.effects import Body, Running, Signal, Wait
from rocketmq_reference.client.memory import Thread
from rocketmq_reference.remoting.errors import (
    RemotingConnectException,
    RemotingSendRequestException,
    RemotingTimeoutException,
)


class LoopTransport:
    """A remoting client without connections."""

    __slots__ = ("_kernel", "_servers")

    def __init__(self, kernel: Kernel, servers: Servers) -> None:
        self._kernel = kernel
        self._servers = servers

    def invoke(self, address: str, timeout_ms: int, question: Question) -> Running[Answered]:
        """Send a request. A response exactly at the deadline is in time. With no time left, the request does not wait."""
        server = self._server(address)
        if not server.accepts(is_send=is_send(question)):
            raise RemotingConnectException(address)
        outcome = _Outcome(self._kernel)
        server.arrive(outcome, is_send=is_send(question))
        if not (yield Wait(outcome.over, self._kernel.now_ms + timeout_ms)):
            raise RemotingTimeoutException(address, timeout_ms)
        if outcome.code is None:
            raise RemotingSendRequestException(address)
        return response_to(question, outcome.code, self._servers.name_server.route)

    def invoke_one_way(self, address: str, _timeout_ms: int, _question: Question) -> Body:
        server = self._server(address)
        if not server.accepts(is_send=True):
            raise RemotingConnectException(address)
        server.arrive(_Outcome(self._kernel), is_send=True)
        yield from ()

    def invoke_async(
        self,
        address: str,
        timeout_ms: int,
        question: Question,
        on_end: OnEnd,
        thread: Thread,
        *,
        is_retry: bool,
    ) -> Body:
        """Not implemented: scripts with asynchronous sends run at depth "remoting"."""
        raise NotImplementedError

    def reach(self, address: str) -> Body:
        raise NotImplementedError

    def is_open(self, _address: str) -> bool:
        return True

    def _server(self, address: str) -> Server:
        if address == NAME_SERVER:
            return self._servers.name_server.server
        return self._servers.broker(broker_at(address))


class _Outcome:
    """The end of one request; code None after the end: the connection broke."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self.over = Signal()
        self.code: int | None = None

    def answered(self, code: int) -> None:
        self.code = code
        self._kernel.give(self.over)

    def broken(self, *, reset: bool) -> None:  # noqa: ARG002 - no difference without connections
        self._kernel.give(self.over)
