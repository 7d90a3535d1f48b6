"""An existing cluster as its cluster file describes it, and its topology with the owner's broker names."""

import shlex
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from rocketdiff.core.errors import UsageError
from rocketdiff.core.security import OPEN, Security
from rocketdiff.core.tables.topology import NodeKind, Topology, broker_name


class Verb(StrEnum):
    """An action on a node for which the owner can give a command."""

    PAUSE = "pause"
    RESUME = "resume"
    KILL = "kill"
    RESTART = "restart"
    STATE = "state"


UNDONE_BY = {Verb.PAUSE: Verb.RESUME, Verb.KILL: Verb.RESTART}
"""The action that undoes another. A cluster file gives commands for both or for neither."""


@dataclass(frozen=True, slots=True)
class OwnersCommand:
    """A program and its arguments; a shell line is stored as arguments of ``sh -c``."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, given: str | list[str]) -> "OwnersCommand":
        return cls(("/bin/sh", "-c", given) if isinstance(given, str) else tuple(given))

    @property
    def shown(self) -> str:
        if self.words[:2] == ("/bin/sh", "-c") and len(self.words) == 3:
            return self.words[2]
        return shlex.join(self.words)


@dataclass(frozen=True, slots=True)
class DescribedNode:
    """
    A node and the commands that may be run on it.

    letter: ``a`` for a broker, ``1`` for a name server. name: brokerName, or ``name-server-1``. address: empty for a broker,
    whose address comes from the name servers.
    """

    role: NodeKind
    letter: str
    name: str
    address: str
    commands: dict[Verb, OwnersCommand]

    def lacks(self, verb: Verb) -> str | None:
        return None if verb in self.commands else f"no {verb} command of {self.name}"

    @property
    def witness(self) -> str:
        """What proves that the node is paused, for records."""
        return "state command and probe" if Verb.STATE in self.commands else "probe alone"


@dataclass(frozen=True, slots=True)
class DescribedCluster:
    """
    One cluster file.

    origin: path as the user wrote it. folder: of the file; commands run in it. server_release: None to ask the brokers.
    security: what the servers require, from the file security_file (empty if there is none).
    """

    name: str
    origin: str
    folder: Path
    topic_prefix: str
    name_servers: tuple[DescribedNode, ...]
    brokers: tuple[DescribedNode, ...]
    server_release: str | None
    command_timeout_s: float
    security: Security = OPEN
    security_file: str = ""

    @property
    def nodes(self) -> dict[str, DescribedNode]:
        return {node.name: node for node in (*self.name_servers, *self.brokers)}

    @property
    def name_server_addresses(self) -> tuple[str, ...]:
        return tuple(node.address for node in self.name_servers)


@dataclass(frozen=True, slots=True)
class NamedTopology(Topology):
    """A Topology with the owner's broker names: a scenario's broker a may be ``prod-mq-7``. given_names: by letter."""

    given_names: tuple[str, ...] = ()

    @property
    def broker_names(self) -> tuple[str, ...]:
        return self.given_names

    def broker_named(self, text: str) -> str:
        """
        Return the real name of a broker written as a letter, as ``broker-a`` or as its real name. Raises UsageError.

        The reader refuses a cluster file in which one text could mean two brokers.
        """
        for letter, name in zip(self.broker_letters, self.given_names, strict=True):
            if text in (letter, broker_name(letter), name):
                return name
        hint = "one of " + ", ".join(self.given_names)
        raise UsageError(f"a broker of topology {self.name}", seen=repr(text), hint=hint)


def named_topology(topology: Topology, described: DescribedCluster) -> NamedTopology:
    """
    Return the topology on a described cluster: the first brokers by letter, the first name servers.

    Raises UsageError, with what is missing, if the cluster cannot provide the topology.
    """
    missing = why_not(topology, described)
    if missing is not None:
        raise UsageError(f"a cluster for topology {topology.name}", seen=f"{missing} in {described.origin}")
    names = {node.letter: node.name for node in described.brokers}
    given = tuple(names[letter] for letter in topology.broker_letters)
    return NamedTopology(topology.name, topology.broker_letters, topology.name_server_count, given_names=given)


def why_not(topology: Topology, described: DescribedCluster) -> str | None:
    """Return why a described cluster cannot provide a topology; None if it can."""
    if topology.has_proxies:
        return "a cluster file describes no proxies; use --cluster processes"
    if topology != Topology(topology.name, topology.broker_letters, topology.name_server_count):
        return "rocketdiff cannot set up slaves or broker settings on an external cluster"
    letters = {node.letter for node in described.brokers}
    lacking = [letter for letter in topology.broker_letters if letter not in letters]
    if lacking:
        return f"no broker {', '.join(lacking)}"
    if topology.name_server_count > len(described.name_servers):
        return f"no name server {topology.name_server_count}"
    return None
