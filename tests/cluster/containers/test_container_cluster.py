"""A cluster in real containers: readiness, ports, faults, data, evidence, removal."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from rocketdiff.cluster.access import channels_to
from rocketdiff.cluster.containers.container import USER_ID
from rocketdiff.cluster.containers.engine import Engine
from rocketdiff.cluster.faults.catalogue import FAULTS
from rocketdiff.cluster.interface import Cluster, NodeState, nodes_of, security_of
from rocketdiff.cluster.operations import admin
from rocketdiff.cluster.operations.drain import await_drained
from rocketdiff.cluster.operations.stored import read_stored
from rocketdiff.cluster.start import backend_named, start_cluster
from rocketdiff.core.tables.fault import FaultKind, FaultSpec
from rocketdiff.core.tables.topology import topology_named
from rocketmq_reference.remoting.errors import MQBrokerException
from tests.cluster.sending import send, send_unanswered
from tests.live import READY_S, await_that

pytestmark = [pytest.mark.container, pytest.mark.cluster, pytest.mark.slow]


@pytest.fixture(scope="module")
def started(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("containers") / "cluster"
    with start_cluster("containers", "two-masters", folder=folder, timeout_s=READY_S) as cluster:
        yield cluster


@pytest.fixture
def cluster(started: Cluster) -> Iterator[Cluster]:
    yield started
    started.heal_all()


def port_of(address: str) -> int:
    return int(address.rpartition(":")[2])


def test_ports_are_the_advertised_ones_on_loopback_only(cluster: Cluster) -> None:
    """The engine listens on loopback only, under the ports that brokers advertise."""
    ports = {port_of(node.address) for node in nodes_of(cluster)}
    listening = {
        (connection.laddr.port, connection.laddr.ip)
        for connection in psutil.net_connections(kind="tcp")
        if connection.laddr and connection.status == psutil.CONN_LISTEN and connection.laddr.port in ports
    }
    assert listening == {(port, "127.0.0.1") for port in ports}


def test_no_process_of_a_server_is_roots(cluster: Cluster, engine: Engine, tmp_path: Path) -> None:
    """Neither a server nor what is executed in its container runs as root; the server can write its folder."""
    cluster.collect_evidence(tmp_path)
    run = json.loads((tmp_path / "nodes.json").read_bytes())["run"]
    servers = engine.containers(run)
    users = {row[0] for server in servers for row in server.top(ps_args="-o uid,pid")["Processes"]}
    users |= {server.exec_run(["id", "-u"]).output.decode().strip() for server in servers}
    assert users == {str(USER_ID)}
    assert len(servers) == len(nodes_of(cluster))


def test_a_pause_of_a_broker_and_its_end_are_proven(cluster: Cluster) -> None:
    """A broker's pause and its end are proven; a message sent meanwhile is stored afterwards."""
    cluster.create_topic("paused", {"b": 1})
    broker = next(node for node in cluster.brokers if node.letter == "b")
    record = FAULTS[FaultKind.PAUSE].inject(cluster, FaultSpec(1, FaultKind.PAUSE, "b", 0.0, 0.4))
    assert cluster.state("broker-b") is NodeState.PAUSED
    assert record.proven_ns is not None
    send_unanswered(broker, "paused", 0, b"r/paused/1", "r/paused/1")
    assert (cluster.unread_bytes("broker-b") or 0) > 0
    record = FAULTS[FaultKind.PAUSE].heal(cluster, record)
    assert record.heal_proven_ns is not None
    assert cluster.state("broker-b") is NodeState.RUNNING
    await_drained(cluster, ["paused"])
    # The FIN of a closed connection counts as one byte until the broker has read it.
    await_that(lambda: cluster.unread_bytes("broker-b") == 0, "nothing unread at broker-b")
    assert [row.identity for row in read_stored(cluster, "paused", {})] == ["r/paused/1"]


def test_a_killed_broker_refuses_and_comes_back_with_address_and_data(cluster: Cluster) -> None:
    """A killed broker restarts with its address and data."""
    cluster.create_topic("kept", {"a": 1})
    address = cluster.brokers[0].address
    send(cluster.brokers[0], "kept", 0, b"r/kept/1", "r/kept/1")
    record = FAULTS[FaultKind.KILL].inject(cluster, FaultSpec(1, FaultKind.KILL, "a", 0.0, None))
    assert record.proven_ns is not None
    assert cluster.state("broker-a") is NodeState.GONE
    assert FAULTS[FaultKind.KILL].heal(cluster, record).heal_proven_ns is not None
    assert cluster.brokers[0].address == address
    assert [row.identity for row in read_stored(cluster, "kept", {})] == ["r/kept/1"]
    cluster.require_sound()


def test_evidence_has_logs_settings_engine_and_image(cluster: Cluster, tmp_path: Path) -> None:
    """The evidence has logs, settings, engine facts and the image."""
    cluster.collect_evidence(tmp_path)
    facts = json.loads((tmp_path / "nodes.json").read_bytes())
    assert facts["backend"] == "containers"
    assert facts["wiring"] == "bridge"
    assert facts["image"].startswith("rocketdiff/server:5.3.3-")
    assert "boot success" in (tmp_path / "broker-a" / "server.log").read_text()
    assert "brokerIP1=127.0.0.1" in (tmp_path / "broker-a" / "server.properties").read_text()


def test_old_servers_with_a_slave_on_the_hosts_network_leave_nothing_but_files(engine: Engine, tmp_path: Path) -> None:
    """A closed 4.9.7 master with slave on the host's network leaves only files, even if paused."""
    shape, folder = "master-with-slave-sync", tmp_path / "cluster"
    with start_cluster("containers:host", shape, "4.9.7", folder=folder, timeout_s=READY_S) as cluster:
        cluster.create_topic("t", 1)
        send(cluster.brokers[0], "t", 0, b"r/t/1", "r/t/1")
        assert [node.name for node in cluster.slaves] == ["broker-a-slave-1"]
        cluster.pause("broker-a")
        about = json.loads((folder / "containers.json").read_bytes())
        # The engine may have other containers; this cluster's have its label.
        assert len(engine.containers(about["run"])) == len(nodes_of(cluster)) == 3
        assert engine.networks(about["run"]) == [], "it needs none of its own"
    cluster.close()
    assert engine.containers(about["run"]) == []
    assert (folder / "broker-a" / "server.log").stat().st_size > 0
    assert about["wiring"] == "host"


def test_servers_with_access_control_and_tls_take_signed_requests_only(engine: Engine, tmp_path: Path) -> None:
    """With access control unsigned requests are refused; no file and no container attribute has the secret key."""
    made, folder = tmp_path / "made.yaml", tmp_path / "cluster"
    made.write_text("format: 1\naccount: made\ntls: made\n")
    backend = backend_named("containers", "5.3.3", made)
    with backend.start(topology_named("one-master"), folder, timeout_s=READY_S) as cluster:
        security = security_of(cluster)
        (broker,) = cluster.brokers
        assert security.account is not None
        with (
            channels_to(replace(security, account=None)) as channels,
            pytest.raises(MQBrokerException, match="username"),
        ):
            admin.store_probe(channels, broker.address, 0, b"unsigned")
        run = json.loads((folder / "containers.json").read_bytes())["run"]
        assert not any(security.account.secret_key in json.dumps(one.attrs) for one in engine.containers(run))
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert folder / "broker-a" / "server.properties" in files
    assert not [path for path in files if security.account.secret_key in path.read_text(errors="replace")]
