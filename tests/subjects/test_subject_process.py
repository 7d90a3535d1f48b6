"""A subject as a child process: every way in which it can fail."""

import signal
from pathlib import Path

import pytest

from rocketdiff.core.arm import BASELINE, CANDIDATE
from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.core.records.consuming import Left
from rocketdiff.core.subject import SubjectId
from rocketdiff.subjects.consuming.limits import MemberLimits
from rocketdiff.subjects.consuming.talk import ConsumingTalk
from rocketdiff.subjects.conversation import Stage
from rocketdiff.subjects.program import Launch
from rocketdiff.subjects.sending.talk import SendingTalk
from rocketdiff.subjects.subject_process import SubjectProcess
from tests.live import await_that
from tests.protocol.test_commands import MEMBER, RULE
from tests.subjects.conftest import HELLO, READY, Scripted, Start, answer, attempt, done, plan_of, setup_of
from tests.subjects.driving import OPENING, broken, go
from tests.subjects.processes import gone, only_child


def test_a_good_subject_is_heard_to_the_end(start: Start) -> None:
    """A valid subject's transcript and journal are complete."""
    lines: list[bytes] = []
    subject = start(
        *OPENING, ["say", attempt(0)], ["say", answer(0)], ["say", answer(1)], ["say", done(2)], lines=lines
    )
    go(subject, 0, 0)
    transcript = subject.await_done()
    assert [send.send for send in transcript.sends] == [0, 1]
    assert len(transcript.attempts) == 1
    assert subject.is_over and subject.broken is None and subject.ended == 2
    assert len(lines) == 6 and all(not line.endswith(b"\n") for line in lines)


@pytest.mark.parametrize(
    ("step", "signature"),
    [
        pytest.param(["raw", "who is there?\n"], "bad-line", id="no record"),
        pytest.param(["say", {"type": "greeting"}], "unknown-record", id="of a later protocol"),
    ],
)
def test_a_line_is_journalled_before_it_is_judged(start: Start, step: list[object], signature: str) -> None:
    """A broken subject's journal includes the line that broke it, no record or an unknown one."""
    lines: list[bytes] = []
    subject = start(["say", HELLO], step, lines=lines)
    assert broken(lambda: subject.await_ready(60)).signature == f"protocol.{signature}"
    assert len(lines) == 2


def test_a_violation_ends_the_subject(start: Start) -> None:
    """A violation ends the subject without stop."""
    subject = start(*OPENING, ["say", answer(0)], ["say", answer(0)], ["sleep", 60])
    go(subject, 0, 0)
    assert broken(subject.await_done).signature == "protocol.answered-twice"
    subject.close()
    assert subject._process.await_end(0)


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([["complain", "cannot find my shoes\n"], ["exit", 3]], ("status 3", "cannot find my shoes")),
        ([["child"], ["exit", 7]], ("status 7",)),
        ([["close"], ["sleep", 60]], ("closed its output",)),
    ],
    ids=["an exit", "an exit while a child keeps the pipe", "a closed output"],
)
def test_an_end_is_stated_in_words(start: Start, steps: list[list[object]], words: tuple[str, ...]) -> None:
    """An exit is reported with status and last stderr line; a subject that closes its output is ended as dead."""
    subject = start(["say", HELLO], *steps)
    fault = broken(lambda: subject.await_ready(60))
    assert fault.signature == "protocol.died"
    assert [word for word in words if word not in str(fault)] == []


def test_a_death_by_signal_has_its_name(start: Start) -> None:
    """A death by signal is reported with its name and the answered sends."""
    subject = start(*OPENING, ["say", answer(0)], ["die", signal.SIGSEGV])
    go(subject, 0, 0)
    fault = broken(subject.await_done)
    assert fault.signature == "protocol.died"
    assert "SIGSEGV" in str(fault) and "1 sends answered" in str(fault)


def test_a_program_that_cannot_be_started_has_died(tmp_path: Path) -> None:
    """A program that cannot be started has died."""

    class Missing(Scripted):
        def launch(self, folder: Path) -> Launch:
            return Launch((str(folder / "no-such-program"),), {})

    with SubjectProcess(Missing([]), BASELINE, tmp_path, on_line=lambda _: None) as subject:
        assert "no-such-program" in str(broken(subject.await_hello))


def test_a_late_ready_is_a_stall(start: Start) -> None:
    """A late ready is a stall, counted from setup."""
    subject = start(["say", HELLO], ["await", "setup"], ["sleep", 60], ready_s=0.2)
    subject.await_hello()
    subject.prepare(SendingTalk(plan_of(0), setup_of()))
    assert broken(subject.await_ready).signature == "protocol.stalled"


@pytest.mark.parametrize(
    ("steps", "deadlines", "message"),
    [
        pytest.param([["say", answer(0)]], {"margin_s": -3.0}, "send 1 of thread 0", id="a send"),
        pytest.param([["say", answer(0)], ["say", answer(1)]], {"done_s": 0.2}, "done", id="done"),
    ],
)
def test_a_send_or_done_without_end_is_a_stall(
    start: Start, steps: list[list[object]], deadlines: dict[str, float], message: str
) -> None:
    """A send longer than its settings explain, here 6 s, plus a margin, and a missing done are stalls."""
    subject = start(*OPENING, *steps, ["sleep", 60], **deadlines)
    go(subject, 0, 0)
    fault = broken(subject.await_done)
    assert fault.signature == "protocol.stalled" and message in str(fault)


def test_a_stopped_subject_stalls(start: Start) -> None:
    """A subject stopped by SIGSTOP is a stall and is ended."""
    subject = start(["die", signal.SIGSTOP], hello_s=0.3)
    assert broken(subject.await_hello).signature == "protocol.stalled"
    subject.close()
    assert subject._process.await_end(0)


def test_a_subject_that_does_not_read_stalls(start: Start) -> None:
    """A subject that does not read a plan over 64 KiB, the pipe's size, is a stall."""
    subject = start(["say", HELLO], ["sleep", 60], read_s=0.2)
    subject.await_hello()
    subject.prepare(SendingTalk(plan_of(*[0] * 2_000), setup_of()))
    assert subject.broken is not None and subject.broken.signature == "protocol.stalled"


def test_a_deadline_of_the_caller_holds_too(start: Start) -> None:
    """await_done also obeys its caller's shorter deadline."""
    subject = start(*OPENING, ["sleep", 60])
    go(subject, 0)
    assert broken(lambda: subject.await_done(0.1)).signature == "protocol.stalled"


def test_a_line_without_end_is_refused(start: Start) -> None:
    """A line over 1 MiB is refused, so it does not fill the memory."""
    subject = start(["raw", "x", 1_100_000], ["sleep", 60])
    assert broken(subject.await_hello).signature == "protocol.bad-line"


def test_a_journal_that_cannot_be_written_is_our_error(tmp_path: Path) -> None:
    """A journal that cannot be written is an environment error, not a broken subject."""
    full = EnvironmentMissing("room on the disk", seen="none")

    def refuse(line: bytes) -> None:
        raise full

    with SubjectProcess(Scripted([["say", HELLO]]), BASELINE, tmp_path, on_line=refuse) as subject:
        with pytest.raises(EnvironmentMissing):
            subject.await_hello(60)
        assert subject.broken is None and subject.is_over


def test_two_subjects_do_not_wait_for_each_other(start: Start) -> None:
    """A subject's death is detected while another is silent."""
    silent = start(["sleep", 60])
    dead = start(["exit", 1], member=CANDIDATE)
    await_that(lambda: dead.broken is not None, "the other's death")
    assert dead.broken is not None and dead.broken.signature == "protocol.died"
    assert silent.broken is None


def test_close_ends_a_subject_that_does_not_listen(start: Start) -> None:
    """close() sends stop, then kills the subject and the processes it left."""
    subject = start(["child"], ["say", HELLO], ["sleep", 60], exit_s=0.2)
    subject.await_hello()
    parent = only_child(subject._process.pid)
    left_behind = only_child(parent)
    subject.close()
    assert gone(parent) and gone(left_behind)


def test_a_stopped_subject_is_not_broken(start: Start) -> None:
    """A subject that ends after stop is not broken."""
    subject = start(["say", HELLO])
    subject.await_hello()
    subject.close()
    subject.close()
    assert subject.broken is None and subject.stage is Stage.HELLO


def test_another_name_than_the_programs_is_noticed(tmp_path: Path) -> None:
    """A hello with another name than the started program's is wrong-subject."""
    impostor = Scripted([["say", HELLO]], SubjectId("java", "5.3.3"))
    with SubjectProcess(impostor, BASELINE, tmp_path, on_line=lambda _: None) as subject:
        assert broken(lambda: subject.await_hello(60)).signature == "protocol.wrong-subject"


JOINED = {"type": "joined", "incarnation": 1, "start_ns": "@now", "end_ns": "@now", "client_id": "1@b-m0"}
CALL = {
    "type": "received", "call": 0, "incarnation": 1, "thread": 0, "at_ns": "@now", "topic": "T", "broker": "a",
    "queue_id": 0, "messages": [{"offset": 0, "times": 0, "store_ms": 1, "body_ok": True}],
}  # fmt: skip


def joined(start: Start, *then: list[object]) -> tuple[SubjectProcess, ConsumingTalk]:
    """A member in its first call."""
    consumer = {**HELLO, "roles": ["consumer"]}
    opening = (["say", consumer], ["await", "rule"], ["await", "setup"], ["say", READY], ["await", "join"])
    subject = start(*opening, ["say", JOINED], ["say", CALL], *then)
    talk = ConsumingTalk(MEMBER, [RULE], MemberLimits())
    subject.await_hello()
    subject.prepare(talk)
    subject.await_ready()
    subject.order(lambda: talk.join(0, 0))
    assert subject.await_that(lambda: talk.joined is not None, 60)
    return subject, talk


def test_a_member_that_dies_in_a_call_is_broken(start: Start) -> None:
    """Orders reach a member after ready; its death names the open calls."""
    subject, talk = joined(start, ["exit", 3])
    died = broken(lambda: subject.await_that(lambda: talk.has_left, 60))
    assert died.signature == "protocol.died"
    assert "status 3" in died.seen and "0 calls ended, 1 open" in died.seen


def test_a_member_that_the_scenario_kills_is_not_broken(start: Start) -> None:
    """Its call stays open; nothing more is awaited of it, and its supervisor passes on the signal."""
    subject, talk = joined(start, ["sleep", 60])
    assert not subject.is_over and subject.end_status() is None
    subject.signal(signal.SIGKILL, subject.processes())
    await_that(lambda: subject.end_status() == -signal.SIGKILL)
    assert (subject.is_killed, subject.is_over) == (True, True)
    assert not subject.await_that(lambda: talk.has_left, 60)
    assert not subject.await_done(60).others.get(Left)
    assert not subject.stop()
    subject.close()
    assert subject.broken is None and talk.ended == 0
