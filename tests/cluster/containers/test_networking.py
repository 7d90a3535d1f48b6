"""How containers are reached, and their servers' settings."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketdiff.cluster.containers.images import ServerImage
from rocketdiff.cluster.containers.networking import (
    NetworkMode,
    network_mode_named,
    plan_server,
    require_image,
    require_topology,
    settings_of,
)
from rocketdiff.cluster.launched.node_slot import NodeSlot, reserve_slots
from rocketdiff.core.errors import UsageError
from rocketdiff.core.tables.topology import topology_named

OURS = ServerImage("rocketdiff/server:x", "5.3.3", is_foreign=False, class_path=("/opt/rocketmq/lib/a.jar",))
OFFICIAL = ServerImage("apache/rocketmq:5.3.3", "5.3.3", is_foreign=True)
TWO_MASTERS = topology_named("two-masters")


@pytest.fixture
def slots(tmp_path: Path) -> Iterator[list[NodeSlot]]:
    taken = reserve_slots(TWO_MASTERS, tmp_path, None)
    yield taken
    for slot in taken:
        slot.reserved.release()


def in_effect(text: str) -> dict[str, str]:
    """As Java parses properties: the last line of a name counts."""
    return dict(line.split("=", 1) for line in text.splitlines())


def test_a_name_server_of_a_network_of_its_own_listens_to_all_of_it(slots: list[NodeSlot]) -> None:
    """In a bridge network a name server listens on all addresses."""
    settings = in_effect(settings_of(NetworkMode.BRIDGE, TWO_MASTERS, slots[0], slots))
    assert settings["bindAddress"] == "0.0.0.0"  # noqa: S104  # in its own network
    assert settings["listenPort"] == str(slots[0].port)


@pytest.mark.parametrize(
    ("mode", "server", "addresses"),
    [
        (NetworkMode.BRIDGE, "name-server-1", {"brokerIP1": "127.0.0.1", "brokerIP2": "broker-a"}),
        (NetworkMode.HOST, "127.0.0.1", dict.fromkeys(("bindAddress", "brokerIP1", "brokerIP2"), "127.0.0.1")),
    ],
)
def test_a_broker_finds_name_servers_and_advertises_loopback(
    slots: list[NodeSlot], mode: NetworkMode, server: str, addresses: dict[str, str]
) -> None:
    """In a bridge network a broker resolves name servers by name; on the host's it listens on loopback only."""
    settings = in_effect(settings_of(mode, TWO_MASTERS, slots[1], slots))
    assert settings["namesrvAddr"] == f"{server}:{slots[0].port}"
    assert addresses.items() <= settings.items()
    assert settings["listenPort"] == str(slots[1].port)


def test_clients_ports_are_published_under_the_same_numbers(slots: list[NodeSlot]) -> None:
    """Bridge ports have the same numbers outside; the host's network publishes none."""
    name_server, broker = slots[0], slots[1]
    assert plan_server(NetworkMode.BRIDGE, TWO_MASTERS, name_server, slots, OURS).ports == (name_server.port,)
    assert plan_server(NetworkMode.BRIDGE, TWO_MASTERS, broker, slots, OURS).ports == (broker.port - 2, broker.port)
    assert plan_server(NetworkMode.HOST, TWO_MASTERS, broker, slots, OURS).ports == ()


@pytest.mark.parametrize(("wiring", "is_kept"), [(NetworkMode.BRIDGE, False), (NetworkMode.HOST, True)])
def test_any_address_means_loopback_only_on_the_hosts_network(
    slots: list[NodeSlot], wiring: NetworkMode, is_kept: bool
) -> None:
    """Only the host's network uses the loopback launcher: inside a bridge loopback is unreachable."""
    command = plan_server(wiring, TWO_MASTERS, slots[1], slots, OURS).command
    assert ("rocketdiff.server.Loopback" in command) is is_kept
    assert command[-3:] == ("org.apache.rocketmq.broker.BrokerStartup", "-c", "/var/lib/rocketdiff/server.properties")
    assert command[command.index("-cp") + 1] == "/opt/rocketmq/lib/a.jar"


def test_files_are_complete_before_the_server_starts(slots: list[NodeSlot]) -> None:
    """A server's files are settings, log settings for old and new releases, and a temporary folder."""
    files = plan_server(NetworkMode.BRIDGE, TWO_MASTERS, slots[1], slots, OURS).files
    names = {path.removeprefix("/var/lib/rocketdiff/") for path in files}
    logging = {"conf/logback.xml", "conf/logback_namesrv.xml", "conf/logback_broker.xml"}
    assert names == {"server.properties", "tmp/.keep", *logging}


def test_the_official_image_is_started_by_its_own_scripts(slots: list[NodeSlot]) -> None:
    """The official image starts through its own scripts with our heap size."""
    plan = plan_server(NetworkMode.BRIDGE, TWO_MASTERS, slots[0], slots, OFFICIAL)
    assert plan.command == ("sh", "mqnamesrv", "-c", "/var/lib/rocketdiff/server.properties")
    assert "-Xmx256m" in plan.environment["JAVA_OPT_EXT"]


def test_no_name_is_bridge_and_unknown_ones_are_refused() -> None:
    """The default network mode is bridge; an unknown one is a usage error."""
    assert (network_mode_named(""), network_mode_named("host")) == (NetworkMode.BRIDGE, NetworkMode.HOST)
    with pytest.raises(UsageError, match="containers:bridge, containers:host"):
        network_mode_named("mesh")


def test_slaves_want_the_hosts_network() -> None:
    """Slaves need the host's network: inside a container the clients' address is not the master."""
    with_slaves = topology_named("master-with-slave-sync")
    require_topology(NetworkMode.HOST, with_slaves)
    require_topology(NetworkMode.BRIDGE, TWO_MASTERS)
    with pytest.raises(UsageError, match=r"saw master-with-slave-sync; .*containers:host"):
        require_topology(NetworkMode.BRIDGE, with_slaves)


def test_an_image_that_listens_everywhere_is_kept_off_the_hosts_network() -> None:
    """The official image is refused on the host's network, because its replication port would be public."""
    require_image(NetworkMode.BRIDGE, OFFICIAL)
    require_image(NetworkMode.HOST, OURS)
    with pytest.raises(UsageError, match="listen on every address"):
        require_image(NetworkMode.HOST, OFFICIAL)
