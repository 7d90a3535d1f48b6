"""The relay with TLS: it decodes frames, and both sides notice the same as without it."""

import socket
import ssl
from pathlib import Path

import msgspec
import pytest

from rocketdiff.cluster.access import channels_to
from rocketdiff.cluster.launched.certificates import certificates
from rocketdiff.core.files import private_file
from rocketdiff.core.security import Security, Tls
from rocketdiff.relay.proxy.listener import Upstream
from rocketdiff.relay.proxy.process import Relay
from rocketdiff.relay.proxy.program import RelayTls
from rocketdiff.relay.remoting.record import Passed, read_wire
from rocketmq_reference.remoting.errors import RemotingException, RemotingTimeoutException
from rocketmq_reference.remoting.frames import Command
from tests.reference_impl.host.requesting import HANGS_UP, LONG_MS, Echo
from tests.relay.relayed import await_that, refuses

SHORT_MS = 300
"""For a request without an answer, including the handshake with the relay."""


@pytest.fixture
def tls(tmp_path: Path) -> RelayTls:
    """One certificate for both sides."""
    made = certificates()
    texts = {"authority.pem": made.authority, "shown.pem": made.certificate, "shown.key": made.key}
    ca, certificate, key = (str(private_file(tmp_path / name, text)) for name, text in texts.items())
    return RelayTls(certificate, key, ca)


@pytest.fixture
def security(tls: RelayTls) -> Security:
    """Settings of the relay's clients."""
    assert tls.ca is not None
    return Security(tls=Tls(Path(tls.ca)))


def echo(tls: RelayTls, *, asks: bool = False) -> Echo:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls.certificate, tls.key)
    if asks:
        context.load_verify_locations(tls.ca)
        context.verify_mode = ssl.CERT_REQUIRED
    return Echo(context)


def relay_of(address: str, tls: RelayTls, folder: Path) -> Relay:
    return Relay((Upstream("broker-a", address, is_broker=True),), folder / "wire.ndjson", tls)


def test_frames_are_seen_and_the_files_of_the_key_may_go(tls: RelayTls, security: Security, tmp_path: Path) -> None:
    """The relay decodes large frames and a closed connection, even after the key file is deleted."""
    server = echo(tls)
    large = bytes(3_000_000)
    with relay_of(server.address, tls, tmp_path) as relay, channels_to(security) as channels:
        Path(tls.key).unlink()
        for body in (b"", large):
            assert channels.invoke(relay.addresses["broker-a"], Command(0, {"n": "1"}, body), LONG_MS).body == body
        with pytest.raises(RemotingException):
            channels.invoke(relay.addresses["broker-a"], Command(HANGS_UP), LONG_MS)
    server.close()
    passed = [record for record in read_wire(relay.journal) if isinstance(record, Passed)]
    assert [(record.to, record.code) for record in passed] == [("server", 0), ("client", 0)] * 2 + [
        ("server", HANGS_UP)
    ]
    assert all(record.note is None for record in passed)
    assert not relay.journal.with_suffix(".log").exists(), "it had nothing to complain of"


def test_a_server_that_asks_for_a_certificate_is_shown_that_of_the_relay(
    tls: RelayTls, security: Security, tmp_path: Path
) -> None:
    """A server that requires a certificate gets the relay's, not a client's; without one it hangs up."""
    made = certificates()
    own = private_file(tmp_path / "own.pem", made.client_certificate)
    key = private_file(tmp_path / "own.key", made.client_key)
    server = echo(tls, asks=True)
    shown = msgspec.structs.replace(tls, own_certificate=str(own), own_key=str(key))
    with relay_of(server.address, shown, tmp_path / "with") as relay, channels_to(security) as channels:
        assert channels.invoke(relay.addresses["broker-a"], Command(0), LONG_MS).code == 0
    with (
        relay_of(server.address, tls, tmp_path / "without") as relay,
        channels_to(security) as channels,
        pytest.raises(RemotingException),
    ):
        channels.invoke(relay.addresses["broker-a"], Command(0), LONG_MS)
    server.close()


def test_a_server_that_is_paused_is_silent_and_one_that_is_gone_refuses(
    tls: RelayTls, security: Security, tmp_path: Path
) -> None:
    """A paused server gives no answer; the port of a dead one closes."""
    paused = socket.create_server(("127.0.0.1", 0))
    address = f"127.0.0.1:{paused.getsockname()[1]}"
    with relay_of(address, tls, tmp_path) as relay:
        with channels_to(security) as channels, pytest.raises(RemotingTimeoutException):
            channels.invoke(relay.addresses["broker-a"], Command(0), SHORT_MS)
        paused.close()
        with channels_to(security) as channels, pytest.raises(RemotingException):
            channels.invoke(relay.addresses["broker-a"], Command(0), LONG_MS)
        await_that(lambda: refuses(relay.addresses["broker-a"]))
