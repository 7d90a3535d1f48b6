"""A real cluster: topics, faults and stored messages."""

import json
import threading
import time
from pathlib import Path

import pytest

from rocketdiff.cluster.faults.catalogue import FAULTS
from rocketdiff.cluster.faults.proof import prove_moved, prove_refusal
from rocketdiff.cluster.faults.schedule import run_schedule
from rocketdiff.cluster.interface import Cluster, Node, NodeState, nodes_of
from rocketdiff.cluster.operations import admin
from rocketdiff.cluster.operations.drain import await_drained
from rocketdiff.cluster.operations.stored import read_stored
from rocketdiff.core.errors import ClusterError, FaultNotProven, UsageError
from rocketdiff.core.sends.message import padded
from rocketdiff.core.tables.fault import FaultKind, FaultRecord, FaultSpec
from rocketmq_reference.host.channels import Channels
from tests.cluster.processes import listening_hosts
from tests.cluster.sending import send, send_unanswered
from tests.live import repeated

pytestmark = pytest.mark.cluster


def broker(cluster: Cluster, letter: str) -> Node:
    return next(node for node in cluster.brokers if node.letter == letter)


def times_of(record: FaultRecord) -> list[int]:
    times = [record.inject_ns, record.injected_ns, record.proven_ns, record.heal_ns, record.healed_ns]
    return [time_ns for time_ns in (*times, record.heal_proven_ns) if time_ns is not None]


def test_every_broker_is_known_and_may_create_topics(two_masters: Cluster) -> None:
    """Every broker is registered and has queues of TBW102, the template for new topics."""
    with Channels() as channels:
        address = two_masters.name_server_addresses[0]
        known = admin.registered_brokers(channels, address)
        default = admin.queues_in_route(admin.route(channels, address, "TBW102"))
    assert known == {node.name: node.address for node in two_masters.brokers}
    assert set(default) == {"broker-a", "broker-b"}


def test_no_port_is_open_to_the_network(two_masters: Cluster) -> None:
    """Every server listens on loopback only."""
    hosts = [host for node in nodes_of(two_masters) if node.pid is not None for host in listening_hosts(node.pid)]
    assert hosts == ["127.0.0.1"] * (1 + 2 * 3)


def test_a_topic_has_the_queues_asked_for_on_each_broker(two_masters: Cluster) -> None:
    """A topic has the requested queues per broker in its route until it is deleted."""
    two_masters.create_topic("lopsided", {"a": 3, "b": 1})
    with Channels() as channels:
        address = two_masters.name_server_addresses[0]
        assert admin.queues_in_route(admin.route(channels, address, "lopsided")) == {"broker-a": 3, "broker-b": 1}
        two_masters.delete_topic("lopsided")
        two_masters.delete_topic("lopsided")
        assert admin.route(channels, address, "lopsided") is None


@pytest.mark.parametrize("queues", [0, {"c": 1}, {}])
def test_queues_that_cannot_be_are_refused(two_masters: Cluster, queues: int | dict[str, int]) -> None:
    """A topic without queues, or with queues on an unknown broker, is refused."""
    with pytest.raises(UsageError):
        two_masters.create_topic("impossible", queues)


def test_a_killed_broker_is_gone_and_comes_back_with_its_data(two_masters: Cluster) -> None:
    """A killed broker is gone and restarts with its address, topics and messages."""
    two_masters.create_topic("kept", 2)
    before = broker(two_masters, "a")
    send(before, "kept", 1, b"x", None)
    record = FAULTS[FaultKind.KILL].inject(two_masters, FaultSpec(1, FaultKind.KILL, "a", 0.0, None))
    assert two_masters.state("broker-a") is NodeState.GONE
    assert broker(two_masters, "a").pid is None
    record = FAULTS[FaultKind.KILL].heal(two_masters, record)
    after = broker(two_masters, "a")
    assert after.address == before.address
    assert after.pid != before.pid
    assert [(row.broker, row.queue_id, row.queue_offset) for row in read_stored(two_masters, "kept", {})] == [
        ("broker-a", 1, 0)
    ]
    assert len(times_of(record)) == 6


def test_a_moved_broker_comes_back_elsewhere_with_its_data(two_masters: Cluster) -> None:
    """A moved broker restarts with its topics and messages at another address; its old one refuses."""
    two_masters.create_topic("carried", 2)
    before = broker(two_masters, "a")
    send(before, "carried", 1, b"x", None)
    record = FAULTS[FaultKind.MOVE].inject(two_masters, FaultSpec(1, FaultKind.MOVE, "a", 0.0, 1.0))
    record = FAULTS[FaultKind.MOVE].heal(two_masters, record)
    assert len(times_of(record)) == 6
    assert broker(two_masters, "a").address != before.address
    prove_refusal(before)
    assert [(row.broker, row.queue_id, row.queue_offset) for row in read_stored(two_masters, "carried", {})] == [
        ("broker-a", 1, 0)
    ]


def test_a_broker_at_its_old_address_has_not_moved(two_masters: Cluster) -> None:
    """The proof of a move fails for a broker that only restarted."""
    left = broker(two_masters, "b")
    two_masters.kill("broker-b")
    two_masters.restart("broker-b")
    with pytest.raises(FaultNotProven, match="broker-b to refuse connections"):
        prove_moved(two_masters, left)


def test_unread_bytes_of_a_paused_broker_are_stored_before_drained(two_masters: Cluster) -> None:
    """Bytes that a paused broker had not read, even of closed connections, are stored before await_drained returns."""
    two_masters.create_topic("late", 4)
    paused = broker(two_masters, "b")
    two_masters.pause("broker-b")
    for number in range(5):
        send_unanswered(paused, "late", number % 4, padded(f"r/late/{number}", 64), f"r/late/{number}")
    unread = two_masters.unread_bytes("broker-b")
    assert unread is not None
    assert unread > 0
    two_masters.resume("broker-b")
    drained = await_drained(two_masters, ["late"])
    assert sum(drained.ends.values()) == 5
    rows = sorted(read_stored(two_masters, "late", dict.fromkeys(range(5), 64)), key=lambda row: row.send or 0)
    assert [row.send for row in rows] == [0, 1, 2, 3, 4]
    assert all(row.body_ok and row.broker == "broker-b" for row in rows)


def test_stored_messages_are_read_in_order_to_the_end(two_masters: Cluster) -> None:
    """Stored messages are read in order over several answers; foreign and damaged ones are marked."""
    two_masters.create_topic("many", 1)
    for number in range(100):
        send(broker(two_masters, "a"), "many", 0, f"r/many/{number}".encode(), f"r/many/{number}")
    send(broker(two_masters, "b"), "many", 0, b"r/many/7", "r/many/77")
    send(broker(two_masters, "b"), "many", 0, b"hello", None)
    await_drained(two_masters, ["many"])
    rows = list(read_stored(two_masters, "many", dict.fromkeys(range(100), 0)))
    assert [(row.send, row.queue_offset) for row in rows[:100]] == [(number, number) for number in range(100)]
    assert [(row.broker, row.send, row.body_ok) for row in rows[100:]] == [
        ("broker-b", 77, False),
        ("broker-b", None, False),
    ]


def test_a_schedule_of_overlapping_faults_leaves_a_whole_cluster(two_masters: Cluster) -> None:
    """Overlapping pauses of two brokers and a name server are proven, one of them within 35 ms."""
    specs = [
        FaultSpec(1, FaultKind.PAUSE, "broker-a", 0.0, 0.3),
        FaultSpec(2, FaultKind.PAUSE, "broker-b", 0.0, 0.07),
        FaultSpec(3, FaultKind.PAUSE_NAME_SERVER, "name-server-1", 0.1, 0.2),
        FaultSpec(4, FaultKind.PAUSE, "broker-b", 0.3, 0.07),
    ]
    outcome = repeated(
        lambda _: run_schedule(two_masters, specs, time.monotonic_ns(), lambda _: None, threading.Event()),
        lambda outcome: "; ".join(map(str, outcome.problems)),
    )
    assert not outcome.problems
    assert sorted(record.episode for record in outcome.records) == [1, 2, 3, 4]
    assert all(len(times_of(record)) == 6 for record in outcome.records)
    assert all(times_of(record) == sorted(times_of(record)) for record in outcome.records)
    assert {two_masters.state(node.name) for node in nodes_of(two_masters)} == {NodeState.RUNNING}


def test_two_actions_that_make_no_sense_are_refused(two_masters: Cluster) -> None:
    """Restarting a running broker and pausing an unknown one are refused."""
    with pytest.raises(ClusterError, match="running"):
        two_masters.restart("broker-a")
    with pytest.raises(UsageError, match="broker-a"):
        two_masters.pause("broker-z")


def test_a_restarted_name_server_knows_every_topic_at_once(two_masters: Cluster) -> None:
    """A restarted name server has every topic at once, before the next heartbeat."""
    two_masters.create_topic("remembered", 4)
    two_masters.kill("name-server-1")
    two_masters.heal_all()
    with Channels() as channels:
        route = admin.route(channels, two_masters.name_server_addresses[0], "remembered")
    assert admin.queues_in_route(route) == {"broker-a": 4, "broker-b": 4}


def test_evidence_holds_logs_settings_and_state(two_masters: Cluster, tmp_path: Path) -> None:
    """The evidence has each node's log, settings and state, no store."""
    two_masters.collect_evidence(tmp_path / "evidence")
    facts = json.loads((tmp_path / "evidence" / "nodes.json").read_text())
    assert facts["nodes"]["broker-a"]["state"] == "running"
    assert "boot success" in (tmp_path / "evidence" / "broker-a" / "server.log").read_text()
    files = {file.name for file in (tmp_path / "evidence" / "broker-b").iterdir()}
    assert files == {"server.log", "server.properties"}
    assert "boot success" in "\n".join(two_masters.log_tail("name-server-1", 1_000))
