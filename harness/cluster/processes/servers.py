"""The processes of one cluster by node name: launched, stopped, continued, killed, and looked at."""

import os
import signal
import threading
from collections import deque
from collections.abc import Iterable
from functools import partial

from harness.cluster.conditions import await_condition
from harness.cluster.interface import Node, NodeState, Role
from harness.cluster.processes.command_line import Installation, environment, java_command
from harness.cluster.processes.guard import Guard
from harness.cluster.processes.seat import Seat
from harness.cluster.processes.server import ServerProcess
from harness.core.errors import ClusterError, UsageError

# A signal takes effect within a millisecond or two; seconds only where the machine is out of breath.
_SIGNAL_TIMEOUT_S = 5.0

# Reading the state of a hundred threads takes about a millisecond; times of faults are exact to this.
_STATE_POLL_S = 0.0005


class ServerEnded(ClusterError):
    """A server ended by itself; ``port_taken`` tells the one cause that another try cures."""

    def __init__(self, node: str, status: int | None, log: tuple[str, ...]) -> None:
        last = "\n".join(log) or "an empty log"
        super().__init__(
            f"{node} to live", seen=f"it ended with status {status}, its log ends:\n{last}", hint="read the last lines"
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
        self._statuses: dict[str, int | None] = {}

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
            self._statuses.pop(name, None)
        if former is not None:
            former.release()

    def stop(self, name: str) -> None:
        """
        SIGSTOP; returns when every thread is stopped.

        Raises ClusterError.
        """
        process = self._living(name)
        process.send(signal.SIGSTOP)
        self._await(f"all threads of {name} to be stopped", partial(_unless_paused, process))

    def go_on(self, name: str) -> None:
        """
        SIGCONT; returns when no thread is stopped.

        Raises ClusterError.
        """
        process = self._living(name)
        process.send(signal.SIGCONT)
        self._await(f"no thread of {name} to be stopped", partial(_unless_running, process))

    def kill(self, name: str) -> None:
        """
        SIGKILL; returns when the process has been waited for, so that its ports are closed.

        Raises ClusterError.
        """
        process = self._living(name)
        process.send(signal.SIGKILL)
        status = self._guard.await_exit(process.pid, _SIGNAL_TIMEOUT_S)
        if status is None:
            raise ClusterError(f"{name} to end within {_SIGNAL_TIMEOUT_S:g} s of SIGKILL", seen="it still lives")
        with self._lock:
            self._statuses[name] = status

    def state(self, name: str) -> NodeState:
        """What the process is doing; GONE before it is launched as well."""
        self.seat(name)
        process = self._processes.get(name)
        return NodeState.GONE if process is None else process.state()

    def raise_if_ended(self, names: Iterable[str]) -> None:
        """Raise ServerEnded for the first of these that has ended."""
        for name in names:
            if self.state(name) is NodeState.GONE:
                raise ServerEnded(name, self.exit_status(name), self.log_tail(name))

    def exit_status(self, name: str) -> int | None:
        """How the last process of a node ended (negative: the signal); None while it lives."""
        if name in self._statuses or name not in self._processes or self.state(name) is not NodeState.GONE:
            return self._statuses.get(name)
        return self._guard.await_exit(self._processes[name].pid, _SIGNAL_TIMEOUT_S)

    def log_tail(self, name: str, lines: int = 20) -> tuple[str, ...]:
        """Last lines of a node's log, empty where there is none."""
        try:
            with self.seat(name).log.open(errors="replace") as log:
                return tuple(line.rstrip("\n") for line in deque(log, maxlen=lines))
        except FileNotFoundError:
            return ()

    def release(self) -> None:
        """Give back what is held of processes that have ended."""
        for process in self._processes.values():
            process.release()

    def _living(self, name: str) -> ServerProcess:
        if self.state(name) is NodeState.GONE:
            raise ServerEnded(name, self.exit_status(name), self.log_tail(name))
        return self._processes[name]

    def _node(self, seat: Seat) -> Node:
        process = self._processes.get(seat.name)
        lives = process is not None and process.state() is not NodeState.GONE
        return Node(seat.role, seat.letter, seat.name, seat.address, process.pid if process and lives else None)

    @staticmethod
    def _await(name: str, observe: partial[str | None]) -> None:
        await_condition(name, observe, _SIGNAL_TIMEOUT_S, poll_interval_s=_STATE_POLL_S)


def _unless_paused(process: ServerProcess) -> str | None:
    return None if process.state() is NodeState.PAUSED else f"thread states {set(process.thread_states())}"


def _unless_running(process: ServerProcess) -> str | None:
    return (
        None if process.is_wholly_running() else f"thread states {set(process.thread_states()) or 'none: it is gone'}"
    )
