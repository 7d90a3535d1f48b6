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
from rocketdiff.protocol.consuming import Apply, Join, Leave, MemberSetup, Order

Speak = Callable[[Record], None]
"""Reports one record to the runner; callable from any thread, returns at once."""


class RoleRunner(Protocol):
    """What a driver does with its client in one role; the session calls it in this order."""

    working: str
    """The stage after go, for a failure."""

    awaits_go: bool
    """Whether it begins at go; otherwise it begins when it is ready, and obeys orders."""

    def plan(self, line: Any) -> None:
        """Take a line of the plan (a send, or a rule of a listener); all of them come before prepare."""
        ...

    def prepare(self, prepare: Any) -> None:
        """Warm up and make the client ready. prepare: the setup of its role, ``Prepare`` or ``MemberSetup``."""
        ...

    def order(self, order: Order) -> None:
        """Take a command that comes after ready; return at once. Raise ValueError in a role without any."""
        ...

    def run(self, start_ns: int) -> Done:
        """Do all that was planned, counted from start_ns."""
        ...

    def shutdown(self) -> None:
        """Shut the client down; may block on a paused broker."""
        ...


Roles = Mapping[ClientRole, Callable[[Speak], RoleRunner]]
"""The roles of a driver, each with what makes its runner."""

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
    """Write hello and obey stdin until stop or its end; returns only if the client has time to end as in applications."""
    writer.start()
    pid, now_ns = os.getpid(), time.monotonic_ns()
    acts = tuple(map(str, roles)) if ClientRole.CONSUMER in roles else None
    speak(Hello(PROTOCOL, subject.client, subject.release, tuple(capabilities), pid, now_ns, attempt_timeout_ms, acts))
    session = Session(roles, speak)
    status, has_time = 0, False
    try:
        has_time = obey(sys.stdin.buffer, session)
    except ValueError as error:
        status = 1
        speak(_failed("command", error))
    if has_time:
        session.shutdown()
        writer.flush()
    else:
        leave(session, writer, status)


def own_stdout() -> int:
    """Return a descriptor for records only; all other output of this process goes to stderr."""
    records = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return records


def obey(commands: Iterable[bytes], session: "Session") -> bool:
    """
    Execute one command per line until stop or the end; True if a stop gives time to end. Raises ValueError for an invalid one.
    """
    for line in commands:
        match decode_command(line):
            case PlannedSend() as send:
                session.plan(send)
            case ListenerRule() as rule:
                session.rule(rule)
            case Prepare() as prepare:
                session.prepare(prepare, prepare.role)
            case MemberSetup() as setup:
                session.prepare(setup, ClientRole.CONSUMER)
            case Join() | Leave() | Apply() as order:
                session.order(order)
            case Go(start_ns):
                session.go(start_ns)
            case Stop(limit_ms):
                return limit_ms is not None
    return False


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
        self._runner: RoleRunner | None = None
        self._is_set_up = False
        self._is_ready = False
        self._start_ns = 0
        self._begin = threading.Event()

    def plan(self, send: PlannedSend) -> None:
        """Take a plan line, which names no role: it is a producer's."""
        _require(not self._is_set_up, "plan lines come before setup")
        self._runner_of(ClientRole.PRODUCER).plan(send)

    def rule(self, rule: ListenerRule) -> None:
        """Take a rule, which names no role: it is a consumer's."""
        _require(not self._is_set_up, "rules come before setup")
        self._runner_of(ClientRole.CONSUMER).plan(rule)

    def prepare(self, prepare: Prepare | MemberSetup, role: ClientRole) -> None:
        """Start preparing in the background; ready is reported at the end."""
        _require(not self._is_set_up, "one setup")
        runner = self._runner_of(role)
        self._is_set_up = True
        threading.Thread(target=self._run, args=(runner, prepare), name="session", daemon=True).start()

    def go(self, start_ns: int) -> None:
        _require(self._is_ready and not self._begin.is_set(), "one go, after ready")
        self._start_ns = start_ns
        self._begin.set()

    def order(self, order: Order) -> None:
        _require(self._is_ready, "join, leave and apply after ready")
        assert self._runner is not None, "ready comes from a runner"
        self._runner.order(order)

    def shutdown(self) -> None:
        """Shut the client down, ignoring errors."""
        if self._runner is not None:
            with contextlib.suppress(Exception):
                self._runner.shutdown()

    def _runner_of(self, role: ClientRole) -> RoleRunner:
        if self._runner is None:
            _require(role in self._roles, f"a role of this driver ({', '.join(self._roles)}), saw {role}")
            self._role, self._runner = role, self._roles[role](self._speak)
        _require(role is self._role, f"lines of one role, saw {self._role} and {role}")
        return self._runner

    def _run(self, runner: RoleRunner, prepare: Prepare | MemberSetup) -> None:
        stage = "setup"
        try:
            runner.prepare(prepare)
            self._is_ready = True
            self._speak(Ready(time.monotonic_ns()))
            if runner.awaits_go:
                self._begin.wait()
            stage = runner.working
            self._speak(runner.run(self._start_ns))
        except Exception as error:  # noqa: BLE001 - reported to the runner, in full on stderr
            traceback.print_exc()
            self._speak(_failed(stage, error))


def _failed(stage: str, error: Exception) -> SubjectFailed:
    return SubjectFailed(stage, f"{type(error).__name__}: {error}"[:_SHOWN_CHARACTERS])


def _require(condition: bool, expected: str) -> None:
    if not condition:
        raise ValueError(f"expected {expected}")
