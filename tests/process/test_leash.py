"""Nothing survives the runner, however it goes, and nothing survives the leash."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.subjects.conftest import HELLO
from tests.subjects.processes import gone, only_child

ROOT = Path(__file__).parents[2]

DEAF = [["say", HELLO], ["sleep", 60]]


@pytest.fixture
def family(tmp_path: Path) -> Iterator[tuple[int, int, int]]:
    """Process ids of a runner, its leash and a subject that does not listen."""
    command = [sys.executable, "-m", "tests.subjects.runner", str(tmp_path), json.dumps(DEAF)]
    runner = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
    assert runner.stdout is not None
    leash = json.loads(runner.stdout.readline())["leash"]
    try:
        yield runner.pid, leash, only_child(leash)
    finally:
        runner.kill()
        runner.wait()
        runner.stdout.close()


def test_kill_9_of_the_runner_ends_the_subject(family: tuple[int, int, int]) -> None:
    """The life line breaks; a subject that ignores the end of its input goes all the same."""
    runner, leash, subject = family
    os.kill(runner, signal.SIGKILL)
    assert gone(subject) and gone(leash)


def test_kill_9_of_the_runner_ends_a_stopped_subject(family: tuple[int, int, int]) -> None:
    """A frozen process cannot read, but it can be killed."""
    runner, _, subject = family
    os.kill(subject, signal.SIGSTOP)
    os.kill(runner, signal.SIGKILL)
    assert gone(subject)


def test_kill_9_of_the_leash_ends_the_subject(family: tuple[int, int, int]) -> None:
    """The kernel sends the parent death signal."""
    _, leash, subject = family
    os.kill(leash, signal.SIGKILL)
    assert gone(subject)
