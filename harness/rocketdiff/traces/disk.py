"""Writing to a disk that may be full: one clear error, and what was written before stays readable; digests of what was written."""

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rocketdiff.core.errors import EnvironmentMissing

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """
    Turn an OSError raised while ``path`` is written into EnvironmentMissing.

    A full disk is named as such; anything else (read-only, no permission, I/O error) is told in the system's words.
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
    """
    Give a temporary path beside ``path`` and put it in its place at the end: readers see the old file or the new one.

    When the block fails the temporary file is removed and the old file stays.
    """
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
    """Replace the content of a file at once, and only report success when the disk has it."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def digest_of(content: bytes) -> str:
    """``sha256:…`` of a file's content."""
    return "sha256:" + hashlib.sha256(content).hexdigest()
