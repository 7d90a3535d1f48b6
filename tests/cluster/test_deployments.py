"""A real master with a slave, and send results when one is down, also of both clients."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketdiff.cluster.faults.catalogue import FAULTS
from rocketdiff.cluster.interface import Cluster, NodeState
from rocketdiff.cluster.operations import admin
from rocketdiff.cluster.start import start_cluster
from rocketdiff.core.tables.fault import FaultKind, FaultRecord, FaultSpec
from rocketdiff.traces.reader import read_table
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName
from rocketmq_reference.host.channels import Channels
from rocketmq_reference.remoting.codes import ResponseCode
from rocketmq_reference.remoting.errors import MQBrokerException
from tests.live import READY_S, await_that
from tests.whole.stage import conforming_run, send_ends

pytestmark = pytest.mark.cluster

SLAVE = "broker-a-slave-1"


@pytest.fixture(scope="module")
def started_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("pair")
    with start_cluster(topology="master-with-slave-sync", folder=folder, timeout_s=READY_S) as cluster:
        yield cluster


@pytest.fixture
def pair(started_pair: Cluster) -> Iterator[Cluster]:
    yield started_pair
    started_pair.heal_all()


def inject(cluster: Cluster, kind: FaultKind, node: str, for_s: float = 1.0) -> FaultRecord:
    return FAULTS[kind].inject(cluster, FaultSpec(1, kind, node, 0.0, for_s))


def answered(address: str, topic: str = admin.PROBE_TOPIC) -> str | int:
    """Status or refusal code of one send."""
    with Channels() as channels:
        try:
            return admin.send_probe(channels, address, 0, b"one", topic).status.value
        except MQBrokerException as error:
            return error.code


def await_stored(address: str, topic: str = admin.PROBE_TOPIC) -> None:
    """Send until SEND_OK: on a busy machine a slave may be late once."""
    await_that(lambda: answered(address, topic) == "SEND_OK", f"SEND_OK for {topic}")


def is_proven(record: FaultRecord) -> bool:
    return record.proven_ns is not None and record.heal_proven_ns is not None


def test_master_and_slave_are_known_under_one_name(pair: Cluster) -> None:
    """Master and slave are registered under one name with ids 0 and 1."""
    master, slave = pair.brokers[0], pair.slaves[0]
    with Channels() as channels:
        known = admin.registered_members(channels, pair.name_server_addresses[0])
    assert known == {("broker-a", 0): master.address, ("broker-a", 1): slave.address}
    await_stored(master.address)


def test_a_slave_refuses_sends(pair: Cluster) -> None:
    """A slave refuses sends."""
    refusals = (ResponseCode.SYSTEM_BUSY, ResponseCode.SERVICE_NOT_AVAILABLE, ResponseCode.SYSTEM_ERROR)
    assert answered(pair.slaves[0].address) in refusals


@pytest.mark.parametrize(
    ("kind", "state"), [(FaultKind.PAUSE_SLAVE, NodeState.PAUSED), (FaultKind.KILL_SLAVE, NodeState.GONE)]
)
def test_a_lost_slave_gives_flush_slave_timeout_and_catches_up(
    pair: Cluster, kind: FaultKind, state: NodeState
) -> None:
    """Without its slave a master returns FLUSH_SLAVE_TIMEOUT, because 5.x has no SLAVE_NOT_AVAILABLE, and SEND_OK after it."""
    record = inject(pair, kind, SLAVE)
    assert pair.state(SLAVE) is state
    assert answered(pair.brokers[0].address) == "FLUSH_SLAVE_TIMEOUT"
    assert is_proven(FAULTS[kind].heal(pair, record))
    await_stored(pair.brokers[0].address)


def test_a_dead_master_leaves_a_route_without_writable_queues(pair: Cluster) -> None:
    """After its master's kill a slave stays registered and the route has no writable queue."""
    pair.kill("broker-a")
    with Channels() as channels:
        server = pair.name_server_addresses[0]
        # A thread of the name server's removes a broker whose connection is gone.
        await_that(lambda: admin.queues_in_route(admin.route(channels, server, admin.PROBE_TOPIC)) == {})
        known = admin.registered_members(channels, server)
    assert ("broker-a", 1) in known
    pair.restart("broker-a")
    await_stored(pair.brokers[0].address)


def test_a_read_only_broker_leaves_the_route_and_refuses_ordered_topics_only(pair: Cluster) -> None:
    """A read-only broker leaves the route and refuses ordered topics only; clients may have an older route."""
    pair.create_topic("in-order", 1, ordered=True)
    record = inject(pair, FaultKind.READ_ONLY, "broker-a")
    master = pair.brokers[0].address
    with Channels() as channels:
        permissions = admin.permissions_in_route(channels, pair.name_server_addresses[0], "in-order")
    assert permissions == {"broker-a": admin.READ_ONLY}
    await_stored(master)
    assert answered(master, "in-order") == ResponseCode.NO_PERMISSION
    assert is_proven(FAULTS[FaultKind.READ_ONLY].heal(pair, record))
    await_stored(master, "in-order")


def test_a_broker_that_controls_the_flow_answers_busy_to_every_send(pair: Cluster) -> None:
    """Under flow control a broker answers every send SYSTEM_BUSY and serves other requests."""
    record = inject(pair, FaultKind.FLOW_CONTROL, "broker-a")
    assert [answered(pair.brokers[0].address) for _ in range(5)] == [ResponseCode.SYSTEM_BUSY] * 5
    with Channels() as channels:
        assert admin.queue_end(channels, pair.brokers[0].address, admin.PROBE_TOPIC, 0) > 0
    assert is_proven(FAULTS[FaultKind.FLOW_CONTROL].heal(pair, record))
    await_stored(pair.brokers[0].address)


def test_a_status_is_retried_and_returned_as_flush_slave_timeout(pair: Cluster, tmp_path: Path) -> None:
    """Each of three attempts at the only master is stored but not replicated: FLUSH_SLAVE_TIMEOUT."""
    scenario = "double-write/only-slave-paused-and-tried-again"
    run = conforming_run(pair, tmp_path / "runs", scenario, "FLUSH_SLAVE_TIMEOUT")
    for arm, reported in send_ends(run).items():
        attempts = read_table(RunDirectory.open(run), TableName.ATTEMPTS, 1, arm).to_pylist()
        assert set(reported) == {"SEND_OK", "FLUSH_SLAVE_TIMEOUT"}
        assert {row["status"] for row in attempts if row["attempt"] == 2} >= {"FLUSH_SLAVE_TIMEOUT"}
