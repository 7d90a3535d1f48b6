"""The relay between reference client and scripted servers: forwarding, records and switches."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.relay.proxy.listener import Upstream
from rocketdiff.relay.proxy.process import Relay
from rocketdiff.relay.proxy.switches import Action, Switch
from rocketdiff.relay.remoting.record import Closed, Connected, Opened, Passed, Refused, Shut, read_wire
from rocketmq_reference.remoting import requests
from rocketmq_reference.remoting.errors import RemotingTooMuchRequestException
from rocketmq_reference.remoting.frames import Command, encode
from tests.reference_impl.fake_broker import FakeBroker
from tests.relay.relayed import Relayed, await_that, message, passed, refuses
from tests.subjects.processes import gone, only_child

NS_PER_MS = 1_000_000


def test_reports_of_the_client_and_the_wire_are_merged(relayed: Relayed) -> None:
    """
    Wire and client have the same sends, brokers and queues in order; each exchange lies within its attempt.

    The route names the relay's ports; each server has one connection, because none hung up and was probed.
    """
    with relayed.producer() as producer:
        for number in range(16):
            producer.send(message(number))
    records = relayed.records()
    requests, answers = passed(records), passed(records, "client")
    reported = [(event.broker, event.queue_id) for event in relayed.heard.ended]
    assert [(frame.node, frame.queue_id) for frame in requests] == reported
    assert [frame.identity for frame in requests] == [f"run/T/{number}" for number in range(16)]
    assert [frame.queue_offset for frame in answers] == [0] * 8 + [1] * 8
    for event, request, answer in zip(relayed.heard.ended, requests, answers, strict=True):
        assert request.out_ns is not None and answer.out_ns is not None
        assert event.start_ns <= request.in_ns <= request.out_ns <= answer.in_ns <= event.end_ns
        assert request.opaque == answer.opaque
    connected = [record.node for record in records if isinstance(record, Connected)]
    assert sorted(connected) == ["broker-a", "broker-b", "name-server-1"]
    assert [relayed.cluster[letter].connections for letter in "ab"] == [1, 1]
    assert not [record for record in records if isinstance(record, Passed) and record.note]


def test_an_address_that_is_not_relayed_is_reported(relayed: Relayed) -> None:
    """A route address that bypasses the relay is recorded."""
    route = relayed.cluster.name_server.routes["T"]
    route["brokerDatas"][0]["brokerAddrs"]["1"] = "127.0.0.1:9"
    with relayed.producer() as producer:
        producer.send(message(0))
    notes = {record.note for record in relayed.records() if isinstance(record, Passed) and record.note}
    assert notes == {"past the relay: 127.0.0.1:9"}


def test_a_broker_that_moves_is_followed_to_another_port_of_the_relay(relayed: Relayed) -> None:
    """
    The former port refuses; a route with the new address names the new port.

    The refusal lasts in the records until a client is given such a route.
    """
    before, moved = relayed.relay.addresses["broker-a"], FakeBroker("broker-a")
    with contextlib.closing(moved):
        relayed.cluster["a"].close()
        relayed.relay.move(Upstream("broker-a", moved.address, is_broker=True))
        assert relayed.relay.addresses["broker-a"] != before
        assert refuses(before)
        relayed.cluster.brokers["broker-a"] = moved
        relayed.cluster.set_route("T", {"broker-a": 4})
        with relayed.producer() as producer:
            producer.send(message(0))
        assert len(moved.stored) == 1
        records = relayed.records()
    assert not [record for record in records if isinstance(record, Passed) and record.note]
    kinds = [type(record) for record in records if isinstance(record, Shut | Opened)]
    assert kinds[0] is Shut
    assert kinds[-1] is Opened


def test_a_swallowed_request_is_a_timeout(relayed: Relayed) -> None:
    """A swallowed request times out without reaching the broker, and is recorded as swallowed."""
    with relayed.producer() as producer:
        producer.send(message(0))
        relayed.relay.turn_on(Switch(Action.SWALLOW, sends=True, to="server", times=1))
        with pytest.raises(RemotingTooMuchRequestException):
            producer.send(message(1), 600)
        producer.send(message(2))
    swallowed = [frame for frame in passed(relayed.records()) if frame.action == "swallow"]
    assert [frame.identity for frame in swallowed] == ["run/T/1"]
    assert swallowed[0].out_ns is None
    assert sum(len(relayed.cluster[letter].stored) for letter in "ab") == 2


def test_a_delayed_answer_comes_late_and_whole(relayed: Relayed) -> None:
    """A delayed answer takes the delay and is unchanged."""
    with relayed.producer() as producer:
        producer.send(message(0))
        number = relayed.relay.turn_on(Switch(Action.DELAY, sends=True, to="client", delay_ms=120))
        began = time.monotonic()
        assert producer.send(message(1)).queue_id == 1
        assert time.monotonic() - began >= 0.12
        relayed.relay.turn_off(number)
        producer.send(message(2))
    delayed = [frame for frame in passed(relayed.records(), "client") if frame.action == "delay"]
    (frame,) = delayed
    assert frame.out_ns is not None and frame.out_ns - frame.in_ns >= 119 * NS_PER_MS


def test_a_reset_is_felt_at_once(relayed: Relayed) -> None:
    """A reset ends the attempt at once, and another broker is tried."""
    with relayed.producer() as producer:
        producer.send(message(0))
        relayed.relay.turn_on(Switch(Action.RESET, node="broker-a", sends=True, to="server", times=1))
        producer.send(message(1))
    records = relayed.records()
    errors = [type(event.error).__name__ for event in relayed.heard.ended]
    assert errors == ["NoneType", "RemotingSendRequestException", "NoneType"]
    assert next((one.by, one.reset) for one in records if isinstance(one, Closed)) == ("relay", True)


@pytest.mark.parametrize("action", [Action.SWALLOW, Action.DELAY])
def test_an_answer_is_hit_whose_request_came_before_the_switch(tmp_path: Path, action: Action) -> None:
    """A held pull is answered while the switch is on; the answer to another request overtakes it, or comes alone."""
    asked, other = requests.pull("T", 0, 0), requests.heartbeat("c", ())
    with socket.create_server(("127.0.0.1", 0)) as server, relay_to(server, tmp_path) as relay:
        server.settimeout(10)
        with connected(relay) as client:
            peer, _ = server.accept()
            with peer:
                for request in (asked, other):
                    client.sendall(encode(request))
                    received(peer, len(encode(request)))
                relay.turn_on(Switch(action, to="client", codes=(asked.code,), delay_ms=300))
                answers = [encode(Command(0, opaque=request.opaque, flag=1)) for request in (asked, other)]
                peer.sendall(b"".join(answers))
                assert received(client, len(answers[1])) == answers[1]
                if action is Action.DELAY:
                    assert received(client, len(answers[0])) == answers[0]


def test_a_server_that_is_gone_refuses_through_the_relay_too(relayed: Relayed) -> None:
    """The relay port of a dead server refuses, and accepts again once the server is back."""
    address = relayed.relay.addresses["broker-a"]
    with relayed.producer() as producer:
        for number in range(8):
            producer.send(message(number))
        relayed.cluster["a"].refuse()
        await_that(lambda: refuses(address))
        for number in range(8, 16):
            assert producer.send(message(number)).broker == "broker-b"
    assert {type(event.error).__name__ for event in relayed.heard.ended if event.error} <= {
        "RemotingConnectException",
        "RemotingSendRequestException",
    }
    relayed.cluster["a"].come_back()
    await_that(lambda: not refuses(address))
    kept = {type(record) for record in relayed.records() if isinstance(record, Shut | Opened)}
    assert kept == {Shut, Opened}


def test_a_client_that_comes_first_after_the_server_went_is_reset(relayed: Relayed) -> None:
    """A client that connects before the relay noticed the dead server is reset and recorded as refused."""
    relayed.cluster["b"].refuse()
    host, _, port = relayed.relay.addresses["broker-b"].partition(":")
    with socket.create_connection((host, int(port))) as connection, pytest.raises(ConnectionResetError):
        connection.recv(1)
    assert [record.node for record in relayed.records() if isinstance(record, Refused)] == ["broker-b"]


def test_old_clients_find_the_port_below(relayed: Relayed) -> None:
    """The relay's VIP port, for old clients, leads to the broker's and is marked in the record."""
    host, _, port = relayed.relay.addresses["broker-a"].partition(":")
    below = relayed.cluster["a"].two_below
    below.listen()
    with socket.create_connection((host, int(port) - 2)):
        below.settimeout(10)
        below.accept()[0].close()
        await_that(lambda: b'"vip":true' in relayed.relay.journal.read_bytes())
    made = [(record.node, record.vip) for record in relayed.records() if isinstance(record, Connected)]
    assert made == [("broker-a", True)]


def test_bytes_that_are_no_frame_pass_unchanged(tmp_path: Path) -> None:
    """Bytes that are no frame pass unchanged, with a note."""
    with socket.create_server(("127.0.0.1", 0)) as server, relay_to(server, tmp_path) as relay:
        server.settimeout(10)
        with connected(relay) as client:
            peer, _ = server.accept()
            with peer:
                client.sendall(b"\xff" * 5_000)
                assert received(peer, 5_000) == b"\xff" * 5_000
    notes = [record.note for record in read_wire(relay.journal) if isinstance(record, Passed)]
    assert notes and all(note and note.startswith("unreadable") for note in notes)


def test_a_server_that_does_not_read_stops_its_client(tmp_path: Path) -> None:
    """If a server does not read, the relay takes about 1 MB and what kernels hold: its memory is bounded."""
    frame = (65_532).to_bytes(4, "big") + bytes(65_532)
    with socket.create_server(("127.0.0.1", 0)) as deaf, relay_to(deaf, tmp_path) as relay, connected(relay) as client:
        client.settimeout(2)
        sent = 0
        with contextlib.suppress(TimeoutError):
            while sent < 200_000_000:
                sent += client.send(frame)
    assert 1_000_000 < sent < 50_000_000


def test_a_dead_relay_is_reported(relayed: Relayed) -> None:
    """Closing a dead relay raises an error, because its records are incomplete."""
    os.kill(only_child(relayed.relay.pid), signal.SIGKILL)
    with pytest.raises(EnvironmentMissing, match="the recording relay to answer"):
        relayed.relay.close()


def test_it_ends_with_its_parent(tmp_path: Path) -> None:
    """The relay of a killed runner ends."""
    program = (
        "import sys, time; from pathlib import Path; from rocketdiff.relay.proxy.process import Relay; "
        "relay = Relay((), Path(sys.argv[1])); print(relay.pid, flush=True); time.sleep(60)"
    )
    runner = subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "w.ndjson")], stdout=subprocess.PIPE)
    assert runner.stdout is not None
    with runner.stdout:
        relay = int(runner.stdout.readline())
    runner.kill()
    runner.wait()
    assert gone(relay)


def relay_to(server: socket.socket, folder: Path) -> Relay:
    address = f"127.0.0.1:{server.getsockname()[1]}"
    return Relay((Upstream("broker-d", address, is_broker=True),), folder / "wire.ndjson")


def connected(relay: Relay) -> socket.socket:
    host, _, port = relay.addresses["broker-d"].partition(":")
    return socket.create_connection((host, int(port)))


def received(connection: socket.socket, size: int) -> bytes:
    connection.settimeout(10)
    data = b""
    while len(data) < size:
        data += connection.recv(size - len(data))
    return data
