"""CI starts a container engine if it can, and ends only what it started."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The scripts in a tree where every program they call is a stub."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / "tmp").mkdir()
    for name in ("run", "engine"):
        shutil.copy(ROOT / ".ci" / name, tmp_path / ".ci" / name)
    for name in ("chromium", "javac", "debootstrap", "docker", "dockerd"):
        program(tmp_path / "bin" / name, "exit 0")
    program(tmp_path / "bin" / "id", "echo 0")
    program(tmp_path / "bin" / "make", 'echo "$1 ${ROCKETDIFF_EXPECT_ENGINE:-unset}"')
    program(tmp_path / "docker" / "base.sh", "exit 0")
    return tmp_path


def call(clone: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    known = {name: value for name, value in os.environ.items() if name != "ROCKETDIFF_EXPECT_ENGINE"}
    environment = {**known, "PATH": f"{clone / 'bin'}:{os.environ['PATH']}", "TMPDIR": str(clone / "tmp")}
    return subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True, check=False, timeout=600)


@pytest.mark.parametrize(
    ("base_image", "expected", "error"), [("exit 0", "1", ""), ("exit 1", "unset", "no containers: no base image")]
)
def test_the_tests_expect_an_engine_where_one_runs(clone: Path, base_image: str, expected: str, error: str) -> None:
    """With an engine CI makes the tests expect it, so that none is skipped; without one it continues and states so."""
    program(clone / "docker" / "base.sh", base_image)
    done = call(clone, ".ci/run")
    assert (done.returncode, done.stdout.splitlines()) == (0, ["setup unset", f"test {expected}"]), done.stderr
    assert error in done.stderr


def test_a_failed_engine_leaves_no_log_file(clone: Path) -> None:
    """An engine that does not start leaves no log file; its end is printed."""
    program(clone / "bin" / "docker", "exit 1")
    program(clone / "bin" / "dockerd", "echo it is broken; exit 1")
    done = call(clone, ".ci/engine", str(clone / "pid"))
    assert done.returncode == 1
    assert "it is broken" in done.stderr
    assert list((clone / "tmp").iterdir()) == []


def test_ci_waits_for_a_stopping_engine(clone: Path) -> None:
    """CI waits for a stopping engine to end, because a second one would not start beside it."""
    program(clone / "bin" / "docker", f"test -e {clone / 'up'}")
    refusal = "failed to start daemon: pid file found, ensure docker is not running"
    program(
        clone / "bin" / "dockerd",
        f"if mkdir {clone / 'gone'} 2>/dev/null; then echo '{refusal}'; exit 1; fi; touch {clone / 'up'}; exec sleep 60",
    )
    done = call(clone, ".ci/engine", str(clone / "pid"))
    try:
        assert done.returncode == 0, done.stderr
    finally:
        os.kill(int((clone / "pid").read_text()), signal.SIGKILL)


def test_a_started_engine_ends_with_ci(clone: Path) -> None:
    """A started engine has ended when CI ends, so that the next run does not meet it."""
    program(clone / "bin" / "docker", f"test -e {clone / 'up'}")
    program(
        clone / "bin" / "dockerd",
        f"trap 'sleep 1; touch {clone / 'ended'}; exit' TERM; touch {clone / 'up'}; while :; do sleep 0.1; done",
    )
    done = call(clone, ".ci/run")
    assert done.stdout.splitlines() == ["setup unset", "test 1"], done.stderr
    assert (clone / "ended").exists()


def test_another_process_with_the_engines_pid_is_not_stopped(clone: Path) -> None:
    """CI does not stop a process that only has the ended engine's process id."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as other:
        try:
            program(clone / ".ci" / "engine", f'echo {other.pid} >"$1"')
            call(clone, ".ci/run")
            with pytest.raises(subprocess.TimeoutExpired):
                other.wait(1)
        finally:
            other.kill()
