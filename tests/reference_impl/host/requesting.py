"""Requests of a release over real sockets, without a producer, and a scriptable server."""

import queue
import ssl
import threading
from collections.abc import Callable
from functools import partial

import pytest

from rocketmq_reference.client.codec import AsyncEnd
from rocketmq_reference.client.effects import Body
from rocketmq_reference.client.memory import Thread
from rocketmq_reference.client.remoting import CALLBACKS, Remoting
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.host.channels import Question, question_of
from rocketmq_reference.host.host import LiveHost
from rocketmq_reference.host.network import Network
from rocketmq_reference.remoting.errors import RemotingTimeoutException
from rocketmq_reference.remoting.frames import Command, respond_to
from tests import live
from tests.reference_impl.fake_broker import FakeServer, HangUp, Late, Reply, Silence

LONG_MS = 10_000  # elapses only in a failing test
SHORT_MS = 50
PATIENCE_S = 10
LATE, SILENT, HANGS_UP, RESETS = 1, 2, 3, 4
LATER = 5  # late enough to differ from SHORT_MS on a busy machine


class Echo(FakeServer):
    """Echoes requests; codes 1 and 5 are answered late, 2 never, 3 closes the connection, 4 resets it."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._late: set[int] = set()
        self.answered_late = 0
        super().__init__(tls)

    def serve(self, request: Command) -> Command | Reply:
        if request.opaque in self._late:
            self.answered_late += 1
            return respond_to(request, 0, ext_fields=request.ext_fields)
        if request.code in (LATE, LATER):
            self._late.add(request.opaque)
        replies: dict[int, Reply] = {
            LATE: Late(0.2),
            LATER: Late(1.0),
            SILENT: Silence(),
            HANGS_UP: HangUp(),
            RESETS: HangUp(reset=True),
        }
        return replies.get(request.code) or respond_to(request, 0, ext_fields=request.ext_fields, body=request.body)


class SkewedHost(LiveHost):
    """A host whose clock a test can move."""

    ahead_ms = 0

    @property
    def now_ms(self) -> int:
        return super().now_ms + self.ahead_ms


class RecordedEnds:
    """Records the ends of requests, and the names of the reporting threads."""

    def __init__(self) -> None:
        self._ends: queue.Queue[tuple[AsyncEnd, str]] = queue.Queue()

    def __call__(self, end: AsyncEnd, _thread: Thread) -> Body:
        self._ends.put((end, threading.current_thread().name))
        yield from ()

    def end(self) -> tuple[AsyncEnd, str]:
        return self._ends.get(timeout=PATIENCE_S)

    @property
    def is_quiet(self) -> bool:
        return self._ends.empty()


class Client:
    """The connections of a client of one release."""

    def __init__(self, release: str, tls: ssl.SSLContext | None = None) -> None:
        self.host = SkewedHost("test", {CALLBACKS: 4})
        self._network = Network(self.host, tls=tls)
        self.remoting: Remoting[Question, Command] = Remoting(
            self.host, dialect_of(release).client.remoting, self._network
        )
        self._network.remoting = self.remoting

    def invoke(self, server: FakeServer, command: Command, timeout_ms: int = LONG_MS) -> Command:
        return self.host.run(self.remoting.invoke(server.address, timeout_ms, question_of(command)))

    def invoke_async(
        self, server: FakeServer, message: RecordedEnds, command: Command, timeout_ms: int = LONG_MS
    ) -> None:
        question = question_of(command)
        self.host.run(
            self.remoting.invoke_async(server.address, timeout_ms, question, message, self.host.here(), is_retry=False)
        )

    def invoke_one_way(self, server: FakeServer, command: Command) -> None:
        self.host.run(self.remoting.invoke_one_way(server.address, LONG_MS, question_of(command)))

    def scan(self) -> None:
        self.host.post(self.remoting.scan)

    def await_close(self, server: FakeServer) -> None:
        await_that(lambda: not self.is_open(server))

    def is_open(self, server: FakeServer) -> bool:
        seen: list[bool] = []
        self.host.post(lambda: seen.append(self.remoting.is_open(server.address)))
        return seen[0]

    def shut_down(self) -> None:
        self.host.post(self.host.close)
        self.host.post(self._network.shut_down)


await_that = partial(live.await_that, within_s=PATIENCE_S)


def await_unanswered(invoke: Callable[[], object]) -> None:
    """
    Make a request that times out after it was written.

    It is repeated if on a busy machine the time is up before the write.
    """
    is_written = False
    while not is_written:
        with pytest.raises(RemotingTimeoutException) as unanswered:
            invoke()
        is_written = unanswered.value.written
