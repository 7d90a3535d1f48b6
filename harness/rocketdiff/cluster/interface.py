"""
What a cluster can do, whatever runs it: the Protocol that every backend fulfils, and the few values it speaks in.

Names of nodes are those clients see: ``broker-a``, ``name-server-1``. Actions return when the backend itself has seen
their effect; showing that clients feel it too is the business of ``faults``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from rocketdiff.core.topology import Role as Role  # noqa: PLC0414 - said again: whoever speaks of nodes asks here
from rocketdiff.core.topology import Topology

LOOPBACK = "127.0.0.1"


class NodeState(StrEnum):
    """What a node's process is doing, as the operating system or the container engine says."""

    RUNNING = "running"
    PAUSED = "paused"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Span:
    """An action took effect somewhere between these two moments of the monotonic clock, in nanoseconds."""

    begin_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class Node:
    """
    One server of a cluster.

    letter: ``a`` for a broker, ``a-slave-1`` for a slave, ``1`` for a name server. address: ``host:port`` as clients reach it.
    pid: of the process on this host, None where there is none or it is not ours to know. probe_topic: the topic that a
    probe asks about.
    """

    role: Role
    letter: str
    name: str
    address: str
    pid: int | None
    probe_topic: str = "rocketdiff-probe"


@runtime_checkable
class Cluster(Protocol):
    """
    A running RocketMQ cluster.

    Methods that name a node raise UsageError for an unknown one and ClusterError where the action had no effect in time.
    They may be called from any thread, but two actions on one node must not overlap.
    """

    @property
    def topology(self) -> Topology:
        """The shape that was asked for."""
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
        """The masters, by letter: what clients write to, and what holds every message."""
        ...

    @property
    def slaves(self) -> tuple[Node, ...]:
        """The slaves, by their masters; empty in a topology without."""
        ...

    @property
    def name_server_addresses(self) -> tuple[str, ...]:
        """What a client is configured with."""
        ...

    @property
    def topic_prefix(self) -> str:
        """What the name of every topic that is created here begins with."""
        ...

    def create_topic(self, name: str, queues_per_broker: int | Mapping[str, int], *, ordered: bool = False) -> None:
        """
        Create a topic on every broker, or on those whose letter is given; returns when every name server has the route.

        ordered: marked as such on the brokers, which is all that makes a read-only broker refuse a send.
        """
        ...

    def delete_topic(self, name: str) -> None:
        """Remove a topic from brokers and name servers; a topic that is not there is no error."""
        ...

    def pause(self, node_name: str) -> Span:
        """Freeze a node; its kernel still accepts connections and bytes. Returns when it is seen to be frozen."""
        ...

    def resume(self, node_name: str) -> Span:
        """Let a frozen node go on. Returns when it is seen to run."""
        ...

    def kill(self, node_name: str) -> Span:
        """End a node without notice. Returns when its process is gone."""
        ...

    def restart(self, node_name: str) -> Span:
        """Start a node that is gone, with its old address and data. Returns when it serves and is registered everywhere."""
        ...

    def state(self, node_name: str) -> NodeState:
        """What the node is doing now."""
        ...

    def heal_all(self) -> None:
        """Resume what is paused and restart what is gone."""
        ...

    def require_sound(self) -> None:
        """
        See that nothing under the nodes has failed them, such as a disk that is full, on which brokers answer oddly.

        Raises EnvironmentMissing; what was measured since the last time it did not is worth nothing.
        """
        ...

    def unread_bytes(self, node_name: str) -> int | None:
        """
        Bytes and connections that clients have sent to a node and it has not taken yet.

        None where the backend cannot see that.
        """
        ...

    def log_tail(self, node_name: str, lines: int = 20) -> tuple[str, ...]:
        """Last lines of a node's log, empty where there is none."""
        ...

    def collect_evidence(self, folder: Path) -> None:
        """Copy logs, settings and state of every node into a folder, one folder a node."""
        ...

    def close(self) -> None:
        """End everything, paused nodes too, and remove the stores; logs and settings stay. A second call does nothing."""
        ...

    def __enter__(self) -> Self:
        """Return the cluster itself."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the cluster."""
        ...


def nodes_of(cluster: Cluster) -> tuple[Node, ...]:
    """Every node, name servers first, slaves last."""
    return cluster.name_servers + cluster.brokers + cluster.slaves
