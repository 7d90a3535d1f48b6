"""Threads that share one connection: each gets its answer, and what happens if no answer comes."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from rocketmq_reference.client.effects import Running
from rocketmq_reference.client.memory import Thread
from rocketmq_reference.host.channels import Channels
from rocketmq_reference.remoting.errors import (
    RemotingConnectException,
    RemotingException,
    RemotingSendRequestException,
    RemotingTimeoutException,
)
from rocketmq_reference.remoting.frames import Command, Serialization, respond_to
from tests.reference_impl.fake_broker import Reply
from tests.reference_impl.host.requesting import (
    HANGS_UP,
    LATE,
    LATER,
    LONG_MS,
    RESETS,
    SHORT_MS,
    SILENT,
    Client,
    Echo,
    await_that,
    await_unanswered,
)


@pytest.fixture
def channels() -> Iterator[Channels]:
    """Connections without the rules of a release."""
    with Channels() as made:
        yield made


@pytest.mark.parametrize("serialization", list(Serialization))
def test_answer_of_a_request(channels: Channels, server: Echo, serialization: Serialization) -> None:
    """A request is answered in its own header encoding."""
    answer = channels.invoke(server.address, Command(0, {"n": "1"}, b"body", serialization=serialization), LONG_MS)
    assert (answer.ext_fields, answer.body, answer.serialization) == ({"n": "1"}, b"body", serialization)


def test_descriptors_beyond_select_are_polled(
    channels: Channels, server: Echo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers and timeouts also work for descriptors above the limit of select()."""
    monkeypatch.setattr("rocketmq_reference.host.wire._SELECT_LIMIT", 0)
    assert channels.invoke(server.address, Command(0, {"n": "1"}, bytes(8_000_000)), LONG_MS).ext_fields == {"n": "1"}
    with pytest.raises(RemotingTimeoutException):
        channels.invoke(server.address, Command(SILENT), SHORT_MS)


def test_many_threads_get_their_own_answers(channels: Channels, server: Echo) -> None:
    """Eight threads share a connection and get their own answers, although some come late and out of order."""
    wrong: list[str] = []

    def work(thread: int) -> None:
        for number in range(100):
            mark = f"{thread}/{number}"
            command = Command(LATE if number % 50 == thread else 0, {"n": mark})
            if channels.invoke(server.address, command, LONG_MS).ext_fields != {"n": mark}:
                wrong.append(mark)

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(30)
    assert not wrong and not any(each.is_alive() for each in threads)
    assert server.connections == 1


def test_big_bodies_go_both_ways(channels: Channels, server: Echo) -> None:
    """A body larger than the socket's buffers is written and read in parts."""
    body = bytes(8_000_000)
    assert channels.invoke(server.address, Command(0, body=body), LONG_MS).body == body


def test_timeout_keeps_the_connection_and_drops_the_late_answer(channels: Channels, server: Echo) -> None:
    """A late answer is dropped, and the next request gets its own."""
    await_unanswered(lambda: channels.invoke(server.address, Command(LATER, {"n": "late"}), SHORT_MS))
    await_that(lambda: server.answered_late == 1)
    time.sleep(0.05)  # for the way from the server to the client
    assert channels.invoke(server.address, Command(0, {"n": "next"}), LONG_MS).ext_fields == {"n": "next"}
    assert server.connections == 1


def test_follower_times_out_while_another_reads(channels: Channels, server: Echo) -> None:
    """A thread times out although another thread reads the connection."""
    leader = threading.Thread(target=lambda: channels.invoke(server.address, Command(LATE), LONG_MS))
    leader.start()
    with pytest.raises(RemotingTimeoutException):
        channels.invoke(server.address, Command(SILENT), SHORT_MS)
    leader.join(10)
    assert not leader.is_alive()


def test_reading_is_handed_on(channels: Channels, server: Echo) -> None:
    """If the reading thread times out, another waiting thread reads on."""
    results: list[object] = []
    reader = threading.Thread(target=lambda: results.append(_error_of(channels, server, Command(SILENT), SHORT_MS)))
    reader.start()
    time.sleep(0.02)
    assert channels.invoke(server.address, Command(LATE, {"n": "x"}), LONG_MS).ext_fields == {"n": "x"}
    reader.join(10)
    assert results == [RemotingTimeoutException]


def _error_of(
    channels: Channels | Client, server: Echo, command: Command, timeout_ms: int
) -> type[RemotingException] | None:
    try:
        if isinstance(channels, Client):
            channels.invoke(server, command, timeout_ms)
        else:
            channels.invoke(server.address, command, timeout_ms)
    except RemotingException as error:
        return type(error)
    return None


@pytest.mark.parametrize("code", [HANGS_UP, RESETS])
def test_lost_connection_fails_calls_at_once(channels: Channels, server: Echo, code: int) -> None:
    """A close or reset by the server fails the call long before its timeout; the next call connects again."""
    with pytest.raises(RemotingSendRequestException):
        channels.invoke(server.address, Command(code), LONG_MS)
    assert channels.invoke(server.address, Command(0, {"n": "1"}), LONG_MS).ext_fields == {"n": "1"}
    assert server.connections == 2


def test_close_while_idle_is_noticed(client_of: Callable[[str], Client], server: Echo) -> None:
    """A client checks an idle connection before use, because no thread reads it."""
    client = client_of("5.5.0")
    client.invoke(server, Command(0))
    server.hang_up()
    client.await_close(server)
    client.invoke(server, Command(0))
    assert server.connections == 2


def test_a_refused_connect_is_a_remoting_connect_exception(channels: Channels, server: Echo) -> None:
    """A refused connect and an invalid address are RemotingConnectException."""
    server.refuse()
    for address in (server.address, "nonsense"):
        with pytest.raises(RemotingConnectException):
            channels.invoke(address, Command(0), LONG_MS)


def test_a_server_s_request_is_refused(channels: Channels, server: Echo) -> None:
    """A request of the server is answered with code 3, a one-way request not at all."""
    channels.invoke(server.address, Command(0), LONG_MS)
    server.send_unasked(Command(40, opaque=1_000_001, flag=2))
    server.send_unasked(Command(39, opaque=1_000_000))
    deadline = time.monotonic() + 5
    while not any(request.is_response for request in server.requests) and time.monotonic() < deadline:
        channels.invoke(server.address, Command(0), LONG_MS)
    (refusal,) = [request for request in server.requests if request.is_response]
    assert (refusal.code, refusal.opaque) == (3, 1_000_000)


def test_a_served_request_gets_the_answer_of_its_handler(client_of: Callable[[str], Client], server: Echo) -> None:
    """A handler gets a server's requests of its code; its answer has the request's opaque, a one-way request gets none."""
    client, asked = client_of("5.3.3"), list[Command]()

    def answer(request: Command, _thread: Thread) -> Running[Command]:
        asked.append(request)
        yield from ()
        return Command(0, {"n": request.ext_fields["n"]}, b"state")

    client.remoting.serve(39, answer)
    client.remoting.serve(40, answer)
    client.invoke(server, Command(0))
    for request in (
        Command(40, {"n": "1"}, opaque=1_000_001, flag=2),
        Command(39, {"n": "2"}, opaque=1_000_002, serialization=Serialization.ROCKETMQ),
        Command(41, {"n": "3"}, opaque=1_000_003),
    ):
        server.send_unasked(request)
    await_that(lambda: len([request for request in server.requests if request.is_response]) == 2)
    answers = {request.opaque: request for request in server.requests if request.is_response}
    assert sorted(request.code for request in asked) == [39, 40]
    served, refused = answers[1_000_002], answers[1_000_003]
    assert (served.code, served.ext_fields, served.body) == (0, {"n": "2"}, b"state")
    assert served.serialization is Serialization.ROCKETMQ
    assert refused.code == 3


def test_garbage_closes_the_connection(channels: Channels, server: Echo) -> None:
    """Bytes that are no frame end the connection and fail its requests."""
    channels.invoke(server.address, Command(0), LONG_MS)
    threading.Thread(target=_send_garbage, args=(server,), daemon=True).start()
    with pytest.raises(RemotingSendRequestException):
        channels.invoke(server.address, Command(SILENT), LONG_MS)


def _send_garbage(server: Echo) -> None:
    await_that(lambda: any(request.code == SILENT for request in server.requests))
    for connection in list(server._open):
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def test_closing_after_a_timeout_fails_the_others(client_of: Callable[[str], Client], server: Echo) -> None:
    """A timeout that closes the connection fails all other calls on it."""
    client = client_of("4.9.8")
    client.invoke(server, Command(0))
    errors: list[object] = []
    waiting = threading.Thread(
        target=lambda: errors.append(_error_of(client, server, Command(SILENT), LONG_MS)), daemon=True
    )
    waiting.start()
    await_that(lambda: any(request.code == SILENT for request in server.requests))
    await_unanswered(lambda: client.invoke(server, Command(SILENT), SHORT_MS))
    waiting.join(5)
    assert errors == [RemotingSendRequestException]


def test_no_time_left_writes_nothing(channels: Channels, server: Echo) -> None:
    """With a timeout of 0 the call fails before the request is written."""
    with pytest.raises(RemotingTimeoutException) as raised:
        channels.invoke(server.address, Command(0), 0)
    assert not raised.value.written and server.requests == []


def test_closed_channels_stay_closed(server: Echo) -> None:
    """No connection is made after close()."""
    channels = Channels()
    channels.close()
    with pytest.raises(RemotingSendRequestException):
        channels.invoke(server.address, Command(0), LONG_MS)


def test_go_away_is_answered_by_a_new_connection(client_of: Callable[[str], Client], server: Echo) -> None:
    """From 5.2.0 GO_AWAY repeats the request on a new connection, and the thread that reads the old one gets the answer."""
    client = client_of("5.3.3")
    client.invoke(server, Command(0))
    going = iter([1500])
    plain, server.serve = server.serve, lambda request: _going_away(request, next(going, None), plain)  # type: ignore[method-assign]
    assert client.invoke(server, Command(0, {"n": "again"})).ext_fields == {"n": "again"}
    assert server.connections == 2


def _going_away(request: Command, code: int | None, plain: Callable[[Command], Command | Reply]) -> Command | Reply:
    return plain(request) if code is None else respond_to(request, code)
