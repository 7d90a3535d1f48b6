"""The processes of one cluster by node name: launched, stopped, continued, killed, and looked at."""

import os
import signal
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from rocketdiff.cluster.evidence import copy_evidence
from rocketdiff.cluster.interface import Node, NodeState, Role, Span
from rocketdiff.cluster.launched.command_line import Installation, environment, java_command
from rocketdiff.cluster.launched.seat import ROOM_TO_GO_ON_BYTES, Seat, clear, require_room
from rocketdiff.cluster.launched.server_set import LOOKED_AT_LINES, ServerEnded, last_words
from rocketdiff.cluster.launched.sockets import unread_bytes
from rocketdiff.cluster.processes.server import ServerProcess
from rocketdiff.cluster.processes.supervisor_client import SupervisorClient
from rocketdiff.core.errors import ClusterError, UsageError

# A killed JVM is gone in some ten ms, most of them for giving back its memory.
_EXIT_TIMEOUT_S = 5.0


class Servers:
    """A ServerSet of processes under one supervisor; ``folder`` holds the folders of all seats."""

    def __init__(
        self, seats: Iterable[Seat], installation: Installation, supervisor: SupervisorClient, folder: Path
    ) -> None:
        self._folder = folder
        self._seats = {seat.name: seat for seat in seats}
        self._installation = installation
        self._supervisor = supervisor
        self._lock = threading.Lock()
        self._processes: dict[str, ServerProcess] = {}

    @property
    def seats(self) -> tuple[Seat, ...]:
        """All of them, name servers first."""
        return tuple(self._seats.values())

    @property
    def names(self) -> tuple[str, ...]:
        """Every node, name servers first, slaves last."""
        return tuple(self._seats)

    @property
    def launched(self) -> tuple[str, ...]:
        """Nodes that have been started at least once."""
        return tuple(self._processes)

    def seat(self, name: str) -> Seat:
        """
        The seat of a node.

        Raises UsageError for a name that is none.
        """
        if name not in self._seats:
            raise UsageError("a node of this cluster", seen=repr(name), hint="one of " + ", ".join(self._seats))
        return self._seats[name]

    def role(self, name: str) -> Role:
        """
        Kind of a node.

        Raises UsageError for a name that is none.
        """
        return self.seat(name).role

    def nodes(self, role: Role) -> tuple[Node, ...]:
        """Nodes of a kind as they are now."""
        return tuple(self._node(seat) for seat in self.seats if seat.role is role)

    def launch(self, name: str) -> None:
        """
        Start a node's process; it does not serve yet when this returns.

        Raises ClusterError if it lives already.
        """
        seat = self.seat(name)
        if self.state(name) is not NodeState.GONE:
            raise ClusterError(f"{name} to be gone before it is started", seen=f"it is {self.state(name)}")
        command = java_command(self._installation, seat.role, seat.folder)
        process = self._supervisor.start(name, command, seat.folder, environment(os.environ), seat.log, seat.scratch)
        with self._lock:
            former = self._processes.get(name)
            self._processes[name] = process
        if former is not None:
            former.release()

    def stop(self, name: str) -> Span:
        """
        SIGSTOP; returns when every thread is stopped, as the kernel says and /proc shows.

        Raises ClusterError.
        """
        process = self._living(name)
        if process.state() is NodeState.PAUSED:
            return _now()
        span = self._supervisor.stop(process.pid)
        _require(name, process, NodeState.PAUSED)
        return span

    def go_on(self, name: str) -> Span:
        """
        SIGCONT; returns when no thread is stopped, as the kernel says and /proc shows.

        Raises ClusterError.
        """
        process = self._living(name)
        if process.state() is NodeState.RUNNING:
            return _now()
        span = self._supervisor.go_on(process.pid)
        _require(name, process, NodeState.RUNNING)
        return span

    def kill(self, name: str) -> Span:
        """
        SIGKILL; returns when the process has been waited for, so that its ports are closed.

        Raises ClusterError.
        """
        process = self._living(name)
        begin_ns = time.monotonic_ns()
        process.send(signal.SIGKILL)
        status = self._supervisor.await_exit(process.pid, _EXIT_TIMEOUT_S)
        if status is None:
            raise ClusterError(f"{name} to end within {_EXIT_TIMEOUT_S:g} s of SIGKILL", seen="it still lives")
        return Span(begin_ns, time.monotonic_ns())

    def state(self, name: str) -> NodeState:
        """What the process is doing; GONE before it is launched as well."""
        self.seat(name)
        process = self._processes.get(name)
        return NodeState.GONE if process is None else process.state()

    def raise_if_ended(self, names: Iterable[str]) -> None:
        """Raise ServerEnded for the first of these that has ended."""
        for name in names:
            if self.state(name) is NodeState.GONE:
                raise ServerEnded(name, self.exit_status(name), self.log_tail(name, LOOKED_AT_LINES))

    def exit_status(self, name: str) -> int | None:
        """How the last process of a node ended (negative: the signal); None while it lives, or before there was one."""
        process = self._processes.get(name)
        if process is None or self.state(name) is not NodeState.GONE:
            return None
        return self._supervisor.await_exit(process.pid, _EXIT_TIMEOUT_S)

    def log_tail(self, name: str, lines: int) -> tuple[str, ...]:
        """Last lines of a node's log, empty where there is none."""
        try:
            with self.seat(name).log.open(errors="replace") as log:
                return last_words(log, lines)
        except FileNotFoundError:
            return ()

    def require_sound(self) -> None:
        """See that the disk has room for each broker's next commit log file."""
        brokers = sum(seat.role is not Role.NAME_SERVER for seat in self.seats)
        require_room(self._folder, brokers, ROOM_TO_GO_ON_BYTES)

    def unread_bytes(self, name: str) -> int | None:
        """Bytes and connections that the kernel holds for the node's client ports."""
        return unread_bytes(self.seat(name).client_ports)

    def facts(self) -> Mapping[str, object]:
        """Which backend it is; the rest is in the facts of the nodes."""
        return {"backend": "processes"}

    def collect(self, facts: Mapping[str, object], folder: Path) -> None:
        """Copy logs and settings from the nodes' folders."""
        copy_evidence([(seat.name, seat.folder) for seat in self.seats], facts, folder)

    def end(self) -> None:
        """End the supervisor and so every process, paused ones too; remove the stores, give the ports back."""
        self._supervisor.close()
        for process in self._processes.values():
            process.release()
        for seat in self.seats:
            clear(seat)
            seat.reserved.release()

    def _living(self, name: str) -> ServerProcess:
        if self.state(name) is NodeState.GONE:
            raise ServerEnded(name, self.exit_status(name), self.log_tail(name, LOOKED_AT_LINES))
        return self._processes[name]

    def _node(self, seat: Seat) -> Node:
        process = self._processes.get(seat.name)
        lives = process is not None and process.state() is not NodeState.GONE
        return Node(seat.role, seat.letter, seat.name, seat.address, process.pid if process and lives else None)


def _now() -> Span:
    now_ns = time.monotonic_ns()
    return Span(now_ns, now_ns)


def _require(name: str, process: ServerProcess, state: NodeState) -> None:
    if process.state() is not state:
        states = " ".join(sorted(set(process.thread_states()))) or "gone"
        raise ClusterError(f"every thread of {name} to be {state}", seen=f"thread states {states}")
