"""A reader that goes away early does not change a command's exit code."""

import json
import subprocess
import sys
from collections.abc import Container
from pathlib import Path

import pytest

from rocketdiff.core.errors import ExitCode

OLDER_RUN = Path(__file__).parents[1] / "older_run"
START = "import sys; from rocketdiff.cli.pipes import outlive_readers; outlive_readers()"


def code_without_reader(streams: Container[str], *command: str) -> int:
    """Exit code if nobody reads stdout, stderr or both."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for name, pipe in (("stdout", process.stdout), ("stderr", process.stderr)):
        if pipe is not None and name in streams:
            pipe.close()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None and not pipe.closed:
            pipe.read()
            pipe.close()
    return process.wait(timeout=120)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_program_without_a_reader_ends_with_its_own_code(stream: str) -> None:
    """A program without a reader keeps its exit code, however it writes."""
    writes = f"[print('x' * 9999, file=sys.{stream}) for _ in range(99)]; sys.{stream}.flush(); print('y', file=sys.{stream})"
    command = (sys.executable, "-c", f"{START}; {writes}; sys.exit(7)")
    assert code_without_reader([stream], *command) == 7


@pytest.mark.parametrize(
    ("stream", "arguments", "code"),
    [
        pytest.param("stdout", ["scenarios"], 0, id="a list"),
        pytest.param("stdout", ["--help"], 0, id="help"),
        pytest.param(
            "stdout", ["simulate", "--subject", "python:4.7.1", "--scenario", "round-robin/calm"], 0, id="answers"
        ),
        pytest.param("stderr", ["scenarios", "--suite", "nope"], 4, id="a refusal"),
    ],
)
def test_a_command_without_a_reader_ends_with_its_own_code(stream: str, arguments: list[str], code: int) -> None:
    """Commands keep their exit code without a reader, as in `rocketdiff scenarios | head -1`."""
    assert code_without_reader([stream], sys.executable, "-m", "rocketdiff", *arguments) == code


def test_a_verdict_without_a_reader_is_still_the_exit_code(tmp_path: Path) -> None:
    """A verdict without a reader is still the exit code, as in `rocketdiff analyze RUN 2>&1 | head`."""
    arguments = ["analyze", str(OLDER_RUN), "--out", str(tmp_path), "--master", "none"]
    code = code_without_reader(["stdout", "stderr"], sys.executable, "-m", "rocketdiff", *arguments)
    report = json.loads((tmp_path / "report.json").read_bytes())
    assert (report["verdict"], code) == ("diverges", ExitCode.DIVERGES)
