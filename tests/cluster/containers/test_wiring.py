"""How containers are reached, and what their servers are told."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketdiff.cluster.containers.images import ServerImage
from rocketdiff.cluster.containers.shapes import Wiring, wiring_named
from rocketdiff.cluster.containers.wiring import plan_server, require_fitting, require_possible, settings_of
from rocketdiff.cluster.launched.seat import Seat, take_seats
from rocketdiff.core.errors import UsageError
from rocketdiff.core.topology import topology_named

OURS = ServerImage("rocketdiff/server:x", "5.3.3", is_foreign=False, class_path=("/opt/rocketmq/lib/a.jar",))
OFFICIAL = ServerImage("apache/rocketmq:5.3.3", "5.3.3", is_foreign=True)
TWO_MASTERS = topology_named("two-masters")


@pytest.fixture
def seats(tmp_path: Path) -> Iterator[list[Seat]]:
    taken = take_seats(TWO_MASTERS, tmp_path, None)
    yield taken
    for seat in taken:
        seat.reserved.release()


def in_effect(text: str) -> dict[str, str]:
    """As Java reads properties: the last line of a name counts."""
    return dict(line.split("=", 1) for line in text.splitlines())


def test_a_name_server_of_a_network_of_its_own_listens_to_all_of_it(seats: list[Seat]) -> None:
    """Under the same port as outside."""
    settings = in_effect(settings_of(Wiring.BRIDGE, TWO_MASTERS, seats[0], seats))
    assert settings["bindAddress"] == "0.0.0.0"  # noqa: S104  # in its own network
    assert settings["listenPort"] == str(seats[0].port)


def test_a_broker_calls_name_servers_by_name_and_tells_clients_loopback(seats: list[Seat]) -> None:
    """Replicas, which are inside, are told its name."""
    settings = in_effect(settings_of(Wiring.BRIDGE, TWO_MASTERS, seats[1], seats))
    assert settings["namesrvAddr"] == f"name-server-1:{seats[0].port}"
    assert (settings["brokerIP1"], settings["brokerIP2"]) == ("127.0.0.1", "broker-a")
    assert settings["listenPort"] == str(seats[1].port)


def test_on_the_hosts_network_the_settings_are_those_of_processes(seats: list[Seat]) -> None:
    """Nothing listens beyond loopback there."""
    settings = in_effect(settings_of(Wiring.HOST, TWO_MASTERS, seats[1], seats))
    assert settings["namesrvAddr"] == seats[0].address
    assert {settings["bindAddress"], settings["brokerIP1"], settings["brokerIP2"]} == {"127.0.0.1"}


def test_clients_ports_are_published_under_the_same_numbers(seats: list[Seat]) -> None:
    """A broker has two of them; on the host's network there is nothing to publish."""
    name_server, broker = seats[0], seats[1]
    assert plan_server(Wiring.BRIDGE, TWO_MASTERS, name_server, seats, OURS).ports == (name_server.port,)
    assert plan_server(Wiring.BRIDGE, TWO_MASTERS, broker, seats, OURS).ports == (broker.port - 2, broker.port)
    assert plan_server(Wiring.HOST, TWO_MASTERS, broker, seats, OURS).ports == ()


@pytest.mark.parametrize(("wiring", "is_kept"), [(Wiring.BRIDGE, False), (Wiring.HOST, True)])
def test_any_address_means_loopback_only_on_the_hosts_network(seats: list[Seat], wiring: Wiring, is_kept: bool) -> None:
    """In a network of its own a server that listens on loopback is reached by nobody."""
    command = plan_server(wiring, TWO_MASTERS, seats[1], seats, OURS).command
    assert ("rocketdiff.server.Loopback" in command) is is_kept
    assert command[-3:] == ("org.apache.rocketmq.broker.BrokerStartup", "-c", "/var/lib/rocketdiff/server.properties")
    assert command[command.index("-cp") + 1] == "/opt/rocketmq/lib/a.jar"


def test_files_are_complete_before_the_server_starts(seats: list[Seat]) -> None:
    """Settings, log settings under the names of old and new releases, and the folder for temporary files."""
    files = plan_server(Wiring.BRIDGE, TWO_MASTERS, seats[1], seats, OURS).files
    names = {path.removeprefix("/var/lib/rocketdiff/") for path in files}
    logging = {"conf/logback.xml", "conf/logback_namesrv.xml", "conf/logback_broker.xml"}
    assert names == {"server.properties", "tmp/.keep", *logging}


def test_the_official_image_is_started_by_its_own_scripts(seats: list[Seat]) -> None:
    """With our heap and places, after its own flags."""
    plan = plan_server(Wiring.BRIDGE, TWO_MASTERS, seats[0], seats, OFFICIAL)
    assert plan.command == ("sh", "mqnamesrv", "-c", "/var/lib/rocketdiff/server.properties")
    assert "-Xmx256m" in plan.environment["JAVA_OPT_EXT"]


def test_no_name_is_bridge_and_unknown_ones_are_refused() -> None:
    """As a mistake of the user, with what there is."""
    assert (wiring_named(""), wiring_named("host")) == (Wiring.BRIDGE, Wiring.HOST)
    with pytest.raises(UsageError, match="containers:bridge, containers:host"):
        wiring_named("mesh")


def test_slaves_want_the_hosts_network() -> None:
    """Inside a container the address that clients use is not the master's."""
    with_slaves = topology_named("master-with-slave-sync")
    require_possible(Wiring.HOST, with_slaves)
    require_possible(Wiring.BRIDGE, TWO_MASTERS)
    with pytest.raises(UsageError, match=r"saw master-with-slave-sync; .*containers:host"):
        require_possible(Wiring.BRIDGE, with_slaves)


def test_an_image_that_listens_everywhere_is_kept_off_the_hosts_network() -> None:
    """Its replication port would be open to whoever reaches this machine."""
    require_fitting(Wiring.BRIDGE, OFFICIAL)
    require_fitting(Wiring.HOST, OURS)
    with pytest.raises(UsageError, match="listen on every address"):
        require_fitting(Wiring.HOST, OFFICIAL)
