"""The shapes a cluster can have, and how scenarios and clients name its nodes."""

from dataclasses import dataclass
from enum import StrEnum

from rocketdiff.core.errors import UsageError


class Role(StrEnum):
    """The kinds of node; a broker is a master, and a slave is a copy of one that nobody writes to. Clients that speak gRPC know proxies only."""

    NAME_SERVER = "name-server"
    BROKER = "broker"
    SLAVE = "slave"
    PROXY = "proxy"


class Replication(StrEnum):
    """Role of the masters, under RocketMQ's names: whether one waits for its slave before it acknowledges a message."""

    ASYNC_MASTER = "ASYNC_MASTER"
    SYNC_MASTER = "SYNC_MASTER"


class FlushDisk(StrEnum):
    """Whether a broker waits for the disk before it acknowledges a message, under RocketMQ's names."""

    ASYNC_FLUSH = "ASYNC_FLUSH"
    SYNC_FLUSH = "SYNC_FLUSH"


@dataclass(frozen=True, slots=True)
class Topology:
    """
    So many name servers, and one master broker for each letter; every broker registers with every name server.

    slaves_per_master: how many copies each master has on other nodes. replication and flush are those of all masters.
    proxy_count: proxies of mode CLUSTER, each a node of its own. has_local_proxies: mode LOCAL, each master is a proxy too.
    """

    name: str
    broker_letters: tuple[str, ...]
    name_server_count: int
    slaves_per_master: int = 0
    replication: Replication = Replication.ASYNC_MASTER
    flush: FlushDisk = FlushDisk.ASYNC_FLUSH
    proxy_count: int = 0
    has_local_proxies: bool = False

    @property
    def broker_names(self) -> tuple[str, ...]:
        """Names of the masters as clients see them, by letter."""
        return tuple(broker_name(letter) for letter in self.broker_letters)

    @property
    def slave_names(self) -> tuple[str, ...]:
        """Names of the slaves used in records, by their masters; clients see the master's name and an id."""
        return tuple(
            slave_name(letter, broker_id)
            for letter in self.broker_letters
            for broker_id in range(1, self.slaves_per_master + 1)
        )

    @property
    def name_server_names(self) -> tuple[str, ...]:
        """Names used in records; clients know name servers by address only."""
        return tuple(name_server_name(number) for number in range(1, self.name_server_count + 1))

    @property
    def proxy_names(self) -> tuple[str, ...]:
        """Names of the proxies that are nodes of their own, as used in records."""
        return tuple(proxy_name(number) for number in range(1, self.proxy_count + 1))

    @property
    def node_names(self) -> tuple[str, ...]:
        """Every node, name servers first, proxies last."""
        return self.name_server_names + self.broker_names + self.slave_names + self.proxy_names

    @property
    def has_proxies(self) -> bool:
        """Whether clients that speak gRPC have somewhere to connect."""
        return self.proxy_count > 0 or self.has_local_proxies

    @property
    def has_slaves(self) -> bool:
        """Whether each master has one at least."""
        return self.slaves_per_master > 0

    @property
    def waits_for_slave(self) -> bool:
        """Whether a master acknowledges a message only when its slave has it."""
        return self.replication is Replication.SYNC_MASTER

    @property
    def waits_for_disk(self) -> bool:
        """Whether a broker acknowledges a message only when it is on the disk."""
        return self.flush is FlushDisk.SYNC_FLUSH

    def broker_named(self, text: str) -> str:
        """
        Real name of a master broker written as a letter or in full.

        Raises UsageError if this topology has no such broker.
        """
        return _resolve(text, "broker", self.broker_names, self.name)

    def slave_named(self, text: str) -> str:
        """
        Real name of a slave written as ``a-slave-1`` or in full.

        Raises UsageError if this topology has no such slave.
        """
        return _resolve(text, "broker", self.slave_names, self.name)

    def name_server_named(self, text: str) -> str:
        """
        Real name of a name server written as a number or in full.

        Raises UsageError if this topology has no such name server.
        """
        return _resolve(text, "name-server", self.name_server_names, self.name)

    def proxy_named(self, text: str) -> str:
        """
        Real name of a proxy written as a number or in full.

        Raises UsageError if this topology has no such proxy.
        """
        return _resolve(text, "proxy", self.proxy_names, self.name)

    def node_named(self, role: Role, text: str) -> str:
        """
        Real name of a node of that kind, written as the four above take it.

        Raises UsageError if this topology has no such node.
        """
        match role:
            case Role.NAME_SERVER:
                return self.name_server_named(text)
            case Role.SLAVE:
                return self.slave_named(text)
            case Role.PROXY:
                return self.proxy_named(text)
            case Role.BROKER:
                return self.broker_named(text)


MASTER_ID = 0
"""Broker id of every master; slaves have those from 1 on."""

_SLAVE = "-slave-"


def broker_name(letter: str) -> str:
    """``broker-a`` for the letter a."""
    return f"broker-{letter}"


def slave_name(letter: str, broker_id: int) -> str:
    """``broker-a-slave-1`` for the first slave of broker-a."""
    return f"{broker_name(letter)}{_SLAVE}{broker_id}"


def letter_of(name: str) -> str:
    """``a`` for broker-a, ``a-slave-1`` for its slave."""
    return name.removeprefix(broker_name(""))


def master_of(name: str) -> str:
    """Broker name that clients see for a node: the master's, also for its slaves."""
    return name.partition(_SLAVE)[0]


def broker_id_of(name: str) -> int:
    """Broker id that clients see for a node: 0 for a master."""
    broker_id = name.partition(_SLAVE)[2]
    return int(broker_id) if broker_id else MASTER_ID


def name_server_name(number: int) -> str:
    """``name-server-1`` for the first."""
    return f"name-server-{number}"


def proxy_name(number: int) -> str:
    """``proxy-1`` for the first."""
    return f"proxy-{number}"


def is_proxy(name: str) -> bool:
    """Whether a node is a proxy of its own, by its name."""
    return name.startswith("proxy-")


def may_meet(fault_node: str, node: str) -> bool:
    """
    Whether what is sent to a node may meet a fault of that other one.

    A proxy gives a message to any broker, so whatever is sent to it may meet the fault of each.
    """
    return fault_node == node or (is_proxy(node) and not is_proxy(fault_node))


def _resolve(text: str, prefix: str, names: tuple[str, ...], topology: str) -> str:
    for candidate in (text, f"{prefix}-{text}"):
        if candidate in names:
            return candidate
    hint = "one of " + ", ".join(names) if names else "it has none"
    raise UsageError(f"a {prefix} of topology {topology}", seen=repr(text), hint=hint)


_SYNC = Replication.SYNC_MASTER

TOPOLOGIES = {
    topology.name: topology
    for topology in (
        Topology("one-master", ("a",), 1),
        Topology("two-masters", ("a", "b"), 1),
        Topology("three-masters", ("a", "b", "c"), 1),
        Topology("two-masters-two-name-servers", ("a", "b"), 2),
        Topology("master-with-slave-async", ("a",), 1, slaves_per_master=1),
        Topology("master-with-slave-sync", ("a",), 1, slaves_per_master=1, replication=_SYNC),
        Topology("two-masters-with-slaves-async", ("a", "b"), 1, slaves_per_master=1),
        Topology("two-masters-with-slaves-sync", ("a", "b"), 1, slaves_per_master=1, replication=_SYNC),
        Topology("two-masters-sync-flush", ("a", "b"), 1, flush=FlushDisk.SYNC_FLUSH),
        Topology("two-masters-proxy", ("a", "b"), 1, proxy_count=1),
        Topology("two-masters-two-proxies", ("a", "b"), 1, proxy_count=2),
        Topology("one-master-local-proxy", ("a",), 1, has_local_proxies=True),
    )
}

DEFAULT_TOPOLOGY = "two-masters"
"""The least on which a client has somewhere else to go."""


def topology_named(name: str) -> Topology:
    """
    The topology of that name.

    Raises UsageError for any other.
    """
    topology = TOPOLOGIES.get(name)
    if topology is None:
        raise UsageError("a known topology", seen=repr(name), hint="one of " + ", ".join(TOPOLOGIES))
    return topology
