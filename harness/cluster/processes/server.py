"""One server process, held by a descriptor so that a signal can never reach a stranger with a reused process id."""

import contextlib
import os
import select
import signal
from pathlib import Path

from harness.cluster.interface import NodeState

_STOPPED = "T"


class ServerProcess:
    """A process started by the guardian; safe for threads."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        try:
            self._descriptor: int | None = os.pidfd_open(pid)
        except ProcessLookupError:
            self._descriptor = None  # ended and reaped already

    def send(self, number: signal.Signals) -> None:
        """Send a signal; to a process that is gone, nothing."""
        if self._descriptor is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._descriptor, number)

    def await_end(self, timeout_s: float) -> bool:
        """Whether the process has ended, waiting for it up to ``timeout_s`` seconds."""
        if self._descriptor is None:
            return True
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        return bool(poll.poll(timeout_s * 1000))

    def state(self) -> NodeState:
        """PAUSED when every thread is stopped; a process of which some threads are stopped still counts as RUNNING."""
        if self.await_end(0):
            return NodeState.GONE
        states = self.thread_states()
        return NodeState.PAUSED if states and set(states) == {_STOPPED} else NodeState.RUNNING

    def is_wholly_running(self) -> bool:
        """Whether it lives and no thread of it is stopped."""
        return not self.await_end(0) and _STOPPED not in self.thread_states()

    def thread_states(self) -> tuple[str, ...]:
        """State letter of every thread as in /proc/PID/task/TID/stat; empty when the process is gone."""
        states = []
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for task in Path(f"/proc/{self.pid}/task").iterdir():
                # A thread may end while we look; the command name, in brackets, may hold anything, brackets too.
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    states.append((task / "stat").read_text().rpartition(")")[2].split()[0])
        return tuple(states)

    def release(self) -> None:
        """Give the descriptor back once the process has ended; a second call does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
