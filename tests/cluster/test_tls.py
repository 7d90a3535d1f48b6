"""TLS connections: answers, refusals, and a paused server."""

import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketdiff.cluster.access import channels_to, require_tls
from rocketdiff.cluster.launched.certificates import Certificates, certificates
from rocketdiff.core.errors import ClusterError
from rocketdiff.core.files import private_file
from rocketdiff.core.security import Security, Tls
from rocketmq_reference.host.access import tls_context
from rocketmq_reference.host.channels import question_of
from rocketmq_reference.remoting.errors import (
    RemotingConnectException,
    RemotingSendRequestException,
    RemotingTimeoutException,
)
from rocketmq_reference.remoting.frames import Command
from tests.live import await_that
from tests.reference_impl.host.requesting import LONG_MS, SHORT_MS, Client, Echo

PAST = ("-10d", 1)
"""Expired: valid for a day ten days ago."""

LARGE = bytes(8_000_000)
"""More than one socket write."""


@pytest.fixture(scope="module")
def made() -> Certificates:
    return certificates()


@pytest.fixture
def security(made: Certificates, tmp_path: Path) -> Security:
    """Trusts the server's authority."""
    return Security(tls=Tls(private_file(tmp_path / "authority.pem", made.authority)))


@pytest.fixture
def server(made: Certificates, tmp_path: Path) -> Iterator[Echo]:
    """A server with TLS only."""
    echo = Echo(context_of(made, tmp_path))
    yield echo
    echo.close()


def context_of(made: Certificates, folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    names = [private_file(folder / name, text) for name, text in (("s.pem", made.certificate), ("s.key", made.key))]
    context.load_cert_chain(names[0], names[1])
    return context


def test_requests_are_answered(server: Echo, security: Security) -> None:
    """Empty and large requests are answered one after the other on one connection."""
    with channels_to(security) as channels:
        for body in (b"", LARGE, b"body"):
            assert channels.invoke(server.address, Command(0, {"n": "1"}, body), LONG_MS).body == body
    assert server.connections == 1


def test_a_request_that_waits_for_nothing_goes_out(server: Echo, security: Security) -> None:
    """A oneway request is sent although nobody reads the connection during the handshake."""
    assert security.tls is not None
    client = Client("5.3.3", tls_context(security.tls.ca))
    client.host.run(client.remoting.invoke_one_way(server.address, LONG_MS, question_of(Command(0, flag=2))))
    await_that(lambda: len(server.requests) == 1, "the request")
    client.shut_down()


def test_a_certificate_of_an_unknown_authority_is_refused(server: Echo, made: Certificates, tmp_path: Path) -> None:
    """A certificate of an unknown authority loses the connection at once, unless any is accepted."""
    del made
    other = certificates(*PAST)
    stranger = Security(tls=Tls(private_file(tmp_path / "other.pem", other.authority)))
    # The connection may be lost before or after the request is written.
    lost = (RemotingConnectException, RemotingSendRequestException)
    with channels_to(stranger) as channels, pytest.raises(lost):
        channels.invoke(server.address, Command(0), LONG_MS)
    with channels_to(Security(tls=Tls())) as channels:
        assert channels.invoke(server.address, Command(0), LONG_MS).code == 0


def test_an_expired_or_unknown_certificate_is_reported(security: Security, tmp_path: Path) -> None:
    """An expired certificate or unknown authority is reported; with any_certificate both pass."""
    past = certificates(*PAST)
    expired = Echo(context_of(past, tmp_path))
    theirs = Security(tls=Tls(private_file(tmp_path / "past.pem", past.authority)))
    try:
        with pytest.raises(ClusterError, match=r"certificate of broker-a .*has expired; try: see tls in mine\.yaml"):
            require_tls("broker-a", expired.address, theirs, "mine.yaml")
        with pytest.raises(
            ClusterError, match=r"an authority in .*authority\.pem; saw (unable|self.signed|certificate)"
        ):
            require_tls("broker-a", expired.address, security, "mine.yaml")
        require_tls("broker-a", expired.address, Security(tls=Tls()), "mine.yaml")
    finally:
        expired.close()


def test_a_server_that_closes_during_the_handshake_is_reported(security: Security) -> None:
    """A server that closes during the handshake, as without TLS, is reported."""
    with socket.create_server(("127.0.0.1", 0)) as plain:

        def hang_up() -> None:
            connection, _ = plain.accept()
            connection.close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        with pytest.raises(ClusterError, match=r"broker-a at .* to speak TLS; saw .+; try: see tls in mine\.yaml"):
            require_tls("broker-a", f"127.0.0.1:{plain.getsockname()[1]}", security, "mine.yaml")
        thread.join()


def test_a_plain_request_to_a_server_with_tls_is_lost(server: Echo) -> None:
    """A plain request to a TLS server loses its connection."""
    with channels_to(Security()) as channels, pytest.raises(RemotingSendRequestException):
        channels.invoke(server.address, Command(0), LONG_MS)


def test_a_server_that_is_paused_lets_a_request_time_out(security: Security) -> None:
    """A request to a paused TLS server times out: the kernel accepts, but the handshake stops."""
    with socket.create_server(("127.0.0.1", 0)) as paused, channels_to(security) as channels:
        address = f"127.0.0.1:{paused.getsockname()[1]}"
        with pytest.raises(RemotingTimeoutException):
            channels.invoke(address, Command(0), SHORT_MS)
