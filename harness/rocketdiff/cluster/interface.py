"""
The interface of a running cluster, which every backend implements, and its values.

Names of nodes are those that clients see: ``broker-a``, ``name-server-1``. Actions return when the backend has seen their effect;
``faults`` proves that clients notice it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, TypeVar, runtime_checkable

from rocketdiff.core.errors import UsageError
from rocketdiff.core.security import OPEN, Security
from rocketdiff.core.tables.topology import Role as Role  # noqa: PLC0414 - part of this interface
from rocketdiff.core.tables.topology import Topology

LOOPBACK = "127.0.0.1"

_Entry = TypeVar("_Entry")


class NodeState(StrEnum):
    """State of a node's process, as the operating system or the container engine reports it."""

    RUNNING = "running"
    PAUSED = "paused"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Span:
    """An action took effect between these two times of the monotonic clock, in nanoseconds."""

    begin_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class Node:
    """
    One server of a cluster.

    letter: ``a`` for a broker, ``a-slave-1`` for a slave, ``1`` for a name server or a proxy. address: ``host:port`` for clients.
    pid: of its process, None if that does not run or is not on this host. probe_topic: topic of the requests of a probe.
    security: how it wants to be asked.
    """

    role: Role
    letter: str
    name: str
    address: str
    pid: int | None
    probe_topic: str = "rocketdiff-probe"
    security: Security = OPEN


@runtime_checkable
class Cluster(Protocol):
    """
    A running RocketMQ cluster.

    Methods that name a node raise UsageError for an unknown one and ClusterError if the action had no effect in time.
    They may be called from any thread, but two actions on one node must not overlap.
    """

    @property
    def topology(self) -> Topology:
        """The requested topology."""
        ...

    @property
    def server_release(self) -> str:
        """Release of name servers and brokers."""
        ...

    @property
    def name_servers(self) -> tuple[Node, ...]:
        """The name servers, in order."""
        ...

    @property
    def brokers(self) -> tuple[Node, ...]:
        """The masters, by letter: clients write to them, and they hold every message."""
        ...

    @property
    def slaves(self) -> tuple[Node, ...]:
        """The slaves, by their masters; empty in a topology without slaves."""
        ...

    @property
    def proxies(self) -> tuple[Node, ...]:
        """The proxies that are nodes of their own, by number; their address is that of their gRPC port."""
        ...

    @property
    def name_server_addresses(self) -> tuple[str, ...]:
        """For clients."""
        ...

    @property
    def grpc_endpoints(self) -> Mapping[str, str]:
        """For clients that speak gRPC: ``host:port`` by the node that serves there; empty in a topology without proxies."""
        ...

    @property
    def topic_prefix(self) -> str:
        """Prefix of the names of all topics that are created here."""
        ...

    def create_topic(self, name: str, queues_per_broker: int | Mapping[str, int], *, ordered: bool = False) -> None:
        """
        Creates a topic on every broker, or on those whose letter is given; returns when every name server has the route.

        ordered: marked as ordered on the brokers; a read-only broker refuses sends to ordered topics only.
        """
        ...

    def delete_topic(self, name: str) -> None:
        """Deletes a topic from brokers and name servers. Idempotent."""
        ...

    def pause(self, node_name: str) -> Span:
        """Pauses a node; its kernel still accepts connections and bytes. Returns when it is seen to be paused."""
        ...

    def resume(self, node_name: str) -> Span:
        """Resumes a paused node. Returns when it is seen to run."""
        ...

    def kill(self, node_name: str) -> Span:
        """Kills a node. Returns when its process is gone."""
        ...

    def restart(self, node_name: str) -> Span:
        """Starts a node that is gone, with its old address and data. Returns when it serves and is registered everywhere."""
        ...

    def state(self, node_name: str) -> NodeState:
        """State of the node now."""
        ...

    def heal_all(self) -> None:
        """Resumes paused nodes and restarts killed ones."""
        ...

    def require_sound(self) -> None:
        """
        Checks that the machine of the nodes has not failed, for instance by a full disk, on which brokers answer wrongly.

        Raises EnvironmentMissing; what was measured since the last successful check is worthless.
        """
        ...

    def unread_bytes(self, node_name: str) -> int | None:
        """
        Bytes and connections from clients that a node has not accepted yet.

        None if the backend cannot see that.
        """
        ...

    def log_tail(self, node_name: str, lines: int = 20) -> tuple[str, ...]:
        """Last lines of a node's log; empty if there is none."""
        ...

    def collect_evidence(self, folder: Path) -> None:
        """Copies logs, settings and state of every node into a folder, one folder per node."""
        ...

    def close(self) -> None:
        """Ends everything, paused nodes too, and removes the stores; logs and settings stay. A second call does nothing."""
        ...

    def __enter__(self) -> Self:
        """Returns the cluster itself."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the cluster."""
        ...


def nodes_of(cluster: Cluster) -> tuple[Node, ...]:
    """All nodes, name servers first, proxies last."""
    return cluster.name_servers + cluster.brokers + cluster.slaves + cluster.proxies


def security_of(cluster: Cluster) -> Security:
    """How the servers of a cluster want to be asked; all of them alike."""
    return cluster.name_servers[0].security


def node_named(cluster: Cluster, name: str) -> Node:
    """The node of that name as it is now; UsageError for an unknown name."""
    return by_name({node.name: node for node in nodes_of(cluster)}, name)


def by_name(nodes: Mapping[str, _Entry], name: str) -> _Entry:
    """The entry of a node; UsageError for an unknown name."""
    if name not in nodes:
        raise UsageError("a node of this cluster", seen=repr(name), hint="one of " + ", ".join(nodes))
    return nodes[name]
