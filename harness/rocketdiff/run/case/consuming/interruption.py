"""
A signal to the process of a member, as an event of the scenario, and what proves its effect.

The program is the child of its supervisor, which survives a kill and passes on how the program ended; a pause stops everything
below the supervisor. When the runner dies, the supervisor kills what it runs, stopped or not.
"""

import time
from collections.abc import Callable, Mapping
from signal import Signals

from rocketdiff.core.consuming.plan import MemberChange
from rocketdiff.core.consuming.watched import RESUME
from rocketdiff.process.threads import are_running, are_stopped
from rocketdiff.run.case.open_connections import held_by, open_sockets
from rocketdiff.subjects.subject_process import SubjectProcess

STOPPED_WITHIN_NS = 200_000_000
"""The kernel stops a thread in well under a millisecond; the rest is ours, to look at all of them. A later look fails for good."""

ENDED_WITHIN_NS = 2_000_000_000
"""A JVM's memory is released in some tenths of a second on a busy machine, and its connections are closed after that."""

SIGNALS: Mapping[str, Signals] = {
    MemberChange.KILL: Signals.SIGKILL,
    MemberChange.PAUSE: Signals.SIGSTOP,
    RESUME: Signals.SIGCONT,
}


class Interruption:
    """
    One signal, aimed at when it is made. within_ns: time for its proof.

    ordered_ns: just before it was sent. proven_ns: when its effect was seen; None if it was not yet.
    """

    def __init__(self, subject: SubjectProcess, what: str) -> None:
        self.ordered_ns = 0
        self.proven_ns: int | None = None
        self.within_ns = ENDED_WITHIN_NS if what == MemberChange.KILL else STOPPED_WITHIN_NS
        self._subject, self._what = subject, what
        self._processes = subject.processes()
        self._was_held = what == RESUME and are_stopped(self._processes)
        self._prove: Callable[[], bool] = {
            MemberChange.KILL.value: self._is_dead,
            MemberChange.PAUSE.value: self._is_stopped,
            RESUME: lambda: self._was_held and are_running(self._processes),
        }[what]
        self._connections = self._held() if what == MemberChange.KILL else None

    def send(self) -> None:
        """Send it."""
        self.ordered_ns = time.monotonic_ns()
        self._subject.signal(SIGNALS[self._what], self._processes)

    def is_decided(self) -> bool:
        """Look for its effect; return True if it was seen, or not in time."""
        if self._prove():
            self.proven_ns = time.monotonic_ns()
            return True
        return time.monotonic_ns() - self.ordered_ns > self.within_ns

    def _held(self) -> set[object] | None:
        sockets = open_sockets()
        return None if sockets is None else set(held_by(self._subject.pid, sockets) or ())

    def _is_stopped(self) -> bool:
        """A process that was started meanwhile is none of those at which the signal was aimed."""
        return are_stopped(self._processes) and set(self._subject.processes()) <= set(self._processes)

    def _is_dead(self) -> bool:
        """The supervisor ends with the status of the program: here with the signal. The kernel then has no owner of its sockets."""
        if self._subject.end_status() != -Signals.SIGKILL or self._connections is None:
            return False
        sockets = open_sockets()
        return sockets is not None and self._connections.isdisjoint(sockets.values())
