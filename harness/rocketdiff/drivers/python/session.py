"""One run of a Python driver: obey commands, prepare, wait for go, work, report done."""

import contextlib
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from rocketdiff.core.consuming.plan import ListenerRule
from rocketdiff.core.records.received import Record
from rocketdiff.core.records.session import PROTOCOL, Done, Hello, Ready, SubjectFailed
from rocketdiff.core.sends.plan import PlannedSend
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.drivers.python.writer import RecordWriter
from rocketdiff.protocol.commands import Go, Prepare, Stop, decode_command
from rocketdiff.protocol.consuming import Join, Leave, MemberSetup

Speak = Callable[[Record], None]
"""Reports one record to the runner; callable from any thread, returns at once."""


class RoleRunner(Protocol):
    """What a driver does with its client in one role; the session calls it in this order."""

    working: str
    """The stage after go, for a failure."""

    def plan(self, send: PlannedSend) -> None:
        """Take a line of the plan; all of them come before prepare."""
        ...

    def prepare(self, prepare: Prepare) -> None:
        """Warm up and make the client ready."""
        ...

    def run(self, start_ns: int) -> int:
        """Do all that was planned, counted from start_ns; return the number of operations."""
        ...

    def shutdown(self) -> None:
        """Shut the client down; may block on a paused broker."""
        ...


class MemberRunner(Protocol):
    """A driver's client as a member of a group; the session calls it in this order."""

    working: str
    """The stage after ready, for a failure."""

    def rule(self, rule: ListenerRule) -> None:
        """Take a rule of the listener; all of them come before prepare."""
        ...

    def prepare(self, setup: MemberSetup) -> None:
        """Warm up."""
        ...

    def order(self, order: Join | Leave) -> None:
        """Take an order, which run carries out."""
        ...

    def run(self) -> int:
        """Join and leave as ordered, up to the last leave; return the number of the listener's calls."""
        ...

    def shutdown(self) -> None:
        """Shut the client down; may block on a paused broker."""
        ...


Roles = Mapping[ClientRole, Callable[[Speak], Any]]
"""The roles of a driver, each with what makes its runner: a RoleRunner of a producer, a MemberRunner of a consumer."""

_SHUTDOWN_S = 0.7
"""Time limit of the shutdown, because unregistering from a paused broker blocks for seconds."""

_SHOWN_CHARACTERS = 500


def run_subject(
    subject: SubjectId,
    capabilities: Sequence[str],
    roles: Roles,
    writer: RecordWriter,
    speak: Speak,
    attempt_timeout_ms: int | None = None,
) -> None:
    """Write hello and obey stdin until stop or its end, then exit the process; never returns."""
    writer.start()
    pid, now_ns = os.getpid(), time.monotonic_ns()
    known = None if list(roles) == [ClientRole.PRODUCER] else tuple(roles)
    speak(Hello(PROTOCOL, subject.client, subject.release, tuple(capabilities), pid, now_ns, attempt_timeout_ms, known))
    session = Session(roles, speak)
    status = 0
    try:
        obey(sys.stdin.buffer, session)
    except ValueError as error:
        status = 1
        speak(_failed("command", error))
    leave(session, writer, status)


def own_stdout() -> int:
    """Return a descriptor for records only; all other output of this process goes to stderr."""
    records = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return records


def obey(commands: Iterable[bytes], session: "Session") -> None:
    """Execute one command per line until stop or the end; raises ValueError for an invalid one."""
    for line in commands:
        match decode_command(line):
            case PlannedSend() as send:
                session.plan(send)
            case Prepare() as prepare:
                session.prepare(prepare)
            case Go(start_ns):
                session.go(start_ns)
            case Stop():
                return
            case ListenerRule() as rule:
                session.rule(rule)
            case MemberSetup() as setup:
                session.prepare_member(setup)
            case Join() | Leave() as order:
                session.order(order)


def leave(session: "Session", writer: RecordWriter, status: int) -> None:
    """Flush, shut the client down within the time limit, and exit with this status."""
    writer.flush()
    ending = threading.Thread(target=session.shutdown, daemon=True)
    ending.start()
    ending.join(_SHUTDOWN_S)
    os._exit(status)


class Session:
    """State of a run; commands arrive on the reader's thread, a separate thread does the work."""

    def __init__(self, roles: Roles, speak: Speak) -> None:
        self._roles = roles
        self._speak = speak
        self._role: ClientRole | None = None
        self._runner: Any = None
        self._is_set_up = False
        self._is_ready = False
        self._start_ns = 0
        self._begin = threading.Event()

    def plan(self, send: PlannedSend) -> None:
        """Take a plan line, which names no role: it is a producer's."""
        _require(not self._is_set_up, "plan lines come before setup")
        self._runner_of(ClientRole.PRODUCER).plan(send)

    def prepare(self, prepare: Prepare) -> None:
        """Start preparing in the background; ready is reported at the end."""
        _require(not self._is_set_up, "one setup")
        runner: RoleRunner = self._runner_of(prepare.role)

        def work() -> Done:
            self._begin.wait()
            return Done(runner.run(self._start_ns))

        self._start(lambda: runner.prepare(prepare), work)

    def rule(self, rule: ListenerRule) -> None:
        """Take a rule of a consumer's listener."""
        _require(not self._is_set_up, "rules come before setup")
        self._runner_of(ClientRole.CONSUMER).rule(rule)

    def prepare_member(self, setup: MemberSetup) -> None:
        """Start preparing a member in the background; ready is reported at the end, and orders may follow."""
        _require(not self._is_set_up, "one setup")
        runner: MemberRunner = self._runner_of(ClientRole.CONSUMER)
        self._start(lambda: runner.prepare(setup), lambda: Done(calls=runner.run()))

    def order(self, order: Join | Leave) -> None:
        _require(self._is_ready and self._role is ClientRole.CONSUMER, "join and leave after ready")
        self._runner.order(order)

    def go(self, start_ns: int) -> None:
        _require(self._is_ready and not self._begin.is_set(), "one go, after ready")
        self._start_ns = start_ns
        self._begin.set()

    def shutdown(self) -> None:
        """Shut the client down, ignoring errors."""
        if self._runner is not None:
            with contextlib.suppress(Exception):
                self._runner.shutdown()

    def _start(self, prepare: Callable[[], None], work: Callable[[], Done]) -> None:
        self._is_set_up = True
        threading.Thread(target=self._run, args=(prepare, work), name="session", daemon=True).start()

    def _runner_of(self, role: ClientRole) -> Any:
        if self._runner is None:
            _require(role in self._roles, f"a role of this driver ({', '.join(self._roles)}), saw {role}")
            self._role, self._runner = role, self._roles[role](self._speak)
        _require(role is self._role, f"lines of one role, saw {self._role} and {role}")
        return self._runner

    def _run(self, prepare: Callable[[], None], work: Callable[[], Done]) -> None:
        stage = "setup"
        try:
            prepare()
            self._is_ready = True
            self._speak(Ready(time.monotonic_ns()))
            stage = self._runner.working
            self._speak(work())
        except Exception as error:  # noqa: BLE001 - reported to the runner, in full on stderr
            traceback.print_exc()
            self._speak(_failed(stage, error))


def _failed(stage: str, error: Exception) -> SubjectFailed:
    return SubjectFailed(stage, f"{type(error).__name__}: {error}"[:_SHOWN_CHARACTERS])


def _require(condition: bool, expected: str) -> None:
    if not condition:
        raise ValueError(f"expected {expected}")
