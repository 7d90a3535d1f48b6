"""The containers of one cluster by node name, controlled and inspected through the engine."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from docker.models.containers import Container

from rocketdiff.cluster.containers.cleanup import remove_run
from rocketdiff.cluster.containers.container import (
    Deployment,
    ServerContainer,
    keep_evidence,
    port_taken,
    read_log,
    unread_inside,
)
from rocketdiff.cluster.containers.engine import LEFT_HINT, engine_errors
from rocketdiff.cluster.containers.networking import NetworkMode, ServerPlan
from rocketdiff.cluster.interface import TO_MOVE, Node, NodeState, Span, by_name, pause_broken
from rocketdiff.cluster.launched.node_slot import SPACE_TO_CONTINUE_BYTES, NodeSlot
from rocketdiff.cluster.launched.security import UNSECURED, ServerSecurity
from rocketdiff.cluster.launched.server_set import SEARCHED_LINES, copy_evidence, last_words, server_ended
from rocketdiff.cluster.launched.sockets import unread_bytes
from rocketdiff.core.errors import ClusterError, EnvironmentMissing, UsageError
from rocketdiff.core.tables.topology import NodeKind

# A killed container is gone when the engine has removed its network: 0.1 to 0.5 s.
_EXIT_TIMEOUT_S = 15.0
_EXIT_POLL_S = 0.005

_STATES = {"running": NodeState.RUNNING, "paused": NodeState.PAUSED}
"""By the engine's state of a container; in every other state no process runs."""


@dataclass(slots=True)
class _Server:
    """
    A node's slot, and its container after the first start.

    started_at: the engine's time of our last start; a different time shows an external restart. paused_since: the engine's
    time just before our pause, until our resume.
    """

    slot: NodeSlot
    plan: ServerPlan
    container: Container | None = None
    started_at: str = ""
    paused_since: str = ""
    is_killed: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)


class ContainerServers:
    """A ServerSet (see server_set) of containers. Threads may act on different nodes."""

    def __init__(
        self,
        deployment: Deployment,
        planned: Sequence[tuple[NodeSlot, ServerPlan]],
        security: ServerSecurity = UNSECURED,
    ) -> None:
        self._deployment = deployment
        self._security = security
        self._servers = {slot.name: _Server(slot, plan) for slot, plan in planned}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._servers)

    @property
    def launched(self) -> tuple[str, ...]:
        return tuple(name for name, server in self._servers.items() if server.container is not None)

    def role(self, name: str) -> NodeKind:
        return self._server(name).slot.role

    def nodes(self, role: NodeKind) -> tuple[Node, ...]:
        """Without process ids: the engine may be on another host."""
        slots = (server.slot for server in self._servers.values())
        client = self._security.client
        return tuple(
            Node(slot.role, slot.letter, slot.name, slot.address, None, security=client)
            for slot in slots
            if slot.role is role
        )

    def grpc_endpoints(self) -> Mapping[str, str]:
        """Empty: there are no proxies in containers."""
        return {}

    def move(self, name: str) -> Node:
        """Raises UsageError: the engine publishes the ports of a container when it makes it."""
        raise UsageError("a broker that can move to another port", seen=f"the container of {name}", hint=TO_MOVE)

    def launch(self, name: str) -> None:
        """
        Start a node's container, or restart it with its files. Returns before it serves.

        Raises ClusterError if it runs already, ServerEnded with ``port_taken`` if another program uses one of its ports.
        """
        server = self._server(name)
        if self.state(name) is not NodeState.GONE:
            raise ClusterError(f"{name} to be gone before it is started", seen=f"it is {self.state(name)}")
        try:
            with engine_errors(f"the container of {name} to start"):
                if server.container is None:
                    server.container = ServerContainer(self._deployment, server.plan, name).launch()
                else:
                    server.container.start()
        except ClusterError as error:
            taken = port_taken(name, error)
            if taken is None:
                raise
            raise taken from error
        server.is_killed, server.paused_since = False, ""
        server.started_at = str(self._inspect(server)["StartedAt"])

    def stop(self, name: str) -> Span:
        server = self._server(name)
        server.paused_since = server.paused_since or self._deployment.engine.clock()
        return self._to(name, NodeState.PAUSED, lambda container: container.pause())

    def go_on(self, name: str) -> Span:
        container, server = self._living(name), self._server(name)
        was_paused, since, server.paused_since = self.state(name) is NodeState.PAUSED, server.paused_since, ""
        span = self._to(name, NodeState.RUNNING, lambda container: container.unpause())
        if since:
            events = self._deployment.engine.pauses(container, since)
            if not was_paused or events != ["pause", "unpause"]:
                raise pause_broken(name, f"events of its container: {', '.join(events) or 'none'}")
        return span

    def kill(self, name: str) -> Span:
        """Send SIGKILL to the container, paused or not; return when it is gone and its ports are free."""
        server = self._server(name)
        container = self._living(name)
        begin_ns = time.monotonic_ns()
        with engine_errors(f"the container of {name} to be killed"):
            if self.state(name) is NodeState.PAUSED:
                container.unpause()  # older engines refuse to kill a paused container
            container.kill()
        deadline = time.monotonic() + _EXIT_TIMEOUT_S
        while self.state(name) is not NodeState.GONE:
            if time.monotonic() > deadline:
                raise ClusterError(f"{name} to end within {_EXIT_TIMEOUT_S:g} s of SIGKILL", seen="it still runs")
            time.sleep(_EXIT_POLL_S)
        server.is_killed = True  # only now: after a failed kill, a later end has another cause
        return Span(begin_ns, time.monotonic_ns())

    def state(self, name: str) -> NodeState:
        server = self._server(name)
        if server.container is None:
            return NodeState.GONE
        return _STATES.get(str(self._inspect(server)["Status"]), NodeState.GONE)

    def raise_if_ended(self, names: Iterable[str]) -> None:
        for name in names:
            if self.state(name) is NodeState.GONE:
                raise server_ended(self, name)

    def exit_status(self, name: str) -> int | None:
        server = self._server(name)
        if server.container is None or self.state(name) is not NodeState.GONE:
            return None
        return int(self._inspect(server)["ExitCode"])

    def log_tail(self, name: str, lines: int) -> tuple[str, ...]:
        container = self._server(name).container
        if container is None:
            return ()
        # twice as many, because last_words drops some
        return last_words(read_log(container, 2 * lines + SEARCHED_LINES).splitlines(), lines)

    def require_sound(self) -> None:
        """
        Check that the engine answers and has disk space, and that every container runs since our start, unless we killed it.

        Raises EnvironmentMissing.
        """
        self._deployment.engine.ping()
        brokers = sum(server.slot.role is not NodeKind.NAME_SERVER for server in self._servers.values())
        self._deployment.engine.require_disk_space(brokers, SPACE_TO_CONTINUE_BYTES)
        for name, server in self._servers.items():
            if server.container is None or server.is_killed:
                continue
            state = self._inspect(server)
            if _STATES.get(str(state["Status"])) is None or state["StartedAt"] != server.started_at:
                raise EnvironmentMissing(
                    f"the container of {name} to run since {server.started_at}",
                    seen=f"it is {state['Status']}, started {state['StartedAt']}",
                    hint="the engine was restarted, or it was stopped externally; run again",
                )

    def unread_bytes(self, name: str) -> int | None:
        """In the host's kernel and inside the container's network; None if that is not visible from here."""
        server = self._server(name)
        outside = unread_bytes(server.slot.client_ports)
        if self._deployment.network_mode is NetworkMode.HOST or server.container is None:
            return outside
        inside = unread_inside(int(self._inspect(server)["Pid"]), str(server.container.id), server.slot.client_ports)
        return None if inside is None else outside + inside

    def facts(self) -> Mapping[str, object]:
        deployment = self._deployment
        return {
            "backend": "containers",
            "engine": deployment.engine.version,
            "image": deployment.image.name,
            "wiring": deployment.network_mode,
            "run": deployment.run,
        }

    def collect(self, facts: Mapping[str, object], folder: Path) -> None:
        for server in self._servers.values():
            if server.container is not None:
                keep_evidence(server.slot, server.container, self._security)
        copy_evidence([(server.slot.name, server.slot.folder) for server in self._servers.values()], facts, folder)

    def end(self) -> None:
        """
        Keep logs and settings, then remove all containers and the network, and release the ports.

        If the engine no longer answers, ``cleanup.sweep`` removes the containers later.
        """
        try:
            try:
                self._keep_all()
            finally:
                remove_run(self._deployment.engine, self._deployment.run)
        except EnvironmentMissing:
            pass
        finally:
            self._deployment.engine.close()
            for server in self._servers.values():
                server.slot.reserved.release()
            self._security.take_back()

    def _keep_all(self) -> None:
        started = [(server.slot, server.container) for server in self._servers.values() if server.container is not None]
        with ThreadPoolExecutor(max(1, len(started))) as pool:
            list(pool.map(lambda pair: keep_evidence(pair[0], pair[1], self._security), started))

    def _server(self, name: str) -> _Server:
        return by_name(self._servers, name)

    def _inspect(self, server: _Server) -> Mapping[str, Any]:
        assert server.container is not None
        with server.lock, engine_errors(f"the engine to report the state of {server.slot.name}", LEFT_HINT):
            server.container.reload()
            state: Mapping[str, Any] = server.container.attrs["State"]
        return state

    def _living(self, name: str) -> Container:
        container = self._server(name).container
        if container is None or self.state(name) is NodeState.GONE:
            raise server_ended(self, name)
        return container

    def _to(self, name: str, wanted: NodeState, act: Callable[[Container], object]) -> Span:
        container = self._living(name)
        if self.state(name) is wanted:
            now_ns = time.monotonic_ns()
            return Span(now_ns, now_ns)
        begin_ns = time.monotonic_ns()
        with engine_errors(f"the container of {name} to be {wanted}"):
            act(container)
        end_ns = time.monotonic_ns()
        if self.state(name) is not wanted:
            raise ClusterError(f"the container of {name} to be {wanted}", seen=f"it is {self.state(name)}")
        return Span(begin_ns, end_ns)
