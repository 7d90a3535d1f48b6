"""A user's program must say hello before a run starts."""

import json
import shlex
import sys
import time
from pathlib import Path
from typing import cast

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.start import backend_named
from rocketdiff.core.demand import SendDemand
from rocketdiff.core.errors import UsageError
from rocketdiff.core.resources import import_path
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.pytest_plugin.subject import subject_maker
from rocketdiff.run.request import Selection
from rocketdiff.run.selection import choose
from rocketdiff.subjects.limits import MIB, Deadlines, OutputBounds
from rocketdiff.subjects.registry import resolved
from tests.live import await_that
from tests.subjects.conftest import HELLO
from tests.subjects.processes import processes_with, program

PROGRAM = Path(__file__).with_name("own.py")


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", import_path())


_HELLO_OF_NOBODY = json.dumps({**HELLO, "client": "Acme MQ", "version": "v 1/2"})


def own(*flags: str) -> str:
    return f"exec:{shlex.join([sys.executable, str(PROGRAM), *flags])}"


def test_its_hello_has_its_name_and_capabilities() -> None:
    """Hello gives a program's name and calls; the spec is kept."""
    spec = own("--name", "acme:1.0+9", "--without", "batch", "--without", "async")
    subject = resolved(spec)
    assert (str(subject), subject.spec) == ("acme:1.0+9", spec)
    calls = [(SendKind.PLAIN, SendMode.SYNC), (SendKind.QUEUE, SendMode.ONEWAY), (SendKind.BATCH, SendMode.SYNC)]
    calls += [(SendKind.PLAIN, SendMode.ASYNC)]
    assert [subject.offers(SendDemand(*call)) for call in calls] == [True, True, False, False]


def test_its_hello_has_its_attempt_timeout() -> None:
    """Hello may state a client's own attempt timeout."""
    assert [resolved(own(*flags)).attempt_timeout_ms for flags in (("--attempt-timeout", "3000"), ())] == [3_000, None]


def test_an_impossible_length_of_attempts_is_refused() -> None:
    """An attempt timeout above 60 s is refused, because pauses last twice as long."""
    with pytest.raises(UsageError, match="expected hello of protocol 1"):
        resolved(own("--attempt-timeout", "60001"))


def test_a_relative_path_is_relative_to_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program runs in the working directory, so relative arguments work."""
    monkeypatch.chdir(PROGRAM.parent)
    program(tmp_path / "driver", f'exec {sys.executable} "$1" --name here:2')
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert str(resolved("exec:driver own.py")) == "here:2"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("exec:", "expected a command after exec:; saw 'exec:'"),
        ("exec:'./a", "expected a command after exec:"),
        ("exec:./no-such-driver --flag", "expected a program ./no-such-driver; saw no such file"),
        ("exec:no-such-driver-anywhere", "expected a program no-such-driver-anywhere; saw no such file"),
        ("exec:.", "expected a program .; saw no such file"),
        ("exec:./", "expected a program ./; saw a folder"),
    ],
)
def test_a_command_that_is_none_is_refused(spec: str, message: str) -> None:
    """An invalid command or missing program is refused."""
    with pytest.raises(UsageError) as raised:
        resolved(spec)
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--print", "starting up"), "saw starting up"),
        (("--print", '{"type":"done","sends":0}'), 'saw {"type":"done","sends":0}'),
        (("--print", '\ufeff{"type":"hello","protocol":1}'), "saw a byte order mark of UTF-8 before the record"),
        (("--print", '{"type":"hello","protocol":1}'), 'saw Object missing required field `client`: {"type":"hello"'),
        (
            ("--no-such-flag",),
            "saw it exited with status 2; its last words: own.py: error: unrecognized arguments: --no-such-flag",
        ),
        (("--name", "java:5.3.3"), "saw java, a client that comes with rocketdiff"),
        (("--print", _HELLO_OF_NOBODY), "saw client 'Acme MQ', version 'v 1/2'"),
    ],
)
def test_a_program_that_does_not_begin_with_a_hello_is_refused(flags: tuple[str, ...], message: str) -> None:
    """A program without a valid hello is refused with its output or exit status."""
    with pytest.raises(UsageError) as raised:
        resolved(own(*flags))
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("content", "mode", "message"),
    [
        (b"#!/bin/sh\necho hello\n", 0o644, "Permission denied"),
        (b"#!/bin/sh\r\necho hello\r\n", 0o755, "No such file or directory"),
        (b"echo hello\n", 0o755, "Exec format error"),
    ],
    ids=["no right to execute", "line ends of Windows", "no interpreter named"],
)
def test_a_file_that_cannot_be_started_is_refused_with_the_cure(
    tmp_path: Path, content: bytes, mode: int, message: str
) -> None:
    """A file that cannot be started is refused with the cause."""
    (tmp_path / "driver").write_bytes(content)
    (tmp_path / "driver").chmod(mode)
    with pytest.raises(UsageError, match=f"a program that can be started, .*{message}.*chmod"):
        resolved(f"exec:{tmp_path / 'driver'}")


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("while :; do printf %01000d 0; done", "a line over 1 MiB"),
        ("while :; do printf %01000d 0 >&2; done", "over 1 MiB on stderr"),
    ],
    ids=["stdout", "stderr"],
)
def test_a_program_that_floods_an_output_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, seen: str
) -> None:
    """A program that writes over 1 MiB before hello, without a line end or to stderr, is ended at once."""
    monkeypatch.setattr("rocketdiff.subjects.own.own_program.OutputBounds", lambda: OutputBounds(stderr_bytes=MIB))
    mark = f"flood-{time.monotonic_ns()}"
    with pytest.raises(UsageError, match=f"saw {seen}"):
        resolved(f"exec:{program(tmp_path / mark, text)}")
    await_that(lambda: not processes_with(mark), "the flooding program to be gone")


def test_a_program_that_leaves_a_daemon_behind_leaves_none(tmp_path: Path) -> None:
    """A daemon in its own session is ended with a program without hello."""
    mark = f"daemon-{time.monotonic_ns()}"
    daemon = program(tmp_path / mark, "sleep 600")
    with pytest.raises(UsageError, match="saw started"):
        resolved(f"exec:{program(tmp_path / 'driver', f'(setsid {daemon} &) ; echo started')}")
    await_that(lambda: not processes_with(mark), "the daemon to be gone")


def test_a_silent_program_is_given_up_and_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A silent program is ended at hello's deadline with all processes."""
    monkeypatch.setattr("rocketdiff.subjects.own.own_program.Deadlines", lambda: Deadlines(hello_s=0.5))
    mark = f"quiet:{time.monotonic_ns()}"
    with pytest.raises(UsageError, match=r"saw nothing for 0\.5 s"):
        resolved(own("--name", mark, "--silent"))
    await_that(lambda: not processes_with(mark), "the silent program to be gone")


def test_an_unended_line_is_not_silence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An unfinished line is distinguished from silence, because a language may buffer its output."""
    monkeypatch.setattr("rocketdiff.subjects.own.own_program.Deadlines", lambda: Deadlines(hello_s=5.0))
    driver = program(tmp_path / "driver", "printf '{}'; exec sleep 60")
    with pytest.raises(UsageError, match=r"saw 2 bytes without an end of line for 5 s; .*each line is flushed"):
        resolved(f"exec:{driver}")


def test_the_pytest_fixture_takes_whatever_the_option_takes(tmp_path: Path) -> None:
    """The pytest fixture accepts programs and labelled releases."""
    make = subject_maker(cast("Cluster", None), tmp_path)
    assert [repr(make(name)) for name in (own("--name", "acme:3"), "old=5.3.2")] == ["<acme:3>", "<java:5.3.2>"]


def test_a_misspelt_claim_is_seen_where_no_scenario_is_left() -> None:
    """If no scenario is left the reason lists hello's claims, so a misspelt one is visible."""
    resolved_pair = resolved("java:5.3.3"), resolved(own(*(f"--without={kind}" for kind in SendKind), "--claim=plane"))
    choice = choose(Selection(patterns=("round-robin/calm",)), resolved_pair, backend_named("processes"))
    assert choice.why_none.startswith(
        "round-robin/calm: one of the two clients has no such call: hello of acme:1.0 does not claim plain; "
    )
    assert "plane" in choice.why_none
    assert choice.why_none.endswith("kinds of send are plain, queue, selector, batch, group")
    many = choose(Selection(patterns=("round-robin/*",)), resolved_pair, backend_named("processes")).why_none
    assert " more: one of the two clients has no such call: hello of acme:1.0 does not claim plain; " in many
