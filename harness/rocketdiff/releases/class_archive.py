"""
Class archives (application class data sharing): a JVM that maps one need not load and verify its classes.

One archive in the cache serves every start of a program with the same JDK, flags and class path. Making it needs a
training run, which costs what six to nine starts save. The first command may not start the program that often, so the
second one trains. If anything fails, the program starts without.
"""

import contextlib
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NoReturn

from rocketdiff.core.errors import HarnessError
from rocketdiff.releases.cache import exclusive, is_whole, made_once
from rocketdiff.releases.programs.java_programs import class_folder

ARCHIVE = "classes.jsa"

FAILED = "failed.txt"
"""The reason why there is no archive. Not retried until the folder is removed."""

Train = Callable[[Path, Path], str]
"""Runs the program so that it writes the archive (first argument), with a working folder (second). Returns how it ended."""


class _TakenError(Exception):
    """Another process makes the archive."""


@dataclass(frozen=True, slots=True)
class JavaStart:
    """
    How a Java program is started each time.

    name: program and release, for the cache. class_path: jars only, as the JVM demands.
    """

    name: str
    java: Path
    flags: tuple[str, ...]
    class_path: tuple[Path, ...]

    def folder(self) -> Path:
        """Named after what the JVM compares: JDK, its own archive, flags, and path, size and time of each jar. Raises OSError."""
        home = self.java.parent.parent
        files = (home / "release", home / "lib" / "server" / "classes.jsa", *self.class_path)
        parts = (str(self.java), *self.flags, *map(_stamp, files))
        digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
        return class_folder() / f"{self.name}-{digest}"


def archive_of(start: JavaStart, train: Train) -> Path | None:
    """The archive, made now if missing and an earlier command used the program."""
    with contextlib.suppress(OSError, HarnessError):
        folder = start.folder()
        if folder.exists() or _was_used_before(folder.with_name(f"{folder.name}.used")):
            return trained(start, train)
    return None


def is_to_be_trained(start: JavaStart) -> bool:
    """True if the archive is missing and an earlier command used the program. Marks it as used. Raises OSError."""
    folder = start.folder()
    return not folder.exists() and _was_used_before(folder.with_name(f"{folder.name}.used"))


def trained(start: JavaStart, train: Train) -> Path | None:
    """The archive, made now if missing. None if that fails or another process is making it."""
    folder = start.folder()
    if not is_whole(folder):
        with contextlib.suppress(_TakenError), exclusive(folder.parent, _leave_it):
            made_once(folder, lambda draft: _make(train, draft))
    return _archive_in(folder)


def made_archive(start: JavaStart) -> Path | None:
    """The archive if it exists, unverified."""
    with contextlib.suppress(OSError):
        return _archive_in(start.folder())
    return None


def archive_flags(archive: Path | None) -> list[str]:
    """JVM flags that use the archive."""
    if archive is None:
        return []
    # The JVM ignores an archive that does not fit (-Xshare:auto, the default). Without the second flag it would log that,
    # and Java 25 logs errors even for one that fits.
    return [f"-XX:SharedArchiveFile={archive}", "-Xlog:cds*=off"]


def _archive_in(folder: Path) -> Path | None:
    archive = folder / ARCHIVE
    return archive if archive.exists() else None


def _stamp(file: Path) -> str:
    status = file.stat()
    return f"{file} {status.st_size} {status.st_mtime_ns}"


@cache
def _was_used_before(mark: Path) -> bool:
    """Leaves a mark for later commands."""
    mark.parent.mkdir(parents=True, exist_ok=True)
    was_used = mark.exists()
    mark.touch()
    return was_used


def _leave_it() -> NoReturn:
    raise _TakenError


def _make(train: Train, draft: Path) -> None:
    """Write the archive into ``draft``, or the reason why there is none."""
    archive = draft / ARCHIVE
    how_it_ended = train(archive, draft)
    if not archive.exists():
        (draft / FAILED).write_text(f"{how_it_ended}\n", encoding="utf-8")
