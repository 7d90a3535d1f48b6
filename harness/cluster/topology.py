"""The shapes a cluster can have, and how scenarios and clients name its nodes."""

from dataclasses import dataclass

from harness.core.errors import UsageError


@dataclass(frozen=True, slots=True)
class Topology:
    """So many name servers, and one master broker for each letter; every broker registers with every name server."""

    name: str
    broker_letters: tuple[str, ...]
    name_server_count: int

    @property
    def broker_names(self) -> tuple[str, ...]:
        """Names as clients see them, by letter."""
        return tuple(broker_name(letter) for letter in self.broker_letters)

    @property
    def name_server_names(self) -> tuple[str, ...]:
        """Names used in records; clients know name servers by address only."""
        return tuple(name_server_name(number) for number in range(1, self.name_server_count + 1))

    def broker_named(self, text: str) -> str:
        """
        Real name of a broker written as a letter or in full.

        Raises UsageError if this topology has no such broker.
        """
        return _resolve(text, "broker", self.broker_names, self.name)

    def name_server_named(self, text: str) -> str:
        """
        Real name of a name server written as a number or in full.

        Raises UsageError if this topology has no such name server.
        """
        return _resolve(text, "name-server", self.name_server_names, self.name)


def broker_name(letter: str) -> str:
    """``broker-a`` for the letter a."""
    return f"broker-{letter}"


def name_server_name(number: int) -> str:
    """``name-server-1`` for the first."""
    return f"name-server-{number}"


def _resolve(text: str, prefix: str, names: tuple[str, ...], topology: str) -> str:
    for candidate in (text, f"{prefix}-{text}"):
        if candidate in names:
            return candidate
    raise UsageError(f"a {prefix} of topology {topology}", seen=repr(text), hint="one of " + ", ".join(names))


TOPOLOGIES = {
    topology.name: topology
    for topology in (
        Topology("one-master", ("a",), 1),
        Topology("two-masters", ("a", "b"), 1),
        Topology("three-masters", ("a", "b", "c"), 1),
        Topology("two-masters-two-name-servers", ("a", "b"), 2),
    )
}


def topology_named(name: str) -> Topology:
    """
    The topology of that name.

    Raises UsageError for any other.
    """
    topology = TOPOLOGIES.get(name)
    if topology is None:
        raise UsageError("a known topology", seen=repr(name), hint="one of " + ", ".join(TOPOLOGIES))
    return topology
