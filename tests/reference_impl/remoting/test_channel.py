"""One connection, many threads: answers find their callers, and what happens when none comes."""

import threading
import time
from collections.abc import Iterator

import pytest

from rocketmq_reference.connections.channel import Channel
from rocketmq_reference.connections.channels import Channels, PlainConnections
from rocketmq_reference.remoting.errors import (
    RemotingConnectException,
    RemotingException,
    RemotingSendRequestException,
    RemotingTimeoutException,
)
from rocketmq_reference.remoting.frames import Command, Serialization, respond_to
from tests.reference_impl.fake_broker import FakeServer, HangUp, Late, Reply, Silence

_LONG_MS = 10_000  # never waited for: what a test expects comes at once, and only a failure waits
_SHORT_MS = 50


class _Echo(FakeServer):
    """Answers with the request's own fields; code 1 is answered late, 2 never, 3 hung up on, 4 with a reset."""

    def serve(self, request: Command) -> Command | Reply:
        if request.opaque in self.served_late:
            return respond_to(request, 0, ext_fields=request.ext_fields)
        self.served_late.add(request.opaque)
        replies: dict[int, Reply] = {1: Late(0.2), 2: Silence(), 3: HangUp(), 4: HangUp(reset=True)}
        return replies.get(request.code) or respond_to(request, 0, ext_fields=request.ext_fields, body=request.body)

    def __init__(self) -> None:
        self.served_late: set[int] = set()
        super().__init__()


@pytest.fixture
def server() -> Iterator[_Echo]:
    """A server that echoes."""
    echo = _Echo()
    yield echo
    echo.close()


@pytest.fixture
def channel(server: _Echo) -> Iterator[Channel]:
    """A channel to it, with the behaviour of the newest releases."""
    channel = Channel.connect(server.address)
    yield channel
    channel.close()


@pytest.mark.parametrize("serialization", list(Serialization))
def test_answer_of_a_request(channel: Channel, serialization: Serialization) -> None:
    """A request is answered in either header encoding."""
    answer = channel.invoke(Command(0, {"n": "1"}, b"body", serialization=serialization), _LONG_MS)
    assert (answer.ext_fields, answer.body, answer.serialization) == ({"n": "1"}, b"body", serialization)


def test_descriptors_beyond_select_are_polled(channel: Channel, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process with very many files open gets its answers and timeouts all the same."""
    monkeypatch.setattr("rocketmq_reference.connections.wire._SELECT_LIMIT", 0)
    assert channel.invoke(Command(0, {"n": "1"}, bytes(8_000_000)), _LONG_MS).ext_fields == {"n": "1"}
    with pytest.raises(RemotingTimeoutException):
        channel.invoke(Command(2), _SHORT_MS)


def test_many_threads_get_their_own_answers(channel: Channel) -> None:
    """Eight threads share the connection, some answers come late and out of order, and none is mixed up."""
    wrong: list[str] = []

    def work(thread: int) -> None:
        for number in range(100):
            mark = f"{thread}/{number}"
            answer = channel.invoke(Command(1 if number % 50 == thread else 0, {"n": mark}), _LONG_MS)
            if answer.ext_fields != {"n": mark}:
                wrong.append(mark)

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(30)
    assert not wrong and not any(each.is_alive() for each in threads)


def test_big_bodies_go_both_ways(channel: Channel) -> None:
    """A body larger than the socket's buffers is written and read in parts."""
    body = bytes(8_000_000)
    assert channel.invoke(Command(0, body=body), _LONG_MS).body == body


def test_timeout_keeps_the_channel_and_drops_the_late_answer(channel: Channel) -> None:
    """The late answer finds nobody, and the next request its own."""
    with pytest.raises(RemotingTimeoutException):
        channel.invoke(Command(1, {"n": "late"}), _SHORT_MS)
    time.sleep(0.3)
    assert channel.is_usable()
    assert channel.invoke(Command(0, {"n": "next"}), _LONG_MS).ext_fields == {"n": "next"}


def test_follower_times_out_while_another_reads(channel: Channel) -> None:
    """A thread whose answer does not come leaves in time although another one is reading."""
    leader = threading.Thread(target=lambda: channel.invoke(Command(1), _LONG_MS))
    leader.start()
    with pytest.raises(RemotingTimeoutException):
        channel.invoke(Command(2), _SHORT_MS)
    leader.join(10)
    assert not leader.is_alive()


def test_reading_is_handed_on(channel: Channel) -> None:
    """When the reading thread's time is up, another waiting one reads on and gets its answer."""
    results: list[object] = []
    reader = threading.Thread(target=lambda: results.append(_error_of(channel, Command(2), _SHORT_MS)))
    reader.start()
    time.sleep(0.02)
    assert channel.invoke(Command(1, {"n": "x"}), _LONG_MS).ext_fields == {"n": "x"}
    reader.join(10)
    assert results == [RemotingTimeoutException]


def _error_of(channel: Channel, command: Command, timeout_ms: int) -> type[RemotingException] | None:
    try:
        channel.invoke(command, timeout_ms)
    except RemotingException as error:
        return type(error)
    return None


@pytest.mark.parametrize("code", [3, 4])
def test_lost_connection_fails_calls_at_once(channel: Channel, code: int) -> None:
    """The peer hangs up, with or without a reset: the call fails long before its time."""
    with pytest.raises(RemotingSendRequestException):
        channel.invoke(Command(code), _LONG_MS)
    assert not channel.is_usable()


def test_fin_leaves_calls_waiting_where_the_release_does(server: _Echo) -> None:
    """To 5.1.2 an orderly close by the peer is only noticed by the clock."""
    channel = Channel.connect(server.address, fails_pending_on_fin=False)
    with pytest.raises(RemotingTimeoutException):
        channel.invoke(Command(3), _SHORT_MS)


def test_reset_fails_calls_where_fin_does_not(server: _Echo) -> None:
    """From 4.3.0 a reset fails them at once all the same."""
    channel = Channel.connect(server.address, fails_pending_on_fin=False)
    with pytest.raises(RemotingSendRequestException):
        channel.invoke(Command(4), _LONG_MS)


def test_own_close_fails_other_calls(channel: Channel) -> None:
    """Closing from this side fails what is under way, from 4.3.0 on."""
    threading.Timer(0.05, channel.close).start()
    with pytest.raises(RemotingSendRequestException):
        channel.invoke(Command(2), _LONG_MS)


def test_own_close_leaves_calls_waiting_where_the_release_does(server: _Echo) -> None:
    """To 4.2.0 calls on a closed connection wait for their time, followers too."""
    channel = Channel.connect(server.address, fails_pending_on_close=False)
    errors: list[object] = []
    threads = [
        threading.Thread(target=lambda: errors.append(_error_of(channel, Command(2), 4 * _SHORT_MS))) for _ in range(3)
    ]
    for each in threads:
        each.start()
    time.sleep(_SHORT_MS / 1000)
    channel.close()
    for each in threads:
        each.join(10)
    assert errors == [RemotingTimeoutException] * 3


def test_close_while_idle_is_noticed(channel: Channel, server: _Echo) -> None:
    """Nobody reads an idle connection, so is_usable() looks."""
    channel.invoke(Command(0), _LONG_MS)
    server.hang_up()
    deadline = time.monotonic() + 5
    while channel.is_usable() and time.monotonic() < deadline:
        time.sleep(0.005)
    assert not channel.is_usable()
    with pytest.raises(RemotingSendRequestException):
        channel.invoke(Command(0), _LONG_MS)


def test_nobody_listens(server: _Echo) -> None:
    """A refused connection is its own error, and so is an address that is none."""
    server.refuse()
    with pytest.raises(RemotingConnectException):
        Channel.connect(server.address)
    with pytest.raises(RemotingConnectException):
        Channel.connect("nonsense")


def test_a_server_s_request_is_refused(channel: Channel, server: _Echo) -> None:
    """Requests of the server are answered with code 3, oneway ones not at all."""
    channel.invoke(Command(0), _LONG_MS)
    server.send_unasked(Command(40, opaque=1_000_001, flag=2))
    server.send_unasked(Command(39, opaque=1_000_000))
    channel.invoke(Command(1), _LONG_MS)
    deadline = time.monotonic() + 5
    while not any(request.is_response for request in server.requests) and time.monotonic() < deadline:
        channel.invoke(Command(0), _LONG_MS)
    (refusal,) = [request for request in server.requests if request.is_response]
    assert (refusal.code, refusal.opaque) == (3, 1_000_000)


def test_garbage_closes_the_channel(server: _Echo, channel: Channel) -> None:
    """A stream that is no frames cannot be read on."""
    channel.invoke(Command(0), _LONG_MS)
    for connection in server._open:
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    with pytest.raises(RemotingSendRequestException):
        channel.invoke(Command(2), _LONG_MS)


def test_one_connection_an_address(server: _Echo) -> None:
    """All requests to an address share a connection, whoever is first."""
    connected: list[str] = []
    with Channels(on_connected=connected.append) as channels:
        threads = [
            threading.Thread(target=lambda: channels.invoke(server.address, Command(0), _LONG_MS)) for _ in range(5)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join(10)
        assert channels.addresses() == (server.address,)
    assert (server.connections, connected) == (1, [server.address])


def test_lost_connections_are_replaced(server: _Echo) -> None:
    """After a lost connection the next request makes a new one."""
    with Channels() as channels:
        with pytest.raises(RemotingSendRequestException):
            channels.invoke(server.address, Command(3), _LONG_MS)
        assert channels.invoke(server.address, Command(0, {"n": "1"}), _LONG_MS).ext_fields == {"n": "1"}
    assert server.connections == 2


class _Closing(PlainConnections):
    def closes_connection(self, _timeout_ms: int, _left_ms: int, /) -> bool:
        return True


@pytest.mark.parametrize(("rules", "connections"), [(PlainConnections(), 1), (_Closing(), 2)])
def test_timeout_costs_the_connection_where_the_release_does_that(
    server: _Echo, rules: PlainConnections, connections: int
) -> None:
    """The rules decide whether the next request finds the old connection."""
    with Channels(rules) as channels:
        with pytest.raises(RemotingTimeoutException):
            channels.invoke(server.address, Command(2), _SHORT_MS)
        channels.invoke(server.address, Command(0), _LONG_MS)
    assert server.connections == connections


def test_closing_after_a_timeout_fails_the_others(server: _Echo) -> None:
    """The call that times out takes every other call on the connection with it."""
    with Channels(_Closing()) as channels:
        errors: list[object] = []

        def wait_long() -> None:
            try:
                channels.invoke(server.address, Command(2), _LONG_MS)
            except RemotingException as error:
                errors.append(type(error))

        channels.invoke(server.address, Command(0), _LONG_MS)
        waiting = threading.Thread(target=wait_long)
        waiting.start()
        with pytest.raises(RemotingTimeoutException):
            channels.invoke(server.address, Command(2), _SHORT_MS)
        waiting.join(5)
    assert errors == [RemotingSendRequestException]


def test_no_time_left_writes_nothing(server: _Echo) -> None:
    """A timeout of nothing is over before the request is written."""
    with Channels() as channels, pytest.raises(RemotingTimeoutException) as raised:
        channels.invoke(server.address, Command(0), 0)
    assert not raised.value.written and server.requests == []


def test_closed_channels_stay_closed(server: _Echo) -> None:
    """No connection is made after close()."""
    channels = Channels()
    channels.close()
    with pytest.raises(RemotingSendRequestException):
        channels.invoke(server.address, Command(0), _LONG_MS)
