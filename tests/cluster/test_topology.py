"""Shapes and names of nodes."""

import pytest

from harness.cluster.topology import TOPOLOGIES, topology_named
from harness.core.errors import UsageError


def test_names_are_those_clients_see() -> None:
    """Letters become broker names, numbers become names of name servers."""
    topology = topology_named("two-masters-two-name-servers")
    assert topology.broker_names == ("broker-a", "broker-b")
    assert topology.name_server_names == ("name-server-1", "name-server-2")


@pytest.mark.parametrize("written", ["b", "broker-b"])
def test_a_broker_is_found_by_letter_and_by_name(written: str) -> None:
    """Scenarios write the letter, expanded faults the name."""
    assert topology_named("two-masters").broker_named(written) == "broker-b"


@pytest.mark.parametrize("written", ["1", "name-server-1"])
def test_a_name_server_is_found_by_number_and_by_name(written: str) -> None:
    """The same for name servers."""
    assert topology_named("one-master").name_server_named(written) == "name-server-1"


def test_an_unknown_broker_is_refused_with_the_known_ones() -> None:
    """The message names what there is."""
    with pytest.raises(UsageError, match="broker-a, broker-b"):
        topology_named("two-masters").broker_named("c")


def test_an_unknown_topology_is_refused() -> None:
    """The message names what there is."""
    with pytest.raises(UsageError, match="three-masters"):
        topology_named("four-masters")


def test_every_topology_has_a_name_server_and_a_broker() -> None:
    """There is nothing to start otherwise."""
    assert all(topology.name_server_count and topology.broker_letters for topology in TOPOLOGIES.values())
