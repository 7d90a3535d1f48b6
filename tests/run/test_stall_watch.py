"""Detection of a stopped process or child."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from rocketdiff.core.arm import BASELINE, CANDIDATE, Member
from rocketdiff.run.case.stall_watch import MeasuredStalls, StallWatch, is_stopped
from tests.live import await_that

PARENT = "import subprocess, sys; print(subprocess.Popen(['sleep', '60']).pid, flush=True); sys.stdin.read()"


@pytest.fixture
def parent() -> Iterator["subprocess.Popen[str]"]:
    """A process with one child; its process group is killed at the end."""
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as started:
        try:
            yield started
        finally:
            os.killpg(started.pid, signal.SIGKILL)


def child_of(parent: "subprocess.Popen[str]") -> int:
    assert parent.stdout is not None
    return int(parent.stdout.readline())


def test_a_stopped_child_is_a_stopped_subject(parent: "subprocess.Popen[str]") -> None:
    """A subject counts as stopped while its client, the supervisor's child, is stopped."""
    child = child_of(parent)
    assert not is_stopped(parent.pid)
    os.kill(child, signal.SIGSTOP)
    await_that(lambda: is_stopped(parent.pid))
    os.kill(child, signal.SIGCONT)
    await_that(lambda: not is_stopped(parent.pid))


def test_a_process_that_is_gone_is_not_stopped() -> None:
    """An ended process does not count as stopped."""
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    assert not is_stopped(gone.pid)


def test_the_watch_knows_which_arm_was_stopped(parent: "subprocess.Popen[str]") -> None:
    """Stopped time is measured per arm."""
    child = child_of(parent)
    with StallWatch({BASELINE: child, CANDIDATE: parent.pid}) as watch:
        os.kill(parent.pid, signal.SIGSTOP)
        await_that(lambda: watch.seen.stopped_ns[CANDIDATE] > 0)
    assert watch.seen.stopped_ns[BASELINE] == 0


def test_a_stop_that_the_scenario_wants_does_not_count(parent: "subprocess.Popen[str]") -> None:
    """The watch asks about the interval in which it looked."""
    asked: list[tuple[int, int]] = []

    def is_wanted(_member: Member, from_ns: int, to_ns: int) -> bool:
        asked.append((from_ns, to_ns))
        return True

    child_of(parent)
    with StallWatch({CANDIDATE: parent.pid}, is_wanted) as watch:
        os.kill(parent.pid, signal.SIGSTOP)
        await_that(lambda: len(asked) > 0)
    assert watch.seen.stopped_ns[CANDIDATE] == 0
    assert all(from_ns <= to_ns for from_ns, to_ns in asked)


def test_the_longest_gap_counts_and_none_is_none() -> None:
    """The longest gap is from due time to wake-up, and 0 without gaps."""
    assert MeasuredStalls().longest_gap_ns == 0
    assert MeasuredStalls(gaps=((0, 3), (10, 30), (40, 41))).longest_gap_ns == 20


@pytest.mark.parametrize(("sign_of_life", "left"), [(50, 0), (26, 0), (24, 100), (75, 100), (101, 100)])
def test_a_gap_in_whose_middle_a_subject_was_alive_is_the_runners_own(sign_of_life: int, left: int) -> None:
    """A gap is dropped if a subject acted in its middle half: only the runner waited."""
    assert MeasuredStalls(gaps=((0, 100),)).without([sign_of_life, 1_000]).longest_gap_ns == left
