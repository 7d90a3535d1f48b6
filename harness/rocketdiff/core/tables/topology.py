"""The topologies of a cluster, and how scenarios and clients name its nodes."""

from dataclasses import dataclass
from enum import StrEnum

from rocketdiff.core.errors import UsageError


class NodeKind(StrEnum):
    """Kinds of node. A broker is a master; clients never write to its replica, a slave. gRPC clients know proxies only."""

    NAME_SERVER = "name-server"
    BROKER = "broker"
    SLAVE = "slave"
    PROXY = "proxy"


class Replication(StrEnum):
    """Role of the masters, by RocketMQ's names: SYNC_MASTER acknowledges a message only after its slave has it."""

    ASYNC_MASTER = "ASYNC_MASTER"
    SYNC_MASTER = "SYNC_MASTER"


class FlushDisk(StrEnum):
    """RocketMQ's flush modes: SYNC_FLUSH acknowledges a message only after it is on disk."""

    ASYNC_FLUSH = "ASYNC_FLUSH"
    SYNC_FLUSH = "SYNC_FLUSH"


@dataclass(frozen=True, slots=True)
class Topology:
    """
    Name servers, and one master per letter; every broker registers with every name server.

    slaves_per_master: replicas on other nodes.
    proxy_count: proxies of mode CLUSTER, separate nodes.
    has_local_proxies: proxy mode LOCAL, each master is also a proxy.
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
        """As clients see them."""
        return tuple(broker_name(letter) for letter in self.broker_letters)

    @property
    def slave_names(self) -> tuple[str, ...]:
        """Names in records; clients see the master's name and a broker id."""
        return tuple(
            slave_name(letter, broker_id)
            for letter in self.broker_letters
            for broker_id in range(1, self.slaves_per_master + 1)
        )

    @property
    def name_server_names(self) -> tuple[str, ...]:
        """Names in records; clients know name servers by address only."""
        return tuple(name_server_name(number) for number in range(1, self.name_server_count + 1))

    @property
    def proxy_names(self) -> tuple[str, ...]:
        """Names in records, of separate proxy nodes only."""
        return tuple(proxy_name(number) for number in range(1, self.proxy_count + 1))

    @property
    def node_names(self) -> tuple[str, ...]:
        """Every node, name servers first, proxies last."""
        return self.name_server_names + self.broker_names + self.slave_names + self.proxy_names

    @property
    def has_proxies(self) -> bool:
        """True if gRPC clients have a server to connect to."""
        return self.proxy_count > 0 or self.has_local_proxies

    @property
    def has_slaves(self) -> bool:
        return self.slaves_per_master > 0

    @property
    def waits_for_slave(self) -> bool:
        return self.replication is Replication.SYNC_MASTER

    @property
    def waits_for_disk(self) -> bool:
        return self.flush is FlushDisk.SYNC_FLUSH

    def broker_named(self, text: str) -> str:
        """Name of a master written as a letter or in full; UsageError if unknown."""
        return _resolve(text, "broker", self.broker_names, self.name)

    def slave_named(self, text: str) -> str:
        """Name of a slave written as ``a-slave-1`` or in full; UsageError if unknown."""
        return _resolve(text, "broker", self.slave_names, self.name)

    def name_server_named(self, text: str) -> str:
        """Name of a name server written as a number or in full; UsageError if unknown."""
        return _resolve(text, "name-server", self.name_server_names, self.name)

    def proxy_named(self, text: str) -> str:
        """Name of a proxy written as a number or in full; UsageError if unknown."""
        return _resolve(text, "proxy", self.proxy_names, self.name)

    def node_named(self, role: NodeKind, text: str) -> str:
        """Name of a node of this role, in the forms above; UsageError if unknown."""
        match role:
            case NodeKind.NAME_SERVER:
                return self.name_server_named(text)
            case NodeKind.SLAVE:
                return self.slave_named(text)
            case NodeKind.PROXY:
                return self.proxy_named(text)
            case NodeKind.BROKER:
                return self.broker_named(text)


MASTER_ID = 0
"""Broker id of every master; slaves count from 1."""

_SLAVE = "-slave-"


def broker_name(letter: str) -> str:
    """Return ``broker-a`` for the letter a."""
    return f"broker-{letter}"


def slave_name(letter: str, broker_id: int) -> str:
    """Return ``broker-a-slave-1`` for the first slave of broker-a."""
    return f"{broker_name(letter)}{_SLAVE}{broker_id}"


def letter_of(name: str) -> str:
    """Return ``a`` for broker-a, ``a-slave-1`` for its slave."""
    return name.removeprefix(broker_name(""))


def master_of(name: str) -> str:
    """Return the broker name that clients see: the master's, also for a slave."""
    return name.partition(_SLAVE)[0]


def broker_id_of(name: str) -> int:
    """Return a node's broker id: 0 for a master."""
    broker_id = name.partition(_SLAVE)[2]
    return int(broker_id) if broker_id else MASTER_ID


def name_server_name(number: int) -> str:
    """Return ``name-server-1`` for the first."""
    return f"name-server-{number}"


def proxy_name(number: int) -> str:
    """Return ``proxy-1`` for the first."""
    return f"proxy-{number}"


def is_proxy(name: str) -> bool:
    """True if the name is that of a separate proxy node."""
    return name.startswith("proxy-")


def may_meet(fault_node: str, node: str) -> bool:
    """True if a request to ``node`` may meet a fault of ``fault_node``: a proxy passes messages to any broker."""
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
"""The smallest topology in which a client can fail over."""


def topology_named(name: str) -> Topology:
    """Return the topology of this name; raise UsageError for an unknown one."""
    topology = TOPOLOGIES.get(name)
    if topology is None:
        raise UsageError("a known topology", seen=repr(name), hint="one of " + ", ".join(TOPOLOGIES))
    return topology
