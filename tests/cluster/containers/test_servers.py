"""Containers as a ServerSet: states, soundness and end."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from docker.errors import APIError

from rocketdiff.cluster.containers import servers as servers_module
from rocketdiff.cluster.containers.container import NODE_LABEL, Deployment, port_taken
from rocketdiff.cluster.containers.engine import RUN_LABEL
from rocketdiff.cluster.containers.images import ServerImage
from rocketdiff.cluster.containers.networking import NetworkMode, ServerPlan
from rocketdiff.cluster.containers.servers import ContainerServers
from rocketdiff.cluster.interface import NodeState
from rocketdiff.cluster.launched.node_slot import reserve_slots
from rocketdiff.cluster.launched.server_set import ServerEnded
from rocketdiff.core.errors import ClusterError, EnvironmentMissing, UsageError
from rocketdiff.core.tables.topology import NodeKind, topology_named
from tests.cluster.containers.fakes import FakeContainer, FakeNetwork, FakeWorld

PLAN = ServerPlan(files={}, command=(), environment={}, ports=())


class FakeServerContainer:
    """Replaces testcontainers: it only adds a container to the fake engine."""

    world: FakeWorld

    def __init__(self, deployment: Deployment, _plan: object, node: str) -> None:
        labels = {**deployment.labels, NODE_LABEL: node}
        self._made = FakeContainer(self.world, f"rocketdiff-{deployment.run}-{node}", labels)

    def launch(self) -> FakeContainer:
        self.world.answer()
        self.world.containers.append(self._made)
        return self._made


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> FakeWorld:
    FakeServerContainer.world = FakeWorld()
    monkeypatch.setattr(servers_module, "ServerContainer", FakeServerContainer)
    return FakeServerContainer.world


@pytest.fixture
def servers(world: FakeWorld, tmp_path: Path) -> Iterator[ContainerServers]:
    """A running name server and a running broker."""
    slots = reserve_slots(topology_named("one-master"), tmp_path, None)
    for slot in slots:
        slot.folder.mkdir()
    image = ServerImage("rocketdiff/server:x", "5.3.3", is_foreign=False)
    deployment = Deployment(world.engine(), image, NetworkMode.HOST, None, {RUN_LABEL: "r"}, "r")
    made = ContainerServers(deployment, [(slot, PLAN) for slot in slots])
    for name in made.names:
        made.launch(name)
    yield made
    for slot in slots:
        slot.reserved.release()


def test_a_nodes_state_is_its_containers(servers: ContainerServers) -> None:
    """A node's state is its container's; an ended container is gone, and sound if the harness killed it, even paused."""
    assert servers.state("broker-a") is NodeState.RUNNING
    servers.stop("broker-a")
    assert servers.state("broker-a") is NodeState.PAUSED
    servers.go_on("broker-a")
    assert servers.state("broker-a") is NodeState.RUNNING
    servers.stop("broker-a")
    servers.kill("broker-a")
    assert servers.state("broker-a") is NodeState.GONE
    assert servers.exit_status("broker-a") == 137
    servers.require_sound()


def test_a_pause_of_what_is_paused_does_nothing(servers: ContainerServers, world: FakeWorld) -> None:
    """A second pause does nothing, because engines refuse it."""
    servers.stop("broker-a")
    span = servers.stop("broker-a")
    assert span.begin_ns == span.end_ns
    assert world.containers[1].status == "paused"


@pytest.mark.parametrize(
    ("others", "seen"),
    [
        ((), None),
        (("unpause",), "pause, unpause"),
        (("unpause", "pause"), "pause, unpause, pause, unpause"),
        (("unpause", "kill"), "broker-a to keep running"),
    ],
)
def test_a_pause_that_somebody_else_ends_is_an_error_of_its_resume(
    servers: ContainerServers, world: FakeWorld, others: tuple[str, ...], seen: str | None
) -> None:
    """A container that was unpaused, unpaused and paused again, or killed during its pause is an error once it is resumed."""
    servers.stop("broker-a")
    for action in others:
        getattr(world.containers[1], action)()
    with nullcontext() if seen is None else pytest.raises(ClusterError, match=seen):
        servers.go_on("broker-a")
    assert servers.state("broker-a") is (NodeState.GONE if "kill" in others else NodeState.RUNNING)


def test_a_killed_container_is_started_again_and_not_made_anew(servers: ContainerServers, world: FakeWorld) -> None:
    """A killed container is restarted, not recreated: it has the data."""
    servers.kill("broker-a")
    servers.launch("broker-a")
    assert servers.state("broker-a") is NodeState.RUNNING
    assert len(world.containers) == 2
    servers.require_sound()


def test_launching_a_running_container_is_refused(servers: ContainerServers) -> None:
    """Launching a running container is refused."""
    with pytest.raises(ClusterError, match="to be gone before it is started"):
        servers.launch("broker-a")


def test_an_ended_container_is_reported_with_its_last_line(servers: ContainerServers, world: FakeWorld) -> None:
    """A container that ended by itself is reported with status and last log line, without stack frames."""
    world.containers[1].status, world.containers[1].exit_code = "exited", 255
    world.containers[1].log = "java.net.BindException: Address already in use\n\tat x.y\n"
    with pytest.raises(ServerEnded, match="status 255") as raised:
        servers.raise_if_ended(["broker-a"])
    assert raised.value.port_taken
    assert "at x.y" not in str(raised.value)


@pytest.mark.parametrize(
    ("change", "message"), [({"status": "exited"}, "broker-a to run since"), ({"began": "later"}, "started later")]
)
def test_a_container_that_somebody_else_stopped_or_started_is_not_sound(
    servers: ContainerServers, world: FakeWorld, change: dict[str, str], message: str
) -> None:
    """A container stopped by somebody else, or restarted and gone for an unknown time, makes the cluster unsound."""
    vars(world.containers[1]).update(change)
    with pytest.raises(EnvironmentMissing, match=message):
        servers.require_sound()


def test_an_engine_that_is_gone_is_the_environments_failure(servers: ContainerServers, world: FakeWorld) -> None:
    """Without an engine, state, pause and soundness check raise an environment error."""
    world.is_gone = True
    for ask in (servers.require_sound, lambda: servers.state("broker-a"), lambda: servers.stop("broker-a")):
        with pytest.raises(EnvironmentMissing, match="connection refused"):
            ask()


def test_an_engine_that_is_gone_does_not_hinder_the_end(servers: ContainerServers, world: FakeWorld) -> None:
    """The end succeeds without an engine; the next start sweeps the containers."""
    world.is_gone = True
    servers.end()
    assert len(world.containers) == 2


def test_the_end_removes_all_and_keeps_logs(servers: ContainerServers, world: FakeWorld, tmp_path: Path) -> None:
    """The end removes this run's containers, also paused and dead ones, and its network, and keeps the logs it can."""
    world.networks += [FakeNetwork(world, run, {RUN_LABEL: run}) for run in ("r", "another")]
    world.containers[0].log = "name server said"
    servers.stop("name-server-1")
    servers.kill("broker-a")
    (tmp_path / "broker-a" / "server.log").mkdir()
    servers.end()
    assert world.containers == []
    assert [network.name for network in world.networks] == ["another"]
    assert (tmp_path / "name-server-1" / "server.log").read_text() == "name server said"


def test_whatever_hinders_the_keeping_does_not_hinder_the_removal(
    servers: ContainerServers, world: FakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error while evidence is kept is raised after the containers are removed."""

    def keep(*_: object) -> None:
        raise ValueError("torn archive")

    monkeypatch.setattr(servers_module, "keep_evidence", keep)
    with pytest.raises(ValueError, match="torn archive"):
        servers.end()
    assert world.containers == []


def refuse(_: FakeContainer) -> None:
    raise APIError("500", explanation="no space left on device")


def test_a_refused_start_raises_the_engines_reason(servers: ContainerServers, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused start raises the engine's reason and has the engine's error as cause."""
    servers.kill("broker-a")
    monkeypatch.setattr(FakeContainer, "start", refuse)
    with pytest.raises(ClusterError, match="no space left") as reported:
        servers.launch("broker-a")
    assert isinstance(reported.value.__cause__, APIError)


def test_a_container_that_ends_after_a_kill_that_failed_is_not_sound(
    servers: ContainerServers, world: FakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container that ends after a failed kill makes the cluster unsound."""
    monkeypatch.setattr(FakeContainer, "kill", refuse)
    with pytest.raises(ClusterError, match="to be killed"):
        servers.kill("broker-a")
    world.containers[1].status = "exited"
    with pytest.raises(EnvironmentMissing, match="broker-a to run since"):
        servers.require_sound()


def test_facts_name_engine_image_and_network_mode(servers: ContainerServers) -> None:
    """The facts name engine, image and network mode."""
    facts = servers.facts()
    assert (facts["engine"], facts["image"], facts["wiring"]) == ("Fake 1.0", "rocketdiff/server:x", "host")


def test_a_node_that_there_is_not_is_the_users_mistake(servers: ContainerServers) -> None:
    """An unknown node is a usage error."""
    with pytest.raises(UsageError, match="name-server-1, broker-a"):
        servers.stop("broker-z")
    assert [node.name for node in servers.nodes(NodeKind.BROKER)] == ["broker-a"]


def test_only_an_allocated_port_is_a_taken_port() -> None:
    """Only the engine's "port is already allocated" is a taken port."""
    seen = "driver failed programming external connectivity: Bind for 127.0.0.1:20000 failed: port is already allocated"
    taken = port_taken("broker-a", ClusterError("it to start", seen=seen))
    assert taken is not None
    assert taken.port_taken
    assert port_taken("broker-a", ClusterError("it to start", seen="no space left on device")) is None
