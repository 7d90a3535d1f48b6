"""A cluster without servers that records its actions."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from rocketdiff.cluster.interface import Cluster, Node, NodeState, Span, node_named
from rocketdiff.core.tables.topology import NodeKind, Topology, topology_named

MOVED_TO = "127.0.0.1:2"


class FakeCluster(Cluster):
    """Two masters; every action succeeds at once and is in ``done`` as ``verb node``."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.states: dict[str, NodeState] = {}
        self.unread: dict[str, int] = {}
        self._lock = threading.Lock()

    @property
    def topology(self) -> Topology:
        return topology_named("two-masters")

    @property
    def server_release(self) -> str:
        return "0"

    @property
    def name_servers(self) -> tuple[Node, ...]:
        return (Node(NodeKind.NAME_SERVER, "1", "name-server-1", "127.0.0.1:1", None),)

    @property
    def brokers(self) -> tuple[Node, ...]:
        return tuple(Node(NodeKind.BROKER, letter, f"broker-{letter}", "127.0.0.1:1", None) for letter in "ab")

    @property
    def slaves(self) -> tuple[Node, ...]:
        return ()

    @property
    def proxies(self) -> tuple[Node, ...]:
        return ()

    @property
    def grpc_endpoints(self) -> Mapping[str, str]:
        return {}

    @property
    def topic_prefix(self) -> str:
        return "rocketdiff"

    def create_topic(self, name: str, queues_per_broker: int | Mapping[str, int], *, ordered: bool = False) -> None:
        self._note(f"create {name} {queues_per_broker}{' ordered' if ordered else ''}")

    def delete_topic(self, name: str) -> None:
        self._note(f"delete {name}")

    def pause(self, node_name: str) -> Span:
        return self._become("pause", node_name, NodeState.PAUSED)

    def resume(self, node_name: str) -> Span:
        return self._become("resume", node_name, NodeState.RUNNING)

    def kill(self, node_name: str) -> Span:
        return self._become("kill", node_name, NodeState.GONE)

    def restart(self, node_name: str) -> Span:
        return self._become("restart", node_name, NodeState.RUNNING)

    def restart_elsewhere(self, node_name: str, announce: Callable[[Node], None]) -> Span:
        announce(replace(node_named(self, node_name), address=MOVED_TO))
        return self._become("restart elsewhere", node_name, NodeState.RUNNING)

    def state(self, node_name: str) -> NodeState:
        return self.states.get(node_name, NodeState.RUNNING)

    def heal_all(self) -> None:
        for name, state in list(self.states.items()):
            if state is NodeState.PAUSED:
                self.resume(name)
            if state is NodeState.GONE:
                self.restart(name)

    def require_sound(self) -> None:
        self._note("sound")

    def unread_bytes(self, node_name: str) -> int | None:
        return self.unread.get(node_name)

    def log_tail(self, node_name: str, lines: int = 20) -> tuple[str, ...]:
        return (f"{node_name} said nothing",)[:lines]

    def collect_evidence(self, folder: Path) -> None:
        self._note(f"evidence {folder}")

    def close(self) -> None:
        self._note("close")

    def _become(self, verb: str, name: str, state: NodeState) -> Span:
        begin_ns = time.monotonic_ns()
        self._note(f"{verb} {name}")
        self.states[name] = state
        return Span(begin_ns, time.monotonic_ns())

    def _note(self, what: str) -> None:
        with self._lock:
            self.done.append(what)
