"""The containers of one cluster by node name: started, paused, unpaused, killed through the engine, and looked at."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from docker.models.containers import Container
from testcontainers.core.network import Network

from rocketdiff.cluster.containers.container import Frame, ServerContainer, port_taken
from rocketdiff.cluster.containers.engine import LEFT_HINT, Engine, engine_errors
from rocketdiff.cluster.containers.images import ServerImage
from rocketdiff.cluster.containers.ownership import NODE_LABEL
from rocketdiff.cluster.containers.remnants import keep, logged, unread_inside
from rocketdiff.cluster.containers.room import require_engine_room
from rocketdiff.cluster.containers.shapes import Wiring
from rocketdiff.cluster.containers.sweep import remove_run
from rocketdiff.cluster.containers.wiring import ServerPlan
from rocketdiff.cluster.evidence import copy_evidence
from rocketdiff.cluster.interface import Node, NodeState, Role, Span
from rocketdiff.cluster.launched.seat import ROOM_TO_GO_ON_BYTES, Seat
from rocketdiff.cluster.launched.server_set import LOOKED_AT_LINES, ServerEnded, last_words
from rocketdiff.cluster.launched.sockets import unread_bytes
from rocketdiff.core.errors import ClusterError, EnvironmentMissing, UsageError

# A killed container is gone when its network is taken down, which takes the engine 0.1 to 0.5 s.
_EXIT_TIMEOUT_S = 15.0
_EXIT_POLL_S = 0.005

_STATES = {"running": NodeState.RUNNING, "paused": NodeState.PAUSED}
"""Of an engine's words for what a container does; every other one means that no process runs."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What all containers of a cluster have in common."""

    engine: Engine
    image: ServerImage
    wiring: Wiring
    network: Network | None
    labels: Mapping[str, str]
    run: str


@dataclass(slots=True)
class _Server:
    """A seat, and the container that sits there once it was started."""

    seat: Seat
    plan: ServerPlan
    container: Container | None = None
    began: str = ""
    """When the engine says that it was started last; another time means that somebody else did it."""
    is_killed: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)


class ContainerServers:
    """A ServerSet (see server_set) of containers; safe for threads that act on different nodes."""

    def __init__(self, setting: Setting, planned: Sequence[tuple[Seat, ServerPlan]]) -> None:
        self._setting = setting
        self._servers = {seat.name: _Server(seat, plan) for seat, plan in planned}

    @property
    def names(self) -> tuple[str, ...]:
        """Every node, name servers first, slaves last."""
        return tuple(self._servers)

    @property
    def launched(self) -> tuple[str, ...]:
        """Nodes that have been started at least once."""
        return tuple(name for name, server in self._servers.items() if server.container is not None)

    def role(self, name: str) -> Role:
        """
        Kind of a node.

        Raises UsageError for a name that is none.
        """
        return self._server(name).seat.role

    def nodes(self, role: Role) -> tuple[Node, ...]:
        """Nodes of a kind; their processes are the engine's, on whatever host it is."""
        seats = (server.seat for server in self._servers.values())
        return tuple(Node(seat.role, seat.letter, seat.name, seat.address, None) for seat in seats if seat.role is role)

    def launch(self, name: str) -> None:
        """
        Start a node's container, or start it again with all that is in it; it does not serve yet when this returns.

        Raises ClusterError if it runs already, ServerEnded with ``port_taken`` if another program has one of its ports.
        """
        server = self._server(name)
        if self.state(name) is not NodeState.GONE:
            raise ClusterError(f"{name} to be gone before it is started", seen=f"it is {self.state(name)}")
        try:
            with engine_errors(f"the container of {name} to start"):
                if server.container is None:
                    server.container = self._made(server).launch()
                else:
                    server.container.start()
        except ClusterError as error:
            taken = port_taken(name, error)
            if taken is None:
                raise
            raise taken from error
        server.is_killed = False
        server.began = str(self._look(server)["StartedAt"])

    def stop(self, name: str) -> Span:
        """
        Freeze the container through the engine; returns when the engine says that it is frozen.

        Raises ClusterError.
        """
        return self._to(name, NodeState.PAUSED, lambda container: container.pause())

    def go_on(self, name: str) -> Span:
        """
        Let the container go on; returns when the engine says that it runs.

        Raises ClusterError.
        """
        return self._to(name, NodeState.RUNNING, lambda container: container.unpause())

    def kill(self, name: str) -> Span:
        """
        SIGKILL to the container, paused or not; returns when it is gone and its ports are given back.

        Raises ClusterError.
        """
        server = self._server(name)
        container = self._living(name)
        begin_ns = time.monotonic_ns()
        with engine_errors(f"the container of {name} to be killed"):
            if self.state(name) is NodeState.PAUSED:
                container.unpause()  # older engines refuse to kill what is paused
            container.kill()
        deadline = time.monotonic() + _EXIT_TIMEOUT_S
        while self.state(name) is not NodeState.GONE:
            if time.monotonic() > deadline:
                raise ClusterError(f"{name} to end within {_EXIT_TIMEOUT_S:g} s of SIGKILL", seen="it still runs")
            time.sleep(_EXIT_POLL_S)
        server.is_killed = True  # only now: one that ends later, after a kill that failed, has not been ended by us
        return Span(begin_ns, time.monotonic_ns())

    def state(self, name: str) -> NodeState:
        """
        What the container is doing, as the engine says.

        Raises EnvironmentMissing if the engine does not answer.
        """
        server = self._server(name)
        if server.container is None:
            return NodeState.GONE
        return _STATES.get(str(self._look(server)["Status"]), NodeState.GONE)

    def raise_if_ended(self, names: Iterable[str]) -> None:
        """Raise ServerEnded for the first of these that has ended."""
        for name in names:
            if self.state(name) is NodeState.GONE:
                raise ServerEnded(name, self.exit_status(name), self.log_tail(name, LOOKED_AT_LINES))

    def exit_status(self, name: str) -> int | None:
        """How the container ended last; None while it runs, or before there was one."""
        server = self._server(name)
        if server.container is None or self.state(name) is not NodeState.GONE:
            return None
        return int(self._look(server)["ExitCode"])

    def log_tail(self, name: str, lines: int) -> tuple[str, ...]:
        """Last lines of a container's log, empty where there is none or the engine does not give it."""
        container = self._server(name).container
        if container is None:
            return ()
        # Twice as many, because some are left out.
        return last_words(logged(container, 2 * lines + LOOKED_AT_LINES).splitlines(), lines)

    def require_sound(self) -> None:
        """
        See that the engine answers, has room, and runs every container that nobody here has killed, as it was started here.

        Raises EnvironmentMissing.
        """
        self._setting.engine.ping()
        brokers = sum(server.seat.role is not Role.NAME_SERVER for server in self._servers.values())
        require_engine_room(self._setting.engine, brokers, ROOM_TO_GO_ON_BYTES)
        for name, server in self._servers.items():
            if server.container is None or server.is_killed:
                continue
            told = self._look(server)
            if _STATES.get(str(told["Status"])) is None or told["StartedAt"] != server.began:
                raise EnvironmentMissing(
                    f"the container of {name} to run since {server.began}",
                    seen=f"it is {told['Status']}, started {told['StartedAt']}",
                    hint="the engine was restarted, or somebody else stopped it; run again",
                )

    def unread_bytes(self, name: str) -> int | None:
        """
        Bytes and connections that wait for the node: in the kernel of the host, and inside the container's network.

        None where the container's network cannot be seen from here.
        """
        server = self._server(name)
        outside = unread_bytes(server.seat.client_ports)
        if self._setting.wiring is Wiring.HOST or server.container is None:
            return outside
        inside = unread_inside(int(self._look(server)["Pid"]), str(server.container.id), server.seat.client_ports)
        return None if inside is None else outside + inside

    def facts(self) -> Mapping[str, object]:
        """Engine, image and wiring, for whoever reads the evidence later."""
        setting = self._setting
        return {
            "backend": "containers",
            "engine": setting.engine.version,
            "image": setting.image.name,
            "wiring": setting.wiring,
            "run": setting.run,
        }

    def collect(self, facts: Mapping[str, object], folder: Path) -> None:
        """Logs and settings out of the containers, into the nodes' folders and from there into ``folder``."""
        for server in self._servers.values():
            if server.container is not None:
                keep(server.seat, server.container)
        copy_evidence([(server.seat.name, server.seat.folder) for server in self._servers.values()], facts, folder)

    def end(self) -> None:
        """
        Keep logs and settings, then remove every container, paused ones too, and the network; give the ports back.

        An engine that does not answer any more is passed over: what is left there is swept later (see ``sweep``).
        """
        try:
            try:
                self._keep_all()
            finally:
                remove_run(self._setting.engine, self._setting.run)
        except EnvironmentMissing:
            pass
        finally:
            self._setting.engine.close()
            for server in self._servers.values():
                server.seat.reserved.release()

    def _keep_all(self) -> None:
        sat = [(server.seat, server.container) for server in self._servers.values() if server.container is not None]
        with ThreadPoolExecutor(max(1, len(sat))) as pool:
            list(pool.map(lambda pair: keep(*pair), sat))

    def _server(self, name: str) -> _Server:
        if name not in self._servers:
            raise UsageError("a node of this cluster", seen=repr(name), hint="one of " + ", ".join(self._servers))
        return self._servers[name]

    def _made(self, server: _Server) -> ServerContainer:
        setting, name = self._setting, server.seat.name
        labels = {**setting.labels, NODE_LABEL: name}
        whole_name = f"rocketdiff-{setting.run}-{name}"
        frame = Frame(setting.image.name, setting.network, setting.engine.cgroup_parent)
        return ServerContainer(frame, server.plan, labels, whole_name, name)

    def _look(self, server: _Server) -> Mapping[str, Any]:
        """What the engine says of a container now."""
        assert server.container is not None
        with server.lock, engine_errors(f"the engine to tell what {server.seat.name} does", LEFT_HINT):
            server.container.reload()
            told: Mapping[str, Any] = server.container.attrs["State"]
        return told

    def _living(self, name: str) -> Container:
        container = self._server(name).container
        if container is None or self.state(name) is NodeState.GONE:
            raise ServerEnded(name, self.exit_status(name), self.log_tail(name, LOOKED_AT_LINES))
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
