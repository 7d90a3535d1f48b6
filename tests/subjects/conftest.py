"""A scripted subject with plan and setup."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from rocketdiff.core.arm import BASELINE, Member
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.protocol.commands import SubjectSetup
from rocketdiff.subjects.limits import Deadlines
from rocketdiff.subjects.program import Launch, clean_environment
from rocketdiff.subjects.subject_process import SubjectProcess

SCRIPT = Path(__file__).with_name("scripted.py")
HELLO: dict[str, Any] = {
    "type": "hello",
    "protocol": 1,
    "client": "toy",
    "version": "scripted",
    "capabilities": ["plain", "queue", "selector", "batch", "async", "oneway", "attempts", "routes"],
    "pid": 1,
    "clock_ns": 1,
}
READY = {"type": "ready", "clock_ns": 1}


@dataclass(frozen=True)
class Scripted:
    """A SubjectProgram that executes a script."""

    script: list[list[Any]]
    subject: SubjectId = field(default_factory=lambda: SubjectId("toy", "scripted"))

    def launch(self, folder: Path) -> Launch:  # noqa: ARG002 - writes nothing
        return Launch((sys.executable, "-I", "-S", str(SCRIPT), json.dumps(self.script)), clean_environment())


Start = Callable[..., SubjectProcess]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a script as a subject, with exit_s 1 s unless given; closed after the test."""
    with ExitStack() as stack:

        def started(
            *script: list[Any], member: Member = BASELINE, lines: list[bytes] | None = None, **deadlines: float
        ) -> SubjectProcess:
            heard = lines if lines is not None else []
            limits = Deadlines(**{"exit_s": 1.0, **deadlines})
            process = SubjectProcess(
                Scripted(list(script)), member, tmp_path / str(member), on_line=heard.append, deadlines=limits
            )
            return stack.enter_context(process)

        yield started


def plan_of(*threads: int) -> Plan:
    """One send per number, on that thread, all due at once."""
    sends = tuple(PlannedSend(send, thread, 0, SendKind.PLAIN, 0, 64) for send, thread in enumerate(threads))
    return Plan(1, max(threads, default=0) + 1, sends)


def setup_of(**settings: Any) -> SubjectSetup:
    """A setup whose name server nobody calls."""
    return SubjectSetup(("127.0.0.1:9876",), "topic", "warm", "group", "run", ClientSettings(**settings))


def attempt(send: int, number: int = 0, thread: int = 0) -> dict[str, Any]:
    return {
        "type": "attempt", "send": send, "thread": thread, "attempt": number, "broker": "broker-a", "queue_id": 0,
        "start_ns": "@now", "end_ns": "@now", "status": "SEND_OK",
    }  # fmt: skip


def answer(send: int, thread: int = 0) -> dict[str, Any]:
    return {"type": "send", "send": send, "thread": thread, "start_ns": "@now", "end_ns": "@now", "status": "SEND_OK"}


def done(sends: int) -> dict[str, Any]:
    return {"type": "done", "sends": sends}
