"""One server process, addressed by a pidfd, so that a signal never reaches another process with a reused id."""

import contextlib
import os
import select
import signal

from rocketdiff.cluster.interface import NodeState

_STOPPED = "T"

# The state is near the beginning, after the command name of at most 15 characters.
_STAT_BYTES = 128


class ServerProcess:
    """A process started by the supervisor; thread-safe."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        try:
            self._descriptor: int | None = os.pidfd_open(pid)
        except ProcessLookupError:
            self._descriptor = None  # ended and reaped already

    def send(self, number: signal.Signals) -> None:
        """Does nothing if the process is gone."""
        if self._descriptor is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._descriptor, number)

    def await_end(self, timeout_s: float) -> bool:
        """True if the process has ended within ``timeout_s``."""
        if self._descriptor is None:
            return True
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        return bool(poll.poll(timeout_s * 1000))

    @property
    def is_gone(self) -> bool:
        """True if the process has ended. Used in every poll, so it does not read the threads."""
        return self.await_end(0)

    def state(self) -> NodeState:
        """PAUSED if every thread is stopped; RUNNING if only some are."""
        if self.is_gone:
            return NodeState.GONE
        states = self.thread_states()
        return NodeState.PAUSED if states and set(states) == {_STOPPED} else NodeState.RUNNING

    def thread_states(self) -> tuple[str, ...]:
        """State letter of every thread (/proc/PID/task/TID/stat); empty if the process is gone."""
        # Plain descriptors for speed: a broker has 150 threads, and the duration of this loop is the uncertainty of a fault's
        # times. pathlib takes five times as long.
        states = []
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for task in os.listdir(f"/proc/{self.pid}/task"):  # noqa: PTH208  # see above
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread may end meanwhile
                    states.append(_state_letter(f"/proc/{self.pid}/task/{task}/stat"))
        return tuple(states)

    def release(self) -> None:
        """A second call does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _state_letter(path: str) -> str:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        stat = os.read(descriptor, _STAT_BYTES)
    finally:
        os.close(descriptor)
    # The state follows the command name, which is in parentheses and may contain parentheses itself.
    return chr(stat[stat.rindex(b")") + 2])
