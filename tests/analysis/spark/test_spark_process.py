"""Spark's JVM, here a shell script, ends with its owner."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from rocketdiff.analysis.spark.process import PREFIX, SparkProcess, take_folder
from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.core.resources import import_path
from tests.live import PATIENCE_S, await_that

STAND_IN = """#!/bin/sh
# As Spark's daemon of Python workers: a child in a session of its own.
setsid sleep 300 &
echo $$ $! > "{reported}"
{then}
"""

IT_SLEEPS = "exec sleep 300"
"""In its own process: a shell that is stopped while it starts another waits for that one (state D) and is not stopped itself."""

Start = Callable[[], SparkProcess]

OWNER = (
    "from rocketdiff.analysis.spark.process import *; import time; p = SparkProcess([], take_folder()); time.sleep(300)"
)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def start(temporary: Path) -> Iterator[Start]:
    """Starts a process, which ends with the test."""
    with ExitStack() as stack:

        def started() -> SparkProcess:
            process = SparkProcess([], take_folder())
            stack.callback(process.end)
            return process

        yield started


def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, then: str) -> Path:
    """A stand-in of spark-submit that writes the process ids of itself and its child."""
    submit, reported = tmp_path / "bin" / "spark-submit", tmp_path / "reported"
    submit.parent.mkdir()
    submit.write_text(STAND_IN.format(reported=reported, then=then))
    submit.chmod(0o755)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    return reported


def reported_pids(reported: Path) -> list[int]:
    """Wait for the process ids."""
    await_that(lambda: reported.exists() and reported.read_text().endswith("\n"), "the stand-in's start")
    return list(map(int, reported.read_text().split()))


def living(pids: list[int]) -> list[int]:
    """Processes that still run after PATIENCE_S."""
    deadline = time.monotonic() + PATIENCE_S
    while found := [pid for pid in pids if Path(f"/proc/{pid}/cmdline").exists()]:
        if time.monotonic() > deadline:
            return found
        time.sleep(0.02)
    return []


def test_its_end_leaves_no_process_and_no_file(
    tmp_path: Path, temporary: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end leaves no process, not even a child in its own session, and no file."""
    reported = stand_in(tmp_path, monkeypatch, IT_SLEEPS)
    process = start()
    pids = reported_pids(reported)
    process.end()
    assert living(pids) == []
    assert list(temporary.iterdir()) == []


def test_kill_9_of_its_owner_leaves_nothing_either(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After SIGKILL of the owner the supervisor ends all processes and removes the folder."""
    reported = stand_in(tmp_path, monkeypatch, IT_SLEEPS)
    environment = os.environ | {"PYTHONPATH": import_path()}
    with subprocess.Popen([sys.executable, "-c", OWNER], env=environment) as owner:
        try:
            pids = reported_pids(reported)
        finally:
            owner.kill()
    assert living(pids) == []
    await_that(lambda: not list(temporary.iterdir()), "an empty folder")
    assert list(temporary.iterdir()) == []


def test_one_that_is_stopped_takes_no_processor_and_ends_with_its_owner(
    tmp_path: Path, temporary: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stopped JVM and its child can be resumed, and end with their owner even while stopped."""
    reported = stand_in(tmp_path, monkeypatch, IT_SLEEPS)
    process = start()
    pids = reported_pids(reported)
    process.pause()
    assert await_state(pids, "T") == "T" * len(pids)
    process.go_on()
    assert await_state(pids, "S") == "S" * len(pids)
    process.pause()
    process.end()
    assert living(pids) == []


def await_state(pids: list[int], wanted: str) -> str:
    """Process states, after waiting: a signal takes effect when the process is next scheduled."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        states = "".join(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] for pid in pids)
        if set(states) == {wanted} or time.monotonic() > deadline:
            return states
        time.sleep(0.02)


def test_the_error_has_the_reason_of_a_process_that_ended(
    tmp_path: Path, temporary: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A JVM that exits is reported with its last output and status."""
    stand_in(tmp_path, monkeypatch, "echo no such module >&2; exit 3")
    process = start()
    with pytest.raises(EnvironmentMissing, match="no such module"):
        process.connection()
    assert process.how_it_ended() == "it exited with status 3"


def test_the_error_names_the_signal_of_a_killed_process(
    tmp_path: Path, temporary: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A JVM ended by SIGKILL is reported with the signal."""
    reported = stand_in(tmp_path, monkeypatch, IT_SLEEPS)
    process = start()
    os.kill(reported_pids(reported)[0], signal.SIGKILL)
    assert process.has_ended(PATIENCE_S)
    assert process.how_it_ended() == "it was ended by SIGKILL"


def test_folders_of_dead_owners_are_removed_and_of_living_ones_kept(temporary: Path) -> None:
    """A dead owner's folder is removed; one with a held lock, or no lock yet, is kept."""
    mine, left, new = take_folder(), temporary / f"{PREFIX}left", temporary / f"{PREFIX}new"
    left.mkdir()
    (left / "lock").touch()
    new.mkdir()
    another = take_folder()
    assert sorted(temporary.iterdir()) == sorted([mine, new, another])
