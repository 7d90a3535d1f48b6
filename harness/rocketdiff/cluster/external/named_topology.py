"""A topology whose brokers have names of their owner's choosing: what a scenario calls broker a may be ``prod-mq-7``."""

from dataclasses import dataclass

from rocketdiff.cluster.described import DescribedCluster
from rocketdiff.core.errors import UsageError
from rocketdiff.core.topology import Topology, broker_name


@dataclass(frozen=True, slots=True)
class NamedTopology(Topology):
    """As Topology; given_names: real names, by letter."""

    given_names: tuple[str, ...] = ()

    @property
    def broker_names(self) -> tuple[str, ...]:
        """Names as clients see them, by letter."""
        return self.given_names

    def broker_named(self, text: str) -> str:
        """
        Real name of a broker written as a letter, as ``broker-a`` or as it is.

        A cluster file in which these could mean two brokers is refused. Raises UsageError for any other text.
        """
        for letter, name in zip(self.broker_letters, self.given_names, strict=True):
            if text in (letter, broker_name(letter), name):
                return name
        hint = "one of " + ", ".join(self.given_names)
        raise UsageError(f"a broker of topology {self.name}", seen=repr(text), hint=hint)


def named(topology: Topology, described: DescribedCluster) -> NamedTopology:
    """
    The topology on a described cluster: its first brokers by letter, its first name servers.

    Raises UsageError, with what is missing, when the cluster cannot stand for the topology.
    """
    missing = why_not(topology, described)
    if missing is not None:
        raise UsageError(f"a cluster for topology {topology.name}", seen=f"{missing} in {described.origin}")
    names = {node.letter: node.name for node in described.brokers}
    given = tuple(names[letter] for letter in topology.broker_letters)
    return NamedTopology(topology.name, topology.broker_letters, topology.name_server_count, given_names=given)


def why_not(topology: Topology, described: DescribedCluster) -> str | None:
    """What keeps a described cluster from standing for a topology; None when nothing does."""
    if topology != Topology(topology.name, topology.broker_letters, topology.name_server_count):
        return "slaves and settings of brokers are not ours to arrange"
    letters = {node.letter for node in described.brokers}
    lacking = [letter for letter in topology.broker_letters if letter not in letters]
    if lacking:
        return f"no broker {', '.join(lacking)}"
    if topology.name_server_count > len(described.name_servers):
        return f"no name server {topology.name_server_count}"
    return None
