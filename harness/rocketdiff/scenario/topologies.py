"""
Nodes a scenario may name, by topology.

The cluster room builds these shapes and owns them; rooms may not import each other, so the names are repeated here and a
test holds the two lists against each other.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Nodes:
    """
    Letters of the brokers and how many name servers there are.

    has_slaves: each broker has one slave. waits_for_slave: it answers a send only when that has the message.
    waits_for_disk: when the message is on the disk.
    """

    broker_letters: tuple[str, ...]
    name_servers: int
    has_slaves: bool = False
    waits_for_slave: bool = False
    waits_for_disk: bool = False

    @property
    def brokers(self) -> tuple[str, ...]:
        """Names of the brokers as clients see them."""
        return tuple(broker_name(letter) for letter in self.broker_letters)

    @property
    def slaves(self) -> tuple[str, ...]:
        """Names of the slaves in records; clients never see them."""
        return tuple(slave_name(letter) for letter in self.broker_letters) if self.has_slaves else ()


TOPOLOGIES = {
    "one-master": Nodes(("a",), 1),
    "two-masters": Nodes(("a", "b"), 1),
    "three-masters": Nodes(("a", "b", "c"), 1),
    "two-masters-two-name-servers": Nodes(("a", "b"), 2),
    "master-with-slave-async": Nodes(("a",), 1, has_slaves=True),
    "master-with-slave-sync": Nodes(("a",), 1, has_slaves=True, waits_for_slave=True),
    "two-masters-with-slaves-async": Nodes(("a", "b"), 1, has_slaves=True),
    "two-masters-with-slaves-sync": Nodes(("a", "b"), 1, has_slaves=True, waits_for_slave=True),
    "two-masters-sync-flush": Nodes(("a", "b"), 1, waits_for_disk=True),
}


def broker_name(letter: str) -> str:
    """``broker-a`` for the letter a."""
    return f"broker-{letter}"


def slave_name(letter: str) -> str:
    """``broker-a-slave-1`` for the slave of broker a."""
    return f"{broker_name(letter)}-slave-1"


def name_server_name(number: int) -> str:
    """``name-server-1`` for the first."""
    return f"name-server-{number}"
