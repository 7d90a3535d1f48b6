"""A cluster of JVMs on this host: started under a guardian, paused with SIGSTOP, killed with SIGKILL."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.cluster import topics
from harness.cluster.evidence import copy_evidence
from harness.cluster.interface import Node, NodeState, Role, Span, nodes_of
from harness.cluster.processes.guard import Guard
from harness.cluster.processes.seat import ROOM_TO_GO_ON_BYTES, clear, require_room
from harness.cluster.processes.servers import Servers
from harness.cluster.processes.sockets import unread_bytes
from harness.cluster.readiness import READY_TIMEOUT_S, Readiness
from harness.cluster.topology import Topology
from reference_impl.remoting.channels import Channels

# Enough to see what a server was doing, short enough to be read in a terminal.
_TAIL_LINES = 8


class ProcessCluster:
    """A Cluster (see interface) of processes that ``launch.start_processes`` has prepared."""

    def __init__(self, topology: Topology, server_release: str, folder: Path, servers: Servers, guard: Guard) -> None:
        self._topology = topology
        self._server_release = server_release
        self._folder = folder
        self._servers = servers
        self._guard = guard
        self._channels = Channels()
        self._topics: dict[str, dict[str, int]] = {}
        self._closing = threading.Lock()
        self._is_closed = False

    @property
    def topology(self) -> Topology:
        """The shape that was asked for."""
        return self._topology

    @property
    def server_release(self) -> str:
        """Release of name servers and brokers."""
        return self._server_release

    @property
    def folder(self) -> Path:
        """Where logs, settings and stores are."""
        return self._folder

    @property
    def name_servers(self) -> tuple[Node, ...]:
        """The name servers, in order."""
        return self._servers.nodes(Role.NAME_SERVER)

    @property
    def brokers(self) -> tuple[Node, ...]:
        """The brokers, by letter."""
        return self._servers.nodes(Role.BROKER)

    @property
    def name_server_addresses(self) -> tuple[str, ...]:
        """What a client is configured with."""
        return tuple(seat.address for seat in self._servers.seats if seat.role is Role.NAME_SERVER)

    def launch_and_await_ready(self, timeout_s: float = READY_TIMEOUT_S) -> None:
        """
        Start every process, all at once, and prove that the cluster serves.

        Raises ServerEnded and ClusterError.
        """
        readiness = self._readiness(self.name_servers, lambda: self._servers.launched, timeout_s)
        for seat in self._servers.seats:
            self._servers.launch(seat.name)
        readiness.await_name_servers()
        readiness.await_brokers(self.brokers)

    def create_topic(self, name: str, queues_per_broker: int | Mapping[str, int]) -> None:
        """As Cluster.create_topic."""
        wanted = topics.queues_by_broker(queues_per_broker, self.brokers)
        topics.create_everywhere(self._channels, self.name_servers, self.brokers, name, wanted)
        self._topics[name] = wanted

    def delete_topic(self, name: str) -> None:
        """As Cluster.delete_topic."""
        topics.delete_everywhere(self._channels, self.name_servers, self.brokers, name)
        self._topics.pop(name, None)

    def pause(self, node_name: str) -> Span:
        """SIGSTOP; returns when all threads are stopped."""
        return self._servers.stop(node_name)

    def resume(self, node_name: str) -> Span:
        """SIGCONT; returns when no thread is stopped."""
        return self._servers.go_on(node_name)

    def kill(self, node_name: str) -> Span:
        """SIGKILL; returns when the process has been waited for."""
        return self._servers.kill(node_name)

    def restart(self, node_name: str) -> Span:
        """Start a node that is gone at its old place; returns when it serves and its topics are in the routes again."""
        begin_ns = time.monotonic_ns()
        self._servers.launch(node_name)
        # A paused name server answers nobody, and learns of the broker when it is resumed.
        name_servers = tuple(node for node in self.name_servers if self.state(node.name) is NodeState.RUNNING)
        readiness = self._readiness(name_servers, lambda: (node_name,), READY_TIMEOUT_S)
        readiness.await_name_servers()
        # A name server that starts anew knows no broker.
        affected = self.brokers if self._servers.seat(node_name).role is Role.NAME_SERVER else self._named(node_name)
        running = tuple(node for node in affected if self.state(node.name) is NodeState.RUNNING)
        readiness.await_brokers(running)
        readiness.await_topics(running, self._topics)
        return Span(begin_ns, time.monotonic_ns())

    def state(self, node_name: str) -> NodeState:
        """What the node's process is doing now."""
        return self._servers.state(node_name)

    def heal_all(self) -> None:
        """Resume what is paused, then restart what is gone, name servers first."""
        names = [seat.name for seat in self._servers.seats]
        for name in names:
            if self.state(name) is NodeState.PAUSED:
                self.resume(name)
        for name in names:
            if self.state(name) is NodeState.GONE:
                self.restart(name)

    def require_sound(self) -> None:
        """See that the disk has room for each broker's next commit log file."""
        require_room(self._folder, len(self._topology.broker_letters), ROOM_TO_GO_ON_BYTES)

    def unread_bytes(self, node_name: str) -> int | None:
        """Bytes and connections that the kernel holds for the node's client ports."""
        return unread_bytes(self._servers.seat(node_name).client_ports)

    def log_tail(self, node_name: str, lines: int = 20) -> tuple[str, ...]:
        """Last lines of what a node and its JVM said."""
        return self._servers.log_tail(node_name, lines)

    def collect_evidence(self, folder: Path) -> None:
        """As Cluster.collect_evidence."""
        copy_evidence([(seat.name, seat.folder) for seat in self._servers.seats], self._facts(), folder)

    def close(self) -> None:
        """End every process, paused ones too, remove the stores, give the ports back."""
        with self._closing:
            if self._is_closed:
                return
            self._is_closed = True
            self._channels.close()
            self._guard.close()
            self._servers.release()
            for seat in self._servers.seats:
                clear(seat)
                seat.reserved.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _named(self, name: str) -> tuple[Node, ...]:
        return tuple(node for node in self.brokers if node.name == name)

    def _readiness(
        self, name_servers: tuple[Node, ...], must_live: Callable[[], Iterable[str]], timeout_s: float
    ) -> Readiness:
        def look_for_trouble() -> None:
            self._servers.raise_if_ended(must_live())

        return Readiness(self._channels, name_servers, look_for_trouble, self._tails, timeout_s)

    def _tails(self) -> str:
        return "\n".join(
            f"{seat.name}: {line}" for seat in self._servers.seats for line in self.log_tail(seat.name, _TAIL_LINES)
        )

    def _facts(self) -> dict[str, object]:
        """What is known of the nodes right now, for whoever reads the evidence later."""
        nodes = {
            node.name: {
                "address": node.address,
                "pid": node.pid,
                "state": self.state(node.name),
                "exit_status": self._servers.exit_status(node.name),
            }
            for node in nodes_of(self)
        }
        return {"topology": self._topology.name, "server_release": self._server_release, "nodes": nodes}
