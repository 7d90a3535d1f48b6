"""The processes of one cluster by node name: launched, stopped, continued, killed, and looked at."""

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Iterable

from harness.cluster.interface import Node, NodeState, Role, Span
from harness.cluster.processes.command_line import Installation, environment, java_command
from harness.cluster.processes.guard import Guard
from harness.cluster.processes.seat import Seat
from harness.cluster.processes.server import ServerProcess
from harness.core.errors import ClusterError, UsageError

# A killed JVM is gone in some ten ms, most of them for giving back its memory.
_EXIT_TIMEOUT_S = 5.0

# A server that cannot start says why, then ends in order and says a good deal more.
_LOGBACK = "|-INFO in "
_LOOKED_AT_LINES = 100
_SHOWN_LINES = 12

_HINT = "the whole log is server.log in the node's folder"


class ServerEnded(ClusterError):
    """A server ended by itself; ``port_taken`` tells the one cause that another choice of ports cures."""

    def __init__(self, node: str, status: int | None, log: tuple[str, ...]) -> None:
        last = "\n".join(log[-_SHOWN_LINES:]) or "nothing"
        super().__init__(
            f"{node} to live", seen=f"it ended with status {status}; the last it said:\n{last}", hint=_HINT
        )
        self.port_taken = any(sign in line for line in log for sign in ("Address already in use", "BindException"))


class Servers:
    """All servers of one cluster; safe for threads that act on different nodes."""

    def __init__(self, seats: Iterable[Seat], installation: Installation, guard: Guard) -> None:
        self._seats = {seat.name: seat for seat in seats}
        self._installation = installation
        self._guard = guard
        self._lock = threading.Lock()
        self._processes: dict[str, ServerProcess] = {}

    @property
    def seats(self) -> tuple[Seat, ...]:
        """All of them, name servers first."""
        return tuple(self._seats.values())

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
        process = self._guard.start(name, command, seat.folder, environment(os.environ), seat.log)
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
        span = self._guard.stop(process.pid)
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
        span = self._guard.go_on(process.pid)
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
        status = self._guard.await_exit(process.pid, _EXIT_TIMEOUT_S)
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
                raise ServerEnded(name, self.exit_status(name), self.log_tail(name, _LOOKED_AT_LINES))

    def exit_status(self, name: str) -> int | None:
        """How the last process of a node ended (negative: the signal); None while it lives, or before there was one."""
        process = self._processes.get(name)
        if process is None or self.state(name) is not NodeState.GONE:
            return None
        return self._guard.await_exit(process.pid, _EXIT_TIMEOUT_S)

    def log_tail(self, name: str, lines: int = 20) -> tuple[str, ...]:
        """
        Last lines of a node's log, empty where there is none.

        Without stack frames and what logback says about its own set-up, which hide what matters.
        """
        try:
            with self.seat(name).log.open(errors="replace") as log:
                said = (line.rstrip("\n") for line in log if not line.startswith("\tat ") and _LOGBACK not in line)
                return tuple(deque(said, maxlen=lines))
        except FileNotFoundError:
            return ()

    def release(self) -> None:
        """Give back what is held of processes that have ended."""
        for process in self._processes.values():
            process.release()

    def _living(self, name: str) -> ServerProcess:
        if self.state(name) is NodeState.GONE:
            raise ServerEnded(name, self.exit_status(name), self.log_tail(name, _LOOKED_AT_LINES))
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
