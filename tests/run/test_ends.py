"""How a client's process ends on its own, watched from outside."""

import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from rocketdiff.core.arm import BASELINE, CANDIDATE
from rocketdiff.core.subject import SubjectId
from rocketdiff.run.case.ends import watch_ends
from rocketdiff.subjects.program import Launch, clean_environment
from rocketdiff.subjects.subject_process import SubjectProcess

HELLO = '{"type":"hello","protocol":1,"client":"acme","version":"1","capabilities":[],"pid":1,"clock_ns":1}'
OBEYS = f"import sys, threading, time, subprocess\nprint({HELLO!r}, flush=True)\nstop = sys.stdin.readline()\n"

ACME = SubjectId("acme", "1")

PATIENCE_S, BRIEF_S = 60.0, 0.5


@dataclass(frozen=True)
class Program:
    """Python code as a SubjectProgram, after it was told to stop."""

    code: str
    subject: SubjectId = ACME

    def launch(self, folder: Path) -> Launch:  # noqa: ARG002 - writes nothing
        return Launch((sys.executable, "-I", "-S", "-c", OBEYS + self.code), clean_environment())


def watched(folder: Path, limit_s: float, *codes: str) -> dict[str, int | float]:
    with ExitStack() as stack:
        clients = {}
        for member, code in zip((BASELINE, CANDIDATE), codes, strict=False):
            started = SubjectProcess(Program(code), member, folder / str(member), on_line=lambda _: None)
            clients[member] = stack.enter_context(started)
            started.await_hello()
        return watch_ends(clients, limit_s)


THREAD = "threading.Thread(target=time.sleep, args=(600,), daemon={}).start()"


@pytest.mark.parametrize(
    ("endless", "threads", "twin"),
    [
        (THREAD.format(False), 2, THREAD.format(True)),
        ("time.sleep(600)", 1, "time.sleep(0.1)"),
        ("while True: pass", 1, "while not stop: pass"),
        ("sys.stdin.read(); time.sleep(600)", 1, "sys.stdin.read()"),
        ("subprocess.run(['sleep', '600'])", 2, "subprocess.run(['sleep', '0.1'])"),
    ],
    ids=["a thread", "asleep", "a loop", "its input", "a child"],
)
def test_a_process_that_keeps_running_has_threads_left(endless: str, threads: int, twin: str, tmp_path: Path) -> None:
    """What keeps running has threads left at the limit, whatever keeps it; its twin has none."""
    ended = watched(tmp_path / "ended", PATIENCE_S, twin)
    assert (ended["threads_left_baseline"], ended["connections_left_baseline"]) == (0, 0)
    assert ended["end_ms_baseline"] < 1_000 * PATIENCE_S
    kept = watched(tmp_path / "kept", BRIEF_S, endless)
    assert kept["threads_left_baseline"] == threads
    assert kept["end_ms_baseline"] >= 1_000 * BRIEF_S


def test_connections_that_are_left_are_counted(tmp_path: Path) -> None:
    """Connections of a process that keeps running are counted."""
    code = "import socket\nheld = socket.create_server(('127.0.0.1', 0))\nto = held.getsockname()\n"
    kept = watched(tmp_path, BRIEF_S, code + "mine = socket.create_connection(to)\ntime.sleep(600)")
    assert kept["connections_left_baseline"] == 1


def test_a_client_that_is_lost_is_not_watched(tmp_path: Path) -> None:
    """A client that broke off is left out; the other is watched."""
    with ExitStack() as stack:
        clients = {}
        for member in (BASELINE, CANDIDATE):
            started = SubjectProcess(Program(""), member, tmp_path / str(member), on_line=lambda _: None)
            clients[member] = stack.enter_context(started)
            started.await_hello()
        clients[CANDIDATE].close()
        assert set(watch_ends(clients, PATIENCE_S)) == {
            "end_ms_baseline",
            "threads_left_baseline",
            "connections_left_baseline",
        }
