"""Lives in processes of their own, by a member that says what the test tells it to."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rocketdiff.core.consuming.plan import Allocation, ListenerKind, MessageModel
from rocketdiff.core.records.consuming import Consumed, Received
from rocketdiff.core.records.received import Record
from rocketdiff.drivers.python.consuming import own_process
from rocketdiff.drivers.python.consuming.own_process import OwnProcesses
from rocketdiff.drivers.python.consuming.runner import DiedError
from rocketdiff.protocol.consuming import MemberSetup

MEMBER = """\
import json, os, signal, sys, time
def report(**record): os.write(1, json.dumps(record).encode() + b"\\n")
def now(): return time.monotonic_ns()
message = {"offset": 0, "times": 0, "store_ms": 1, "body_ok": True}
place = {"thread": 0, "topic": "T", "broker": "broker-a", "queue_id": 0}
report(type="hello", protocol=1, client="x", version="1", capabilities=[], pid=1, clock_ns=now(), roles=["consumer"])
for line in sys.stdin:
    command = json.loads(line)
    if command["type"] == "setup":
        calls = 8 if command["topic"] == "W" else 2
        report(type="ready", clock_ns=now())
    elif command["type"] == "join":
        report(type="joined", incarnation=1, start_ns=now(), end_ns=now())
        for call in range(calls):
            report(type="received", call=call, incarnation=1, at_ns=now(), messages=[message], **place)
            report(type="consumed", call=call, at_ns=now(), result="success")
        if "EARLY" in sys.argv and calls == 2: os.kill(os.getpid(), signal.SIGABRT)
    elif "LEFT" in sys.argv:
        report(type="left", incarnation=1, start_ns=now(), end_ns=now())
        report(type="done", calls=calls)
    else:
        os.kill(os.getpid(), signal.SIGSEGV)
"""

SETUP = MemberSetup(
    0, "m0", (), "T", "W", "G", "G-w", "R", ListenerKind.CONCURRENT, MessageModel.CLUSTERING, Allocation.AVG, 0, (8,), {}, {}
)  # fmt: skip


@pytest.fixture
def member(tmp_path: Path) -> Callable[..., tuple[str, ...]]:
    (tmp_path / "member.py").write_text(MEMBER)
    return lambda *how: (sys.executable, str(tmp_path / "member.py"), *how)


def test_calls_are_counted_on_from_life_to_life(member: Callable[..., tuple[str, ...]]) -> None:
    """Each life has its incarnation; its death in its shutdown is named by the signal."""
    heard: list[Record] = []
    lives = OwnProcesses(member(), heard.append)
    lives.prepare(SETUP, ())
    for incarnation in (1, 2):
        life = lives.begin(incarnation)
        life.start()
        with pytest.raises(DiedError, match="SIGSEGV"):
            life.shutdown()
    lives.close()
    received = [(each.call, each.incarnation) for each in heard if isinstance(each, Received)]
    assert received == [(0, 1), (1, 1), (2, 2), (3, 2)]
    assert [each.call for each in heard if isinstance(each, Consumed)] == [0, 1, 2, 3]
    assert lives.await_calls() == 4


def test_a_member_that_leaves_as_it_should_has_left(member: Callable[..., tuple[str, ...]]) -> None:
    """Nothing is raised."""
    lives = OwnProcesses(member("LEFT"), lambda _record: None)
    lives.prepare(SETUP, ())
    life = lives.begin(1)
    life.start()
    life.shutdown()
    lives.close()
    assert lives.await_calls() == 2


def test_a_death_before_the_leave_is_that_of_the_member(
    member: Callable[..., tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends by the same signal, which the runner reports."""
    died: list[int] = []
    monkeypatch.setattr(own_process, "_die_of", died.append)
    lives = OwnProcesses(member("EARLY"), lambda _record: None)
    lives.prepare(SETUP, ())
    life = lives.begin(1)
    life.start()
    assert life.await_end(5)
    lives.close()
    assert died == [-6]
