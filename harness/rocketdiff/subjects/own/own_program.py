"""
A user's own program as a subject: ``exec:./program --flag``, or the ``command`` of a subject file.

It runs without a shell, in the folder where it was named. Before the run it is started once for its hello, which names client,
release and capabilities.
"""

import shlex
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rocketdiff.core.errors import HarnessError, SubjectBroken, UsageError
from rocketdiff.core.records.session import PROTOCOL, Hello
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.text.quoted import printable, shown
from rocketdiff.process.attached import AttachPoint, Connection
from rocketdiff.process.child import Child
from rocketdiff.protocol.commands import STOP
from rocketdiff.protocol.records import decode_record
from rocketdiff.releases.cache import sha256_of
from rocketdiff.subjects.limits import LIFTED, MIB, Deadlines, OutputBounds
from rocketdiff.subjects.program import Launch, clean_environment

PREFIX = "exec:"
GUIDE = "fixtures/examples/own-client.md"

_CHECK_INTERVAL_S = 0.05

_FLUSH = "hello comes unasked, and each line is flushed (many languages hold back what goes to a pipe)"

_CANNOT_START = "cannot start "
"""Start of the supervisor's only line about a program that cannot be started."""


@dataclass(frozen=True, slots=True)
class ProgramCommand:
    """words: the first is an absolute path. folder: where it was named and runs. environment: additions of its subject file."""

    words: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def launch(self, folder: Path) -> Launch:
        """Return the command with HOME and TMPDIR in ``folder``, because many clients write logs to both."""
        own = {"HOME": str(folder.resolve()), "TMPDIR": str(folder.resolve())}
        return Launch(self.words, clean_environment() | own | {**self.environment}, self.folder)

    def checksums(self) -> dict[str, str]:
        """Return the sha256, by name, of each word that is a file: the program, and a script for it."""
        files = (self.folder / word for word in self.words)
        return {file.name: sha256_of(file) for file in files if file.is_file()}


@dataclass(frozen=True, slots=True)
class OwnProgram:
    """A program identified by its hello."""

    subject: SubjectId
    command: ProgramCommand

    def launch(self, folder: Path) -> Launch:
        return self.command.launch(folder)


@dataclass(frozen=True, slots=True)
class AttachedProgram:
    """A program that its author starts and that connects; identified by the hello of its first connection."""

    subject: SubjectId
    point: AttachPoint

    def launch(self, folder: Path) -> Launch:  # noqa: ARG002 - its files are its author's
        return Launch((), {}, attach=self.point)


def command_of(spec: str, here: Path) -> ProgramCommand:
    """Parse the command after ``exec:``; raises UsageError if there is no such program."""
    try:
        words = shlex.split(spec.removeprefix(PREFIX))
    except ValueError as problem:
        raise UsageError(
            "a command after exec:", seen=f"{shown(spec)} ({problem})", hint="close the quotes"
        ) from problem
    if not words:
        raise UsageError("a command after exec:", seen=shown(spec), hint="for example exec:./my-driver --flag")
    return found_command(tuple(words), here)


def found_command(words: tuple[str, ...], here: Path, environment: Mapping[str, str] | None = None) -> ProgramCommand:
    """Return the command of these words; raises UsageError if there is no such program."""
    name = words[0]
    found = str(here / name) if "/" in name else shutil.which(name)
    if found is None or not Path(found).is_file():
        seen = "a folder" if found is not None and Path(found).is_dir() else "no such file"
        raise UsageError(f"a program {printable(name, 200)}", seen=seen, hint="name it by its path, or put it on PATH")
    return ProgramCommand((found, *words[1:]), here, environment or {})


def hello_of(spec: str, command: ProgramCommand) -> Hello:
    """
    Start the program, read its first line and end it.

    Raises UsageError if that is no hello of our protocol or comes too late.
    """
    with tempfile.TemporaryDirectory(prefix="rocketdiff-hello-") as folder:
        stderr = (Path(folder) / "stderr.log").open("a+b")
        launch, scratch = command.launch(Path(folder)), Path(folder)
        child = Child(
            launch.command, stderr=stderr, environment=launch.environment, folder=command.folder, scratch=scratch
        )
        try:
            hello, _ = _hello(child, spec, Deadlines().hello_s)
            child.write(STOP, timeout_s=Deadlines().exit_s)
            child.close_input()
            child.await_end(Deadlines().exit_s)
            return hello
        finally:
            child.kill()
            child.close()


def attached_hello(point: AttachPoint) -> Hello:
    """
    Await the first connection and return its hello; the connection is kept for the first conversation.

    Raises EnvironmentMissing if none comes in time, UsageError if it does not begin with a hello.
    """
    connection = point.connection()
    try:
        hello, lines = _hello(connection, f"the program at {point.address}", LIFTED.hello_s)
    except BaseException:
        connection.close()
        raise
    connection.unread(lines)
    point.keep(connection)
    return hello


def id_of(hello: Hello, shipped: frozenset[str]) -> SubjectId:
    """Return client and release of a hello; raises UsageError for an invalid name or that of a bundled client."""
    name = f"{hello.client}:{hello.version}"
    try:
        subject = SubjectId.parse(name)
    except UsageError as problem:
        raise UsageError(
            "in hello a client of small letters, digits and hyphens, and a version of letters, digits, dots, + and -",
            seen=f"client {shown(hello.client)}, version {shown(hello.version)}",
            hint='for example "client":"acme","version":"1.0"',
        ) from problem
    if hello.client in shipped:
        raise UsageError(
            "a program's own name as client in its hello",
            seen=f"{hello.client}, a client that comes with rocketdiff",
            hint=f"use another name in hello; see {GUIDE}",
        )
    return subject


def _hello(child: Child | Connection, spec: str, within_s: float) -> tuple[Hello, list[bytes]]:
    """Return the hello, and the lines that came with it."""
    lines = _first_lines(child, spec, within_s)
    line = lines[0]
    try:
        record = decode_record(line).record
    except SubjectBroken as problem:
        # Explain a wrong JSON record; quote any other line, such as one of a log.
        is_meant_so = line.lstrip(b"\xef\xbb\xbf\xff\xfe \t").startswith(b"{")
        raise _no_hello(
            spec, problem.seen if is_meant_so else printable(line.decode(errors="replace"), 200)
        ) from problem
    if not isinstance(record, Hello) or record.protocol != PROTOCOL:
        raise _no_hello(spec, printable(line.decode(errors="replace"), 200))
    return record, lines


def _first_lines(child: Child | Connection, spec: str, within_s: float) -> list[bytes]:
    most = OutputBounds().stderr_bytes
    deadline = time.monotonic() + within_s
    try:
        while time.monotonic() < deadline:
            if lines := child.hear(_CHECK_INTERVAL_S):
                return lines
            if child.unfinished_bytes > MIB:
                raise _no_hello(spec, "a line over 1 MiB")
            if child.stderr_bytes() > most:
                raise _no_hello(spec, f"over {most // MIB} MiB on stderr", hint="hello comes before everything else")
    except EOFError:
        words = child.last_words()
        if words.startswith(_CANNOT_START):
            hint = "chmod +x, a first line such as #!/bin/sh with Unix line ends, or name its interpreter: 'exec:python3 ./driver'"
            raise UsageError(
                f"a program that can be started, {printable(spec, 200)}",
                seen=words.removeprefix(_CANNOT_START),
                hint=hint,
            ) from None
        ended = child.how_it_ended(Deadlines().exit_s)
        raise _no_hello(spec, f"{ended}{f'; its last words: {words}' if words else ''}") from None
    begun = f"{child.unfinished_bytes:,} bytes without an end of line" if child.unfinished_bytes else "nothing"
    raise _no_hello(spec, f"{begun} for {within_s:g} s", hint=_FLUSH)


def _no_hello(spec: str, seen: str, hint: str = "only records may go to stdout, all else to stderr") -> HarnessError:
    expected = f"hello of protocol {PROTOCOL} as the first line of {printable(spec, 200)}"
    return UsageError(expected, seen=seen, hint=f"see {GUIDE}; {hint}")
