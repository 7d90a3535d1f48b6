"""The C++ client's process: hello, capabilities, and a native crash."""

import os
import signal
from pathlib import Path

import pytest

from rocketdiff.core.arm import CANDIDATE
from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.resources import import_path
from rocketdiff.core.subject import SubjectId
from rocketdiff.subjects.cpp_members import MEMBER_CLAIMS
from rocketdiff.subjects.registry import program_of
from rocketdiff.subjects.subject_process import SubjectProcess

NAME = SubjectId("cpp", "2.1.0")


def test_its_hello_has_its_name_and_few_capabilities(tmp_path: Path) -> None:
    """The hello has the loaded library's release; there are no hooks, no routes and two modes."""
    with SubjectProcess(program_of(NAME), CANDIDATE, tmp_path / "subject", on_line=lambda _: None) as subject:
        hello = subject.await_hello()
    assert (hello.client, hello.version) == ("cpp", "2.1.0")
    sends = ("plain", "selector", "oneway", "acl", "setting:send_msg_timeout_ms")
    assert (hello.capabilities, hello.roles) == ((*sends, *MEMBER_CLAIMS), ("producer", "consumer"))


def test_a_crash_in_native_code_is_a_result(tmp_path: Path) -> None:
    """A native crash breaks the subject with its signal."""
    with SubjectProcess(program_of(NAME), CANDIDATE, tmp_path / "subject", on_line=lambda _: None) as subject:
        os.kill(subject.await_hello().pid, signal.SIGSEGV)
        with pytest.raises(SubjectBroken) as raised:
            subject.await_ready(20)
    assert raised.value.signature == "protocol.died"
    assert "SIGSEGV" in raised.value.seen
    assert "Fatal Python error: Segmentation fault" in (tmp_path / "subject" / "stderr.log").read_text()


def test_nothing_of_the_runners_python_is_inherited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client gets only our packages from the runner's Python."""
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    launch = program_of(NAME).launch(tmp_path)
    assert launch.environment["PYTHONPATH"] == import_path()
    assert Path(launch.command[0]).parent.parent.name == "env"
