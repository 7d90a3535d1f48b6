"""
The interface of a running cluster, which every backend implements, and its values.

Node names are those that clients see: ``broker-a``, ``name-server-1``. An action returns when the backend has seen its effect;
``faults`` proves that clients notice it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol, Self, TypeVar, runtime_checkable

from rocketdiff.core.errors import ClusterError, UsageError
from rocketdiff.core.security import OPEN, Security
from rocketdiff.core.tables.topology import NodeKind, Topology

LOOPBACK = "127.0.0.1"

TO_MOVE = "try --cluster processes"
"""Where a broker can move."""

_Entry = TypeVar("_Entry")


class NodeState(StrEnum):
    """State of a node's process as the operating system or the container engine reports it."""

    RUNNING = "running"
    PAUSED = "paused"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Span:
    """The interval in which an action took effect, in nanoseconds of the monotonic clock."""

    begin_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class Node:
    """
    One server of a cluster.

    letter: ``a`` for a broker, ``a-slave-1`` for a slave, ``1`` for a name server or a proxy. address: ``host:port`` for clients.
    pid: None if the process does not run or is not on this host. probe_topic: used by probe requests. security: what its
    connections require.
    """

    role: NodeKind
    letter: str
    name: str
    address: str
    pid: int | None
    probe_topic: str = "rocketdiff-probe"
    security: Security = OPEN


@runtime_checkable
class Cluster(Protocol):
    """
    A running RocketMQ cluster. Backends derive from it, and implement every member without a body.

    Methods that take a node name raise UsageError for an unknown one and ClusterError if the action had no effect in time.
    They may be called from any thread, but two actions on one node must not overlap.
    """

    @property
    def topology(self) -> Topology: ...

    @property
    def server_release(self) -> str: ...

    @property
    def name_servers(self) -> tuple[Node, ...]: ...

    @property
    def brokers(self) -> tuple[Node, ...]:
        """The masters, by letter: clients write to them, and they hold every message."""
        ...

    @property
    def slaves(self) -> tuple[Node, ...]: ...

    @property
    def proxies(self) -> tuple[Node, ...]:
        """Proxies with a node of their own; address: of the gRPC port."""
        ...

    @property
    def name_server_addresses(self) -> tuple[str, ...]:
        return tuple(node.address for node in self.name_servers)

    @property
    def grpc_endpoints(self) -> Mapping[str, str]:
        """``host:port`` for gRPC clients, by the node that serves there."""
        ...

    @property
    def topic_prefix(self) -> str: ...

    def create_topic(self, name: str, queues_per_broker: int | Mapping[str, int], *, ordered: bool = False) -> None:
        """
        Create a topic on every broker, or on those whose letter is given; return when every name server has the route.

        ordered: mark the topic as ordered on the brokers; a read-only broker refuses sends to ordered topics only.
        """
        ...

    @property
    def is_shared(self) -> bool:
        """Whether others use it too, so that only what bears the run's name is read."""
        return False

    def announce_group(self, name: str) -> None:  # noqa: ARG002 - a cluster of ours ends with all its groups
        """Called before a group's first member is there, so that what brokers then make for it is undone."""
        return

    def delete_topic(self, name: str) -> None:
        """Delete a topic from brokers and name servers. Idempotent."""
        ...

    def pause(self, node_name: str) -> Span:
        """Return when the node is seen paused. The kernel still accepts connections and bytes for it."""
        ...

    def resume(self, node_name: str) -> Span:
        """
        Return when the node is seen running.

        Raises ClusterError, when it runs, if it was not paused all the time: somebody else has continued it.
        """
        ...

    def kill(self, node_name: str) -> Span:
        """Return when the process is gone."""
        ...

    def restart(self, node_name: str) -> Span:
        """Start a node that is gone, with its old address and data; return when it serves and is registered everywhere."""
        ...

    def restart_elsewhere(self, node_name: str, announce: Callable[[Node], None]) -> Span:
        """
        Start a broker that is gone, with its data, at another address; its old one stays closed. Returns as ``restart``.

        announce: called with the new address before the broker starts there; again if that address turns out to be taken.
        Raises UsageError if the addresses are not ours to choose.
        """
        ...

    def state(self, node_name: str) -> NodeState: ...

    def heal_all(self) -> None: ...

    def require_sound(self) -> None:
        """
        Check that the machine of the nodes has not failed, for instance by a full disk, on which brokers give wrong responses.

        Raises EnvironmentMissing; measurements since the last successful check are then worthless.
        """
        ...

    def unread_bytes(self, node_name: str) -> int | None:
        """Bytes and connections from clients that a node has not accepted yet; None if the backend cannot see them."""
        ...

    def log_tail(self, node_name: str, lines: int = 20) -> tuple[str, ...]: ...

    def collect_evidence(self, folder: Path) -> None:
        """Copy logs, settings and state into a folder, one folder per node."""
        ...

    def close(self) -> None:
        """End all nodes, paused ones too, and remove the stores; keep logs and settings. A second call does nothing."""
        ...

    def __repr__(self) -> str:
        return f"<RocketMQ {self.server_release}, {self.topology.name}, at {';'.join(self.name_server_addresses)}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def pause_broken(node_name: str, seen: str) -> ClusterError:
    """Return the error for a pause that somebody else has ended, for whatever time."""
    return ClusterError(
        f"{node_name} to stay paused until its resume",
        seen=seen,
        hint="let nobody else act on the servers, and run again",
    )


def nodes_of(cluster: Cluster) -> tuple[Node, ...]:
    """All nodes, name servers first, proxies last."""
    return cluster.name_servers + cluster.brokers + cluster.slaves + cluster.proxies


def security_of(cluster: Cluster) -> Security:
    """What connections to the servers of a cluster require; the same for all of them."""
    return cluster.name_servers[0].security


def node_named(cluster: Cluster, name: str) -> Node:
    """Return the current values of a node; UsageError for an unknown name."""
    return by_name({node.name: node for node in nodes_of(cluster)}, name)


def by_name(nodes: Mapping[str, _Entry], name: str) -> _Entry:
    """Return the entry of a node; UsageError for an unknown name."""
    if name not in nodes:
        raise UsageError("a node of this cluster", seen=repr(name), hint="one of " + ", ".join(nodes))
    return nodes[name]
