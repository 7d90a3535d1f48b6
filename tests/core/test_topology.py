"""Topologies and names of nodes."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.core.tables.topology import TOPOLOGIES, broker_id_of, letter_of, master_of, topology_named

ROOT = Path(__file__).parents[2]


def test_nodes_are_found_by_the_names_that_clients_see() -> None:
    """A broker is found by its letter and its name, a name server by its number and its name."""
    topology = topology_named("two-masters-two-name-servers")
    assert topology.broker_names == tuple(map(topology.broker_named, "ab")) == ("broker-a", "broker-b")
    assert topology.name_server_names == tuple(map(topology.name_server_named, "12"))
    assert topology.broker_named("broker-b") == "broker-b"
    assert topology.name_server_named("name-server-2") == "name-server-2"


@pytest.mark.parametrize(
    ("look", "message"),
    [
        (lambda: topology_named("two-masters").slave_named("a-slave-1"), "it has none"),
        (lambda: topology_named("two-masters").broker_named("c"), "broker-a, broker-b"),
        (lambda: topology_named("four-masters"), "three-masters"),
    ],
)
def test_an_unknown_node_or_topology_is_refused_with_the_known_ones(look: Callable[[], object], message: str) -> None:
    """Nodes and topologies that do not exist are refused with those that do, or with a remark that there are none."""
    with pytest.raises(UsageError, match=message):
        look()


def test_a_slave_is_a_node_of_its_own_under_its_masters_name() -> None:
    """A slave is a node of its own; clients know it by its master's name and an id."""
    topology = topology_named("two-masters-with-slaves-sync")
    assert topology.slave_names == ("broker-a-slave-1", "broker-b-slave-1")
    assert topology.slave_named("b-slave-1") == "broker-b-slave-1"
    assert topology.node_names == ("name-server-1", "broker-a", "broker-b", "broker-a-slave-1", "broker-b-slave-1")
    slave = topology.slave_names[0]
    assert (master_of(slave), broker_id_of(slave), letter_of(slave)) == ("broker-a", 1, "a-slave-1")
    assert (master_of("broker-a"), broker_id_of("broker-a"), letter_of("broker-a")) == ("broker-a", 0, "a")


def test_no_topology_is_larger_than_the_machine_allows() -> None:
    """No topology has more than five nodes, which are five JVMs of 256 MiB heap."""
    assert max(len(topology.node_names) for topology in TOPOLOGIES.values()) <= 5


def test_every_topology_has_a_name_server_and_a_broker() -> None:
    """Every topology has a name server and a broker."""
    assert all(topology.name_server_count and topology.broker_letters for topology in TOPOLOGIES.values())


def test_the_guide_to_scenarios_names_every_topology_once() -> None:
    """The guide to scenarios names every topology once."""
    table = (ROOT / "fixtures" / "README.md").read_text().partition("| Name | Nodes")[2].partition("\n\n")[0]
    named = [name for row in table.splitlines() for name in re.findall("`([^`]+)`", row.partition(" | ")[0])]
    assert sorted(named) == sorted(TOPOLOGIES)
