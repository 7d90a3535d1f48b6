"""Asynchronous and one-way requests."""

from collections.abc import Callable

import pytest

from rocketmq_reference.client.remoting import CALLBACKS, NETTY
from rocketmq_reference.remoting.errors import (
    RemotingConnectException,
    RemotingSendRequestException,
    RemotingTimeoutException,
)
from rocketmq_reference.remoting.frames import Command
from tests.reference_impl.host.requesting import HANGS_UP, RESETS, SILENT, Client, Echo, RecordedEnds, await_that

ClientOf = Callable[[str], Client]
EITHER = pytest.mark.parametrize("release", ["4.9.8", "5.3.3"])
"""A release that waits for its connection, and one that does not."""


@EITHER
def test_answers_find_their_requests(client_of: ClientOf, server: Echo, release: str) -> None:
    """50 concurrent requests over one connection get their own answers, in threads of the callback pool."""
    client, reported = client_of(release), [RecordedEnds() for _ in range(50)]
    for number, one in enumerate(reported):
        client.invoke_async(server, one, Command(0, {"n": str(number)}))
    for number, one in enumerate(reported):
        end, thread = one.end()
        assert end.answer.ext_fields == {"n": str(number)} and end.error is None
        assert end.written_ms > 0 and thread.startswith(CALLBACKS)
    assert server.connections == 1


@EITHER
def test_beside_synchronous_requests(client_of: ClientOf, server: Echo, release: str) -> None:
    """Asynchronous and synchronous requests share a connection, and each gets its own answer."""
    client, reported = client_of(release), RecordedEnds()
    for _ in range(20):
        client.invoke_async(server, reported, Command(0, body=b"x"))
        assert client.invoke(server, Command(0, body=b"sync")).body == b"sync"
        end, _ = reported.end()
        assert end.answer.body == b"x"


@pytest.mark.parametrize(
    ("release", "code"), [("4.3.0", RESETS), ("5.5.0", RESETS), ("5.1.3", HANGS_UP), ("5.5.0", HANGS_UP)]
)
def test_a_lost_connection(client_of: ClientOf, server: Echo, release: str, code: int) -> None:
    """A reset fails pending requests from 4.3.0 on, an orderly close from 5.1.3 on."""
    reported = RecordedEnds()
    client_of(release).invoke_async(server, reported, Command(code))
    end, thread = reported.end()
    assert isinstance(end.error, RemotingSendRequestException) and not end.direct
    assert thread.startswith(CALLBACKS)


def test_a_request_ended_by_a_scan_does_not_end_again(client_of: ClientOf, server: Echo) -> None:
    """A request that a scan has ended does not end again."""
    client, reported = client_of("5.5.0"), RecordedEnds()
    client.invoke_async(server, reported, Command(SILENT), 5_000)
    await_that(lambda: bool(server.requests))
    client.host.ahead_ms = 6_000
    client.scan()
    client.scan()
    assert isinstance(reported.end()[0].error, RemotingTimeoutException)
    server.hang_up()
    client.await_close(server)
    assert reported.is_quiet


def test_a_refused_connection(client_of: ClientOf, server: Echo) -> None:
    """A refused connect is thrown to 5.2.0; later the event loop reports it at once."""
    server.refuse()
    reported = RecordedEnds()
    with pytest.raises(RemotingConnectException):
        client_of("5.2.0").invoke_async(server, reported, Command(0))
    client_of("5.3.0").invoke_async(server, reported, Command(0))
    end, thread = reported.end()
    assert isinstance(end.error, RemotingConnectException) and end.direct and end.written_ms == 0
    assert thread.startswith(NETTY)


@EITHER
def test_one_way_requests(client_of: ClientOf, server: Echo, release: str) -> None:
    """One-way requests are written in order."""
    client = client_of(release)
    for number in range(10):
        client.invoke_one_way(server, Command(SILENT, body=bytes([number])))
    await_that(lambda: len(server.requests) == 10)
    assert [request.body for request in server.requests] == [bytes([number]) for number in range(10)]


def test_a_large_request_is_finished_in_the_background(client_of: ClientOf, server: Echo) -> None:
    """A request larger than the socket's buffer is written completely."""
    reported, body = RecordedEnds(), bytes(range(256)) * 40_000
    client_of("5.5.0").invoke_async(server, reported, Command(0, body=body))
    end, _ = reported.end()
    assert end.answer.body == body
