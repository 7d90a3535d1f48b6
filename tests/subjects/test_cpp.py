"""The C++ client's process: who it says it is, what it can do, and that a crash in native code is a result."""

import os
import signal
from pathlib import Path

import pytest

from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.events import Arm
from rocketdiff.core.resources import import_path
from rocketdiff.core.subject import SubjectId
from rocketdiff.subjects.registry import program_of
from rocketdiff.subjects.subject_process import SubjectProcess

NAME = SubjectId("cpp", "2.1.0")


def test_it_says_what_it_is_and_how_little_it_can_do(tmp_path: Path) -> None:
    """The release is the loaded library's own word; no hook, no routes, two modes of sending."""
    with SubjectProcess(program_of(NAME), Arm.CANDIDATE, tmp_path / "subject", on_line=lambda _: None) as subject:
        hello = subject.await_hello()
    assert (hello.client, hello.version) == ("cpp", "2.1.0")
    assert hello.capabilities == ("plain", "selector", "oneway", "acl", "setting:send_msg_timeout_ms")


def test_a_crash_in_native_code_is_a_result(tmp_path: Path) -> None:
    """The runner lives on and knows by what the process ended."""
    with SubjectProcess(program_of(NAME), Arm.CANDIDATE, tmp_path / "subject", on_line=lambda _: None) as subject:
        os.kill(subject.await_hello().pid, signal.SIGSEGV)
        with pytest.raises(SubjectBroken) as raised:
            subject.await_ready(20)
    assert raised.value.signature == "protocol.died"
    assert "SIGSEGV" in raised.value.seen
    assert "Fatal Python error: Segmentation fault" in (tmp_path / "subject" / "stderr.log").read_text()


def test_nothing_of_the_runners_python_is_inherited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own packages are found, by path; everything else is the environment's."""
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    launch = program_of(NAME).launch(tmp_path)
    assert launch.environment["PYTHONPATH"] == import_path()
    assert Path(launch.command[0]).parent.parent.name == "env"
