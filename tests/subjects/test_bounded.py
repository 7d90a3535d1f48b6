"""Subjects that leave processes or never stop writing."""

from pathlib import Path

import pytest

from rocketdiff.subjects.sending.talk import SendingTalk
from tests.subjects.conftest import HELLO, Start, answer, attempt, done, plan_of, setup_of
from tests.subjects.driving import OPENING, broken, go
from tests.subjects.processes import gone


def test_a_daemon_does_not_outlive_a_good_subject(start: Start, tmp_path: Path) -> None:
    """A daemon, forked twice in its own session, ends with a valid subject."""
    file = tmp_path / "daemon"
    subject = start(*OPENING, ["daemon", str(file)], ["say", attempt(0)], ["say", answer(0)], ["say", done(1)])
    go(subject, 0)
    subject.await_done()
    daemon = int(file.read_text())
    assert not gone(daemon, within_s=0.0)
    subject.close()
    assert subject.broken is None
    assert gone(daemon)


@pytest.mark.parametrize("last", [["sleep", 60], ["exit", 0]], ids=["that is ended", "that exits"])
def test_a_daemon_does_not_outlive_a_broken_subject(start: Start, tmp_path: Path, last: list[object]) -> None:
    """A daemon ends with a broken subject."""
    file = tmp_path / "daemon"
    subject = start(["say", HELLO], ["daemon", str(file)], ["raw", "nonsense\n"], last)
    assert broken(lambda: subject.await_ready(60)).signature == "protocol.bad-line"
    subject.close()
    assert gone(int(file.read_text()))


def test_a_log_without_end_is_too_much(start: Start) -> None:
    """65 MiB on stderr are too-much, so no client fills the disk."""
    subject = start(["say", HELLO], ["complain", "x" * (1 << 16), 65 * 16], ["sleep", 60])
    fault = broken(lambda: subject.await_ready(60))
    assert fault.signature == "protocol.too-much"
    assert "bytes on its stderr" in str(fault)


def test_talk_without_end_is_too_much(start: Start) -> None:
    """Endless valid records of 0.5 MiB are too-much and end the journal."""
    lines: list[bytes] = []
    subject = start(["say", HELLO], ["await", "setup"], ["routes", 80, 1 << 19], ["sleep", 60], lines=lines)
    subject.await_hello()
    subject.prepare(SendingTalk(plan_of(0), setup_of()))
    fault = broken(lambda: subject.await_ready(60))
    assert fault.signature == "protocol.too-much"
    assert "bytes on its output" in str(fault)
    subject.close()
    assert 16 << 20 < sum(map(len, lines)) <= 33 << 20
