"""Signals to members, sent to real processes below a supervisor."""

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from rocketdiff.core.arm import BASELINE, Arm
from rocketdiff.core.consuming.plan import MemberChange
from rocketdiff.core.consuming.watched import RESUME
from rocketdiff.process.threads import are_running, are_stopped
from rocketdiff.run.case.consuming.group_run import GroupRun
from rocketdiff.run.case.consuming.interruption import Interruption
from rocketdiff.subjects.subject_process import SubjectProcess
from tests.live import await_that
from tests.subjects.conftest import HELLO, Scripted
from tests.subjects.processes import gone

KILL, PAUSE = MemberChange.KILL, MemberChange.PAUSE


@pytest.fixture
def subject(tmp_path: Path) -> Iterator[SubjectProcess]:
    """A program with a child of its own."""
    script: list[list[Any]] = [["child"], ["say", HELLO], ["sleep", 60]]
    with SubjectProcess(Scripted(script), BASELINE, tmp_path, on_line=lambda _: None) as started:
        started.await_hello(60)
        yield started


def sent(subject: SubjectProcess, what: str) -> Interruption:
    """Send a signal and wait for its proof, or the end of its time."""
    made = Interruption(subject, what)
    made.send()
    await_that(made.is_decided)
    return made


def test_a_pause_is_proven_in_every_process_and_ends(subject: SubjectProcess) -> None:
    """The child of the program is stopped too; the supervisor is not."""
    processes = subject.processes()
    assert len(processes) == 2 and are_running(processes)
    assert sent(subject, PAUSE).proven_ns is not None
    assert are_stopped(processes) and are_running([subject.pid])
    assert sent(subject, RESUME).proven_ns is not None
    assert are_running(processes) and subject.broken is None


def test_a_pause_that_something_else_ended_is_not_proven_over(subject: SubjectProcess) -> None:
    """The member was not stopped all the time."""
    assert sent(subject, PAUSE).proven_ns is not None
    os.kill(subject.processes()[0], signal.SIGCONT)
    assert sent(subject, RESUME).proven_ns is None


def test_a_process_that_cannot_be_stopped_is_not_paused(
    subject: SubjectProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an effect there is no proof."""
    monkeypatch.setattr(subject, "signal", lambda *_: None)
    assert sent(subject, PAUSE).proven_ns is None


def test_a_paused_member_ends_with_its_case(subject: SubjectProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGKILL ends stopped processes."""
    sent(subject, PAUSE)
    processes = subject.processes()
    monkeypatch.setattr(subject, "_deadlines", cast(Any, type("Short", (), {"exit_s": 0.1})))
    subject.close()
    assert all(map(gone, processes))


def test_a_death_is_proven_by_its_status_and_its_connections(tmp_path: Path) -> None:
    """The program that holds a connection dies; a socket of another process is no part of it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        script: list[list[Any]] = [["connect", port], ["say", HELLO], ["sleep", 60]]
        with SubjectProcess(Scripted(script), BASELINE, tmp_path, on_line=lambda _: None) as subject:
            subject.await_hello(60)
            made = Interruption(subject, KILL)
            assert made._connections
            made.send()
            await_that(made.is_decided)
            assert made.proven_ns is not None and subject.is_killed and subject.broken is None


def test_a_death_of_another_kind_is_not_proven(subject: SubjectProcess) -> None:
    """A program that ended by itself just before was not killed."""
    made = Interruption(subject, KILL)
    made.within_ns = 300_000_000
    os.kill(subject.processes()[0], signal.SIGTERM)
    await_that(lambda: subject.end_status() is not None)
    made.send()
    await_that(made.is_decided)
    assert made.proven_ns is None


class Talk:
    """Keeps when it was paused."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def pause(self, now_ns: int) -> None:
        self.notes.append(f"pause {now_ns > 0}")

    def resume(self, now_ns: int) -> None:
        self.notes.append(f"resume {now_ns > 0}")


def test_a_group_wants_its_member_stopped_from_before_the_signal_until_after_it(subject: SubjectProcess) -> None:
    """The stall watch asks with the interval of its look, which may touch an end of the pause."""
    talk = Talk()
    group = GroupRun(Arm.BASELINE, {0: subject}, cast(Any, {0: talk}), cast(Any, None))
    begins = group.aim(0, PAUSE)
    assert begins is not None
    group.hold(0)
    begins.send()
    assert group.is_stop_wanted(0, begins.ordered_ns - 100, begins.ordered_ns)
    assert not group.is_stop_wanted(0, 0, begins.ordered_ns - 10**9)
    assert not group.is_stop_wanted(1, begins.ordered_ns, begins.ordered_ns)
    ends = group.aim(0, RESUME)
    assert ends is not None
    ends.send()
    group.release(0)
    assert group.is_stop_wanted(0, ends.ordered_ns, ends.ordered_ns + 10**9)
    assert not group.is_stop_wanted(0, ends.ordered_ns + 10**9, ends.ordered_ns + 2 * 10**9)
    assert talk.notes == ["pause True", "resume True"]
