"""
Nodes a scenario may name, by topology.

The cluster room builds these shapes and owns them; rooms may not import each other, so the names are repeated here and a
test holds the two lists against each other.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Nodes:
    """Letters of the brokers and how many name servers there are."""

    broker_letters: tuple[str, ...]
    name_servers: int

    @property
    def brokers(self) -> tuple[str, ...]:
        """Names of the brokers as clients see them."""
        return tuple(broker_name(letter) for letter in self.broker_letters)


TOPOLOGIES = {
    "one-master": Nodes(("a",), 1),
    "two-masters": Nodes(("a", "b"), 1),
    "three-masters": Nodes(("a", "b", "c"), 1),
    "two-masters-two-name-servers": Nodes(("a", "b"), 2),
}


def broker_name(letter: str) -> str:
    """``broker-a`` for the letter a."""
    return f"broker-{letter}"


def name_server_name(number: int) -> str:
    """``name-server-1`` for the first."""
    return f"name-server-{number}"
