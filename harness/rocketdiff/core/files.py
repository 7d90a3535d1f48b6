"""Open files of others: regular ones only, or refuse them in one sentence; write files with secrets."""

import errno
import os
import stat
import unicodedata
from pathlib import Path
from typing import BinaryIO

from rocketdiff.core.errors import EnvironmentMissing, HarnessError, UsageError

MOST_BYTES = 256 * 1024
"""Size limit for a hand-written file. The largest shipped one has 26 KiB; PyYAML reads some 100 KiB a second."""


def open_regular(path: Path) -> BinaryIO:
    """
    Open a regular file for reading; all files that others can have made are opened by this.

    Raises OSError, with the kind in words as its message, for a pipe (which would block for ever), a device (which may never
    end), a socket or a folder.
    """
    _require_regular(path.stat().st_mode, path)
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    try:
        _require_regular(os.fstat(file.fileno()).st_mode, path)  # of what was opened: the name may have changed hands
    except OSError:
        file.close()
        raise
    return file


def regular_bytes(path: Path) -> bytes:
    """Return the whole content of a regular file; raises OSError as ``open_regular`` does."""
    with open_regular(path) as file:
        return file.read()


def _require_regular(mode: int, path: Path) -> None:
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, _kind(mode), str(path))


def read_bytes(
    path: Path,
    what: str,
    *,
    most: int = MOST_BYTES,
    hint: str = "check the path",
    error: type[HarnessError] = UsageError,
) -> bytes:
    """
    Return the content of a regular file. ``what`` names it in messages: "scenario file".

    Raises ``error`` for an unreadable file, one larger than ``most``, a device, pipe or folder.
    """
    try:
        with open_regular(path) as file:
            content = file.read(most + 1)
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the path
        seen = (problem.strerror if isinstance(problem, OSError) else None) or str(problem)
        raise error(f"a readable {what} {path}", seen=seen, hint=hint) from problem
    if len(content) > most:
        raise error(f"a {what} of at most {most:,} bytes", seen=f"{path} is larger", hint=hint)
    return content


def read_text(path: Path, what: str, *, most: int = MOST_BYTES, hint: str = "check the path") -> str:
    """Return the text of a UTF-8 file; raise UsageError as ``read_bytes`` does, and for invalid UTF-8."""
    content = read_bytes(path, what, most=most, hint=hint)
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as problem:
        line = content[: problem.start].count(b"\n") + 1
        raise UsageError(
            f"a readable {what} {path}", seen=f"a byte that is not UTF-8 on line {line}", hint="save it as UTF-8"
        ) from problem


def require_nameable(path: Path, option: str) -> None:
    """Raise UsageError for control characters or invalid UTF-8, which settings, command lines and reports cannot contain."""
    text = os.path.abspath(path)  # noqa: PTH100 - the name only; the disk is checked later
    if any(unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} for char in text):
        raise UsageError(
            f"{option} without control characters, in UTF-8", seen=repr(text), hint="choose another folder"
        )


def require_folder(path: Path, option: str) -> None:
    """Raise EnvironmentMissing, before the work starts, if a file is in the folder's way."""
    try:
        existing = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    except OSError:  # the path is too long; creating the folder will report it
        return
    if not existing.is_dir():
        raise EnvironmentMissing(
            f"a folder for {option}", seen=f"{existing}, which is a file", hint="name another folder"
        )


def _kind(mode: int) -> str:
    kinds = {stat.S_ISDIR: "a folder", stat.S_ISFIFO: "a named pipe", stat.S_ISSOCK: "a socket"}
    return next((name for is_kind, name in kinds.items() if is_kind(mode)), "a device")


def private_file(path: Path, text: str) -> Path:
    """Write a file that only its owner can read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    os.fchmod(descriptor, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return path
