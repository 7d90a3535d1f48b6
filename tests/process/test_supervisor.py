"""No child survives the runner or the supervisor."""

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
    """Process ids of a runner, its supervisor and a subject that does not read."""
    command = [sys.executable, "-m", "tests.subjects.runner", str(tmp_path), json.dumps(DEAF)]
    runner = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
    assert runner.stdout is not None
    supervisor = json.loads(runner.stdout.readline())["supervisor"]
    try:
        yield runner.pid, supervisor, only_child(supervisor)
    finally:
        runner.kill()
        runner.wait()
        runner.stdout.close()


@pytest.mark.parametrize("is_stopped", [False, True])
def test_kill_9_of_the_runner_ends_the_subject(family: tuple[int, int, int], is_stopped: bool) -> None:
    """After ``kill -9`` of the runner the supervisor kills a subject that ignores the end of its input or is stopped."""
    runner, supervisor, subject = family
    if is_stopped:
        os.kill(subject, signal.SIGSTOP)
    os.kill(runner, signal.SIGKILL)
    assert gone(subject) and gone(supervisor)


def test_kill_9_of_the_supervisor_ends_the_subject(family: tuple[int, int, int]) -> None:
    """After ``kill -9`` of the supervisor the kernel kills the subject."""
    _, supervisor, subject = family
    os.kill(supervisor, signal.SIGKILL)
    assert gone(subject)


def test_scratch_is_removed_when_the_runner_is_killed_only(tmp_path: Path) -> None:
    """The supervisor removes scratch only after the runner's kill; a living runner reads it first."""
    program = (
        "import os, sys, tempfile, time; from pathlib import Path; from rocketdiff.process.child import Child\n"
        "command = [sys.executable, '-I', '-S', '-c', sys.argv[2]]\n"
        "child = Child(command, stderr=tempfile.TemporaryFile(), environment=os.environ, scratch=Path(sys.argv[1]))\n"
        "print(child.pid, flush=True); time.sleep(float(sys.argv[3])); child.close()"
    )
    for name, lasts, is_killed in (("ended", "", False), ("killed", "import time; time.sleep(60)", True)):
        (tmp_path / name).mkdir()
        command = [sys.executable, "-c", program, str(tmp_path / name), lasts, "60" if is_killed else "0.2"]
        runner = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
        assert runner.stdout is not None
        with runner.stdout:
            supervisor = int(runner.stdout.readline())
        if is_killed:
            runner.kill()
        runner.wait()
        assert gone(supervisor)
    assert [path.name for path in tmp_path.iterdir()] == ["ended"]
