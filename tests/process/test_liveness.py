"""Whether a process lives; one that /proc hides counts as living."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rocketdiff.process.liveness import is_there, started_ticks

NOBODY = 65_534
NO_SUCH_PROCESS = 999_999_999
"""Above Linux's largest process id (2^22)."""

MAY_NOT_MOUNT = 99


@pytest.fixture
def hidden(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> int:
    """Another user's process as /proc with hidepid and kill(2) show it."""

    def read(self: Path) -> str:
        raise request.param(13, "not shown", str(self))

    def kill(_pid: int, _signal: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "read_text", read)
    monkeypatch.setattr(os, "kill", kill)
    return 4711


def test_our_own_process_is_there_since_it_was_started() -> None:
    """This process lives and started no earlier than its parent."""
    own, parent = started_ticks(os.getpid()), started_ticks(os.getppid())
    assert own is not None
    assert parent is None or 0 <= parent <= own
    assert is_there(os.getpid())


def test_a_process_that_ended_is_not_there() -> None:
    """An ended process is gone after its parent's wait."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert started_ticks(child.pid) is None
    assert not is_there(child.pid)


@pytest.mark.parametrize("pid", [NO_SUCH_PROCESS, 10**14, 0, -1])
def test_a_number_that_no_process_can_have_is_none(pid: int) -> None:
    """An impossible process id is no process, even if kill(2) takes it for a process group."""
    assert started_ticks(pid) is None
    assert not is_there(pid)


@pytest.mark.parametrize("hidden", [PermissionError, FileNotFoundError], indirect=True)
def test_a_process_that_is_not_shown_is_there_all_the_same(hidden: int) -> None:
    """A hidden process lives: hidepid=1 forbids reading, hidepid=2 hides the entry."""
    assert started_ticks(hidden) is None
    assert is_there(hidden)


@pytest.mark.parametrize("hidepid", [1, 2])
def test_a_real_proc_that_hides_others(hidepid: int) -> None:
    """Under a real hidepid /proc an unprivileged user sees a root process as living."""
    asked = (
        "import json, os; from rocketdiff.process.liveness import *;"
        f"os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY});"
        f"print(json.dumps([started_ticks(1), is_there(1), started_ticks(os.getpid()) is None, is_there({NO_SUCH_PROCESS})]))"
    )
    inside = f'mount -t proc -o hidepid={hidepid} proc /proc || exit {MAY_NOT_MOUNT}; "$0" -c "$1"; exit $?'
    unshared = ["unshare", "--mount", "--pid", "--fork", "sh", "-c", inside, sys.executable, asked]
    try:
        done = subprocess.run(unshared, capture_output=True, text=True, check=False, timeout=300)
    except FileNotFoundError:
        pytest.skip("no unshare here")
    if done.returncode == MAY_NOT_MOUNT or done.stderr.startswith("unshare: "):
        pytest.skip(f"may not mount a /proc: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [None, True, False, False]
