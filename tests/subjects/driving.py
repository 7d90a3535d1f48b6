"""The first stages with a scripted subject."""

import time
from collections.abc import Callable

import pytest

from rocketdiff.core.errors import SubjectBroken
from rocketdiff.subjects.sending.talk import SendingTalk
from rocketdiff.subjects.subject_process import SubjectProcess
from tests.subjects.conftest import HELLO, READY, plan_of, setup_of

OPENING = (["say", HELLO], ["await", "setup"], ["say", READY], ["await", "go"])


def go(subject: SubjectProcess, *threads: int, ahead_ns: int = 0) -> None:
    """Conversation up to go."""
    subject.await_hello()
    subject.prepare(SendingTalk(plan_of(*threads), setup_of(send_msg_timeout_ms=1, retry_times_when_send_failed=0)))
    subject.await_ready()
    subject.go(time.monotonic_ns() + ahead_ns)


def broken(wait: Callable[[], object]) -> SubjectBroken:
    """The error of this wait."""
    with pytest.raises(SubjectBroken) as raised:
        wait()
    return raised.value
