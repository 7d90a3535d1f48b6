"""
Writes the files of a run: journals line by line, all others atomically.

A full disk raises one clear error; everything written before stays readable.
"""

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rocketdiff.core.closing import Closing
from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.core.sends.plan import Plan
from rocketdiff.protocol.commands import encode_plan as encode_plan_lines

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """
    Turn an OSError raised while ``path`` is written into EnvironmentMissing.

    A full disk has its own message; other errors (read-only, no permission, I/O error) keep the system's text.
    """
    try:
        yield
    except OSError as problem:
        if problem.errno in _NO_ROOM:
            raise EnvironmentMissing(
                "room on the disk for the traces of the run",
                seen=f"no space left while writing {path}",
                hint="free some space or choose another folder with --out; what was recorded before is intact",
            ) from problem
        raise EnvironmentMissing(
            f"a writable file {path}",
            seen=problem.strerror or str(problem),
            hint="check the folder given with --out and its permissions",
        ) from problem


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path and rename it to ``path`` at the end; if the block fails, the old file stays."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with writing(path):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            yield temporary
            temporary.replace(path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise


def write_whole(path: Path, content: bytes) -> None:
    """Replace the content of a file atomically; returns after fsync."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def digest_of(content: bytes) -> str:
    """Return ``sha256:…`` of a file's content."""
    return "sha256:" + hashlib.sha256(content).hexdigest()


class Recorder(Closing):
    """
    One append-only file of lines, unbuffered, for one writing thread.

    After a failed write the file is truncated to its last complete line and further lines are refused, so a full disk leaves a
    shorter journal, never a corrupt one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._broken: EnvironmentMissing | None = None
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: int | None = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            self._whole_bytes = os.fstat(self._file).st_size
        self.lines = 0

    def line(self, content: bytes) -> None:
        """
        Append one line (a trailing line end is optional).

        Raises EnvironmentMissing if the write fails; earlier lines are kept.
        """
        if self._broken is not None:
            raise self._broken
        if self._file is None:
            raise ValueError(f"{self._path.name} is closed")
        data = content.rstrip(b"\r\n") + b"\n"
        try:
            with writing(self._path):
                self._append(self._file, data)
        except EnvironmentMissing as problem:
            self._broken = problem
            raise
        self._whole_bytes += len(data)
        self.lines += 1

    def _append(self, file: int, data: bytes) -> None:
        written = 0
        try:
            while written < len(data):
                written += os.write(file, data[written:])
        except OSError:
            if written:
                os.ftruncate(file, self._whole_bytes)
            raise

    def close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            os.close(file)


def encode_plan(plan: Plan) -> bytes:
    """Return the plan as a subject receives it, one line per send."""
    return b"".join(encode_plan_lines(plan))


def plan_digest(plan: Plan) -> str:
    """Return ``sha256:…`` of the encoded plan; equal digests mean identical sends, times, calls and bodies."""
    return digest_of(encode_plan(plan))
