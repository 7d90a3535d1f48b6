"""Requests that nobody waits for: whose answer is whose, what a lost connection, a refusal and a scan tell, and where."""

import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from rocketmq_reference.connections.async_requests import AsyncEnd, AsyncRequests
from rocketmq_reference.connections.channels import Channels
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.remoting.errors import (
    RemotingConnectException,
    RemotingSendRequestException,
    RemotingTimeoutException,
    RemotingTooMuchRequestException,
)
from rocketmq_reference.remoting.frames import Command, encode, respond_to
from tests.reference_impl.fake_broker import FakeServer, HangUp, Reply, Silence

_LONG_MS = 10_000
_PATIENCE_S = 10
_SILENT, _HANGS_UP, _RESETS = 1, 2, 3


class _Echo(FakeServer):
    def serve(self, request: Command) -> Command | Reply:
        replies: dict[int, Reply] = {_SILENT: Silence(), _HANGS_UP: HangUp(), _RESETS: HangUp(reset=True)}
        return replies.get(request.code) or respond_to(request, 0, body=request.body)


class Told:
    """Keeps the ends it is told, and the names of the threads that do."""

    def __init__(self) -> None:
        self._ends: queue.Queue[tuple[AsyncEnd, str]] = queue.Queue()

    def __call__(self, end: AsyncEnd) -> None:
        self._ends.put((end, threading.current_thread().name))

    def end(self) -> tuple[AsyncEnd, str]:
        return self._ends.get(timeout=_PATIENCE_S)

    @property
    def is_quiet(self) -> bool:
        return self._ends.empty()


@dataclass
class Clock:
    """The requests' clock, which stands still until a test moves it."""

    now_ms: int = 1_000_000


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """In place of the real one."""
    clock = Clock()
    monkeypatch.setattr("rocketmq_reference.connections.async_requests.now_ms", lambda: clock.now_ms)
    return clock


class Client:
    """Asynchronous requests of a release."""

    def __init__(self, release: str) -> None:
        self.channels = Channels(dialect_of(release).remoting)
        self._pool = ThreadPoolExecutor(4, thread_name_prefix="callbacks")
        self.requests = AsyncRequests(dialect_of(release).remoting, self.channels, self._pool, "test")

    def invoke(self, server: FakeServer, told: Told, code: int = 0, timeout_ms: int = _LONG_MS) -> Command:
        command = Command(code, body=b"x")
        self.requests.invoke(server.address, command.opaque, encode(command), timeout_ms, told)
        return command

    def await_written(self) -> None:
        """Until a request is under way."""
        _await_that(lambda: bool(self.requests._pending))

    def await_close(self, server: FakeServer) -> None:
        """Until the server's end of the connection is seen to be gone."""
        _await_that(lambda: self.channels.current(server.address) is None)

    def close(self) -> None:
        self.channels.close()
        self.requests.close()
        self._pool.shutdown()


def _await_that(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.fixture
def server() -> Iterator[_Echo]:
    """A server that echoes, or does not."""
    echo = _Echo()
    yield echo
    echo.close()


@pytest.fixture(params=["4.9.8", "5.3.3"])
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    """Of a release that waits for connections, and of one that does not."""
    made = Client(request.param)
    yield made
    made.close()


@pytest.fixture
def newest() -> Iterator[Client]:
    """Of the newest release."""
    made = Client("5.5.0")
    yield made
    made.close()


def test_answers_find_their_requests(client: Client, server: _Echo) -> None:
    """Many at once over one connection; they are told by the pool's threads."""
    told = [Told() for _ in range(50)]
    commands = [client.invoke(server, one) for one in told]
    for one, command in zip(told, commands, strict=True):
        end, thread = one.end()
        assert end.answer is not None and end.answer.opaque == command.opaque
        assert end.error is None and end.written_ms is not None and thread.startswith("callbacks")
    assert server.connections == 1


def test_beside_synchronous_requests(client: Client, server: _Echo) -> None:
    """Whoever reads hands over what is the other's."""
    told = Told()
    for _ in range(20):
        client.invoke(server, told)
        answer = client.channels.invoke(server.address, Command(0, body=b"sync"), _LONG_MS)
        assert answer.body == b"sync"
        end, _ = told.end()
        assert end.answer is not None and end.answer.body == b"x"


@pytest.mark.parametrize(("code", "releases"), [(_RESETS, ("4.3.0", "5.5.0")), (_HANGS_UP, ("5.1.3", "5.5.0"))])
def test_a_lost_connection(server: _Echo, code: int, releases: tuple[str, ...]) -> None:
    """Fails what waits on it: after a reset from 4.3.0 on, after an orderly close from 5.1.3 on."""
    for release in releases:
        client, told = Client(release), Told()
        client.invoke(server, told, code)
        end, thread = told.end()
        assert isinstance(end.error, RemotingSendRequestException) and not end.direct
        assert thread.startswith("callbacks")
        client.close()


def test_an_orderly_close_to_5_1_2_is_not_noticed(server: _Echo, clock: Clock) -> None:
    """But by the scan, once the time has been up for a second."""
    client, told = Client("5.1.1"), Told()
    client.invoke(server, told, _HANGS_UP, 100)
    client.await_close(server)
    clock.now_ms += 1_099
    client.requests.scan()
    assert told.is_quiet
    clock.now_ms += 1
    client.requests.scan()
    assert isinstance(told.end()[0].error, RemotingTimeoutException)
    client.close()


def test_a_close_after_the_scan_is_nobodys(newest: Client, server: _Echo, clock: Clock) -> None:
    """Each request ends once."""
    told = Told()
    newest.invoke(server, told, _SILENT, 100)
    newest.await_written()
    clock.now_ms += 1_100
    newest.requests.scan()
    newest.requests.scan()
    assert isinstance(told.end()[0].error, RemotingTimeoutException)
    server.hang_up()
    newest.await_close(server)
    newest.close()
    assert told.is_quiet


def test_a_refused_connection(server: _Echo) -> None:
    """Thrown to 5.2.0; then told at once, by the event loop."""
    server.refuse()
    old, new, told = Client("5.2.0"), Client("5.3.0"), Told()
    with pytest.raises(RemotingConnectException):
        old.invoke(server, told)
    new.invoke(server, told)
    end, thread = told.end()
    assert isinstance(end.error, RemotingConnectException) and end.direct and end.written_ms is None
    assert thread.startswith("event-loop")
    old.close()
    new.close()


@pytest.mark.parametrize(("release", "ends"), [("5.3.3", 2), ("5.4.0", 1)])
def test_a_connection_that_came_too_late(server: _Echo, release: str, ends: int) -> None:
    """One failure, and to 5.3.3 a second one."""
    client, told = Client(release), Told()
    client.invoke(server, told, timeout_ms=-1)
    errors = [type(told.end()[0].error) for _ in range(ends)]
    assert errors == [RemotingTooMuchRequestException, RemotingTimeoutException][:ends]
    time.sleep(0.05)
    assert told.is_quiet
    client.close()


def test_a_connection_that_came_too_late_is_thrown_to_5_2_0(server: _Echo) -> None:
    """And nothing is written."""
    client = Client("5.2.0")
    with pytest.raises(RemotingTooMuchRequestException):
        client.invoke(server, Told(), timeout_ms=-1)
    assert server.requests == []
    client.close()


def test_one_way_requests(client: Client, server: _Echo) -> None:
    """Are written in order and leave nothing behind."""
    for number in range(10):
        client.requests.invoke_oneway(server.address, encode(Command(_SILENT, body=bytes([number]))))
    end = time.monotonic() + _PATIENCE_S
    while len(server.requests) < 10 and time.monotonic() < end:
        time.sleep(0.002)
    assert [request.body for request in server.requests] == [bytes([number]) for number in range(10)]


def test_a_large_request_is_finished_in_the_background(newest: Client, server: _Echo) -> None:
    """More than a socket takes at once."""
    told, body = Told(), bytes(range(256)) * 40_000
    command = Command(0, body=body)
    newest.requests.invoke(server.address, command.opaque, encode(command), _LONG_MS, told)
    end, _ = told.end()
    assert end.answer is not None and end.answer.body == body
