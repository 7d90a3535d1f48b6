"""A cluster whose servers we start, as processes on this host or in containers."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from rocketdiff.cluster.access import channels_to
from rocketdiff.cluster.interface import Cluster, Node, NodeState, Span, nodes_of
from rocketdiff.cluster.launched.server_set import ServerEnded, ServerSet
from rocketdiff.cluster.operations import admin, topics
from rocketdiff.cluster.operations.readiness import READY_TIMEOUT_S, Readiness
from rocketdiff.core.tables.topology import NodeKind, Topology, master_of

# Enough to see the cause, short enough for a terminal.
_TAIL_LINES = 8

_TRIES = 3
"""One or two seconds pass between our check of a port and the server's bind. Losing that race three times is no accident."""


class LaunchedCluster(Cluster):
    """A Cluster over servers that a backend has prepared."""

    def __init__(self, topology: Topology, server_release: str, servers: ServerSet) -> None:
        self._topology = topology
        self._server_release = server_release
        self._servers = servers
        self._channels = channels_to(servers.nodes(NodeKind.NAME_SERVER)[0].security)
        self._topics: dict[str, dict[str, int]] = {}
        self._closing = threading.Lock()
        self._is_closed = False

    @property
    def topology(self) -> Topology:
        return self._topology

    @property
    def server_release(self) -> str:
        return self._server_release

    @property
    def name_servers(self) -> tuple[Node, ...]:
        return self._servers.nodes(NodeKind.NAME_SERVER)

    @property
    def brokers(self) -> tuple[Node, ...]:
        return self._servers.nodes(NodeKind.BROKER)

    @property
    def slaves(self) -> tuple[Node, ...]:
        return self._servers.nodes(NodeKind.SLAVE)

    @property
    def proxies(self) -> tuple[Node, ...]:
        return self._servers.nodes(NodeKind.PROXY)

    @property
    def grpc_endpoints(self) -> Mapping[str, str]:
        return self._servers.grpc_endpoints()

    @property
    def topic_prefix(self) -> str:
        return "rocketdiff"

    def launch_and_await_ready(self, timeout_s: float = READY_TIMEOUT_S) -> None:
        """Start all servers at once, proxies when the brokers serve, and prove readiness. Raises ServerEnded and ClusterError."""
        readiness = self._readiness(self.name_servers, lambda: self._servers.launched, timeout_s)
        proxies = {node.name for node in self.proxies}
        for name in self._servers.names:
            if name not in proxies:
                self._servers.launch(name)
        readiness.await_name_servers()
        readiness.await_brokers(self.brokers)
        readiness.await_slaves(self.slaves, self.brokers)
        for name in self._servers.names:
            if name in proxies:  # a proxy creates a topic on the brokers at its start
                self._servers.launch(name)
        readiness.await_proxies(self.grpc_endpoints, self._probe_topic)

    def create_topic(self, name: str, queues_per_broker: int | Mapping[str, int], *, ordered: bool = False) -> None:
        wanted = topics.queues_by_broker(queues_per_broker, self.brokers)
        topics.create_everywhere(self._channels, self.name_servers, self.brokers, name, wanted, ordered=ordered)
        self._topics[name] = wanted
        readiness = self._readiness((), lambda: (), READY_TIMEOUT_S)
        readiness.await_proxies(self._running_endpoints(), {name: wanted})

    def delete_topic(self, name: str) -> None:
        topics.delete_everywhere(self._channels, self.name_servers, self.brokers, name)
        self._topics.pop(name, None)

    def pause(self, node_name: str) -> Span:
        return self._servers.stop(node_name)

    def resume(self, node_name: str) -> Span:
        return self._servers.go_on(node_name)

    def kill(self, node_name: str) -> Span:
        return self._servers.kill(node_name)

    def restart(self, node_name: str) -> Span:
        """
        Start a node that is gone, in its slot.

        Return when it serves, its topics are in the routes again, and slaves have caught up with their masters.
        """
        begin_ns = time.monotonic_ns()
        self._servers.launch(node_name)
        # A paused name server does not answer; it gets the broker's registration after the resume.
        name_servers = tuple(node for node in self.name_servers if self.state(node.name) is NodeState.RUNNING)
        readiness = self._readiness(name_servers, lambda: (node_name,), READY_TIMEOUT_S)
        readiness.await_name_servers()
        # A restarted name server knows no broker, and a restarted master waits for its slaves.
        role = self._servers.role(node_name)
        affected = None if role is NodeKind.NAME_SERVER else master_of(node_name)
        running = self._running(self.brokers, affected)
        if role in (NodeKind.NAME_SERVER, NodeKind.BROKER):
            readiness.await_brokers(running)
            readiness.await_topics(running, self._topics)
        if role is not NodeKind.PROXY:
            readiness.await_slaves(self._running(self.slaves, affected), running)
        restarted = {name: address for name, address in self.grpc_endpoints.items() if name == node_name}
        readiness.await_proxies(restarted, self._topics)
        return Span(begin_ns, time.monotonic_ns())

    def restart_elsewhere(self, node_name: str, announce: Callable[[Node], None]) -> Span:
        """Raises ServerEnded if the third choice of ports was taken too."""
        for tries_left in reversed(range(_TRIES)):
            announce(self._servers.move(node_name))
            try:
                return self.restart(node_name)
            except ServerEnded as error:
                if not error.port_taken or tries_left == 0:
                    raise
        raise AssertionError("unreachable: the last try returns or raises")

    def state(self, node_name: str) -> NodeState:
        return self._servers.state(node_name)

    def heal_all(self) -> None:
        """Resume paused nodes, then restart killed ones, name servers first."""
        names = self._servers.names
        for name in names:
            if self.state(name) is NodeState.PAUSED:
                self.resume(name)
        for name in names:
            if self.state(name) is NodeState.GONE:
                self.restart(name)

    def require_sound(self) -> None:
        self._servers.require_sound()

    def unread_bytes(self, node_name: str) -> int | None:
        return self._servers.unread_bytes(node_name)

    def log_tail(self, node_name: str, lines: int = 20) -> tuple[str, ...]:
        return self._servers.log_tail(node_name, lines)

    def collect_evidence(self, folder: Path) -> None:
        self._servers.collect(self._facts(), folder)

    def close(self) -> None:
        with self._closing:
            if self._is_closed:
                return
            self._is_closed = True
            self._channels.close()
            self._servers.end()

    def _running_endpoints(self) -> Mapping[str, str]:
        """A paused proxy does not answer; it requests the route after the resume."""
        return {name: at for name, at in self.grpc_endpoints.items() if self.state(name) is NodeState.RUNNING}

    @property
    def _probe_topic(self) -> Mapping[str, Mapping[str, int]]:
        return {admin.PROBE_TOPIC: {node.name: admin.PROBE_QUEUES for node in self.brokers}}

    def _running(self, nodes: tuple[Node, ...], broker: str | None) -> tuple[Node, ...]:
        return tuple(
            node
            for node in nodes
            if broker in (None, master_of(node.name)) and self.state(node.name) is NodeState.RUNNING
        )

    def _readiness(
        self, name_servers: tuple[Node, ...], must_live: Callable[[], Iterable[str]], timeout_s: float
    ) -> Readiness:
        def check_servers() -> None:
            self._servers.raise_if_ended(must_live())

        return Readiness(self._channels, name_servers, check_servers, self._tails, timeout_s)

    def _tails(self) -> str:
        return "\n".join(f"{name}: {line}" for name in self._servers.names for line in self.log_tail(name, _TAIL_LINES))

    def _facts(self) -> dict[str, object]:
        nodes = {
            node.name: {
                "address": node.address,
                "pid": node.pid,
                "state": self.state(node.name),
                "exit_status": self._servers.exit_status(node.name),
            }
            for node in nodes_of(self)
        }
        about = {"topology": self._topology.name, "server_release": self._server_release}
        return {**about, **self._servers.facts(), "nodes": nodes}


def first_ready(set_up: Callable[[], LaunchedCluster], timeout_s: float) -> LaunchedCluster:
    """
    Return a cluster that is proven to serve.

    It is set up again with other ports if one was taken meanwhile; failed ones are closed.

    Raises ServerEnded (a server ended by itself, or the third choice of ports was taken too) and the errors of the launch.
    """
    for tries_left in reversed(range(_TRIES)):
        cluster = set_up()
        try:
            cluster.launch_and_await_ready(timeout_s)
        except ServerEnded as error:
            cluster.close()
            if not error.port_taken or tries_left == 0:
                raise
        except BaseException:
            cluster.close()
            raise
        else:
            return cluster
    raise AssertionError("unreachable: the last try returns or raises")
