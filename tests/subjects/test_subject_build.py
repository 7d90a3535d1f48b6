"""--build builds a subject before its first start."""

import json
import time
from pathlib import Path

import pytest

from rocketdiff.cli.app import guarded
from rocketdiff.core.errors import EnvironmentMissing, ExitCode, UsageError
from rocketdiff.subjects.own.subject_build import build_all
from tests.live import await_that
from tests.subjects.conftest import HELLO
from tests.subjects.processes import processes_with, program


def described(folder: Path, build: str) -> Path:
    """A subject file whose build is a shell script."""
    program(folder / "make.sh", build)
    file = folder / "subject.yaml"
    file.write_text("format: 1\ncommand: [./driver]\nbuild: [./make.sh]\n")
    return file


def test_a_program_is_built_in_its_folder_before_its_first_start(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A program is built in its folder; the build's output is on stderr."""
    (tmp_path / "driver.in").write_text(f"#!/bin/sh\necho '{json.dumps({**HELLO, 'client': 'made'})}'\nread -r line\n")
    file = described(tmp_path, "echo making it; cp driver.in driver; chmod +x driver")
    run = ["run", "--scenario", "no/such", "--subject", "java:5.3.3", "--subject", f"mine={file}"]
    assert guarded(run) == ExitCode.USAGE
    assert "driver; saw no such file" in capfd.readouterr().err
    assert guarded([*run, "--build"]) == ExitCode.USAGE
    reported = capfd.readouterr()
    assert "making it" in reported.err
    assert "a glob that matches a scenario" in reported.err
    assert reported.out == ""


def test_a_build_that_fails_is_exit_code_69(tmp_path: Path) -> None:
    """A failed build has exit code 69, which is 125 for git bisect run."""
    with pytest.raises(EnvironmentMissing, match=r"make\.sh, to succeed; saw status 3"):
        build_all([described(tmp_path, "exit 3")])


def test_processes_left_by_a_build_are_ended(tmp_path: Path) -> None:
    """Processes that a build leaves, such as compiler servers, are ended."""
    mark = f"left-{time.monotonic_ns()}"
    program(tmp_path / mark, "sleep 600")
    build_all([described(tmp_path, f"./{mark} > /dev/null 2>&1 &")])
    await_that(lambda: not processes_with(mark), "what the build left to be gone")
    assert not processes_with(mark)


def test_to_build_without_a_build_is_refused(tmp_path: Path) -> None:
    """--build without a build command is refused, because an old program would run."""
    file = tmp_path / "subject.yaml"
    file.write_text("format: 1\ncommand: [./driver]\n")
    with pytest.raises(UsageError, match="a subject file with build"):
        build_all([file])
