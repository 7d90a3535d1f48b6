"""A program that its author starts and that connects to a port of loopback."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rocketdiff.core.arm import CANDIDATE
from rocketdiff.core.errors import EnvironmentMissing, SubjectBroken, UsageError
from rocketdiff.process import attached as attaching
from rocketdiff.process.attached import AttachPoint
from rocketdiff.run.subject_check.one_subject import unheard
from rocketdiff.subjects.registry import attached, resolved
from rocketdiff.subjects.sending.talk import SendingTalk
from rocketdiff.subjects.subject_process import SubjectProcess
from tests.subjects.conftest import HELLO, READY, attempt, done, plan_of, setup_of

ACME = {**HELLO, "client": "acme", "version": "1.0"}


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def point(notes: list[str]) -> Iterator[AttachPoint]:
    with AttachPoint(0, 5.0, notes.append) as opened:
        yield opened


class Driver:
    """The program's side of one connection."""

    def __init__(self, point: AttachPoint) -> None:
        host, port = point.address.split(":")
        self.socket = socket.create_connection((host, int(port)))
        self.commands = self.socket.makefile("r", encoding="utf-8")

    def put(self, *records: dict[str, Any]) -> None:
        now = time.monotonic_ns()
        lines = "".join(json.dumps(each) + "\n" for each in records).replace('"@now"', str(now))
        self.socket.sendall(lines.encode())

    def await_command(self, kind: str) -> None:
        next(line for line in self.commands if json.loads(line)["type"] == kind)

    def close(self) -> None:
        self.commands.close()
        self.socket.close()


def driving(steps: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=steps)
    thread.start()
    return thread


def test_a_conversation_runs_over_the_connection_of_its_hello_and_no_limit_applies(
    point: AttachPoint, notes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A send that is answered long after its limit is no violation, and the user is reminded of the silence; the program is left alone."""
    monkeypatch.setattr(attaching, "SILENCE_S", 0.05)
    answer = {"type": "send", "send": 0, "thread": 0, "start_ns": "@now", "end_ns": "@now", "status": "SEND_OK"}

    def drive() -> None:
        driver = Driver(point)
        driver.put(ACME)
        driver.await_command("setup")
        driver.put(READY)
        driver.await_command("go")
        time.sleep(0.3)
        driver.put(attempt(0), answer, done(1))
        driver.await_command("stop")
        driver.close()

    thread = driving(drive)
    subject = attached(point)
    with SubjectProcess(subject.program, CANDIDATE, tmp_path, on_line=unheard) as process:
        process.await_hello()
        process.prepare(SendingTalk(plan_of(0), setup_of(), limit_ns=1))
        process.await_ready()
        process.go(time.monotonic_ns())
        assert len(process.await_done().sends) == 1
    thread.join()
    assert (str(subject), subject.is_attached, process.has_stopped) == ("acme:1.0", True, True)
    assert notes[0].startswith("Nothing heard for")


def test_a_program_that_disconnects_has_died(point: AttachPoint, tmp_path: Path) -> None:
    """The end of a connection before stop is the program's death."""

    def drive() -> None:
        driver = Driver(point)
        driver.put(ACME)
        driver.await_command("setup")
        driver.close()

    thread = driving(drive)
    subject = attached(point)
    with SubjectProcess(subject.program, CANDIDATE, tmp_path, on_line=unheard) as process:
        process.await_hello()
        process.prepare(SendingTalk(plan_of(0), setup_of()))
        with pytest.raises(SubjectBroken, match="it closed its connection in stage PREPARING"):
            process.await_ready()
    thread.join()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"GET / HTTP/1.1\r\n", "expected hello of protocol 1 as the first line of the program at 127.0.0.1"),
        (json.dumps(HELLO).encode() + b"\n", "toy, a client that comes with rocketdiff"),
    ],
)
def test_a_connection_without_a_hello_of_its_own_is_refused(point: AttachPoint, line: bytes, message: str) -> None:
    """The first connection begins with a hello that names a client of its own."""
    driver = Driver(point)
    driver.socket.sendall(line)
    with pytest.raises(UsageError, match=message):
        attached(point)
    driver.close()


def test_a_program_that_does_not_come_is_missed_in_one_sentence(notes: list[str]) -> None:
    """The message names the address, the time and the variable."""
    with AttachPoint(0, 0.05, notes.append) as point, pytest.raises(EnvironmentMissing) as raised:
        attached(point)
    assert str(raised.value) == (
        f"expected your program to connect to {point_of(raised.value)} within 0.05 s; saw no connection; try: start it with"
        f" ROCKETDIFF_ATTACH={point_of(raised.value)} in its environment; --wait SECONDS waits longer"
    )


def point_of(error: EnvironmentMissing) -> str:
    return error.expected.split()[5]


def test_a_port_that_is_taken_is_refused(point: AttachPoint, notes: list[str]) -> None:
    """The message names the port; only loopback is listened on."""
    port = int(point.address.split(":")[1])
    with pytest.raises(EnvironmentMissing, match=f"port {port} of 127.0.0.1 to be free; saw Address already in use"):
        AttachPoint(port, 1.0, notes.append)


def test_a_run_refuses_an_attached_program() -> None:
    """A run ends and times its programs; the hint names the command for debuggers."""
    with pytest.raises(UsageError, match="under a debugger: rocketdiff subject attach"):
        resolved("attach:9877")
