"""
Class archives (application class data sharing): a JVM that maps one need not load and verify its classes.

One archive in the cache serves every start of a program with one JDK, set of flags and class path. A training run of the program
makes it, which costs what it saves in six to nine starts; the first command with a program does not always make that many, so
the second one trains. Whatever goes wrong, the program starts without.
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
"""Instead of the archive: why there can be none. There is no second try until somebody removes the folder."""

Train = Callable[[Path, Path], str]
"""Runs the program so that it writes the archive, the first argument, with the second, a folder, as its own; says how it ended."""


class _TakenError(Exception):
    """Another process makes the archive."""


@dataclass(frozen=True, slots=True)
class JavaStart:
    """
    How a Java program is started each time.

    name: of the program and its release, for the cache. class_path: jars only, as the JVM demands.
    """

    name: str
    java: Path
    flags: tuple[str, ...]
    class_path: tuple[Path, ...]

    def folder(self) -> Path:
        """Named after all that the JVM compares: itself, its own archive, the flags, and each jar's place, size and time. Raises OSError."""
        home = self.java.parent.parent
        files = (home / "release", home / "lib" / "server" / "classes.jsa", *self.class_path)
        parts = (str(self.java), *self.flags, *map(_stamp, files))
        digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
        return class_folder() / f"{self.name}-{digest}"


def archive_of(start: JavaStart, train: Train) -> Path | None:
    """Its archive, which is made now if an earlier command has used the program and left none."""
    with contextlib.suppress(OSError, HarnessError):
        folder = start.folder()
        if folder.exists() or _was_used_before(folder.with_suffix(".used")):
            return trained(start, train)
    return None


def is_to_be_trained(start: JavaStart) -> bool:
    """Whether it has none and an earlier command has used the program; leaves a mark for later ones. Raises OSError."""
    folder = start.folder()
    return not folder.exists() and _was_used_before(folder.with_suffix(".used"))


def trained(start: JavaStart, train: Train) -> Path | None:
    """Its archive, made now if there is none; None if it cannot be made or another process is at it."""
    folder = start.folder()
    if not is_whole(folder):
        with contextlib.suppress(_TakenError), exclusive(folder.parent, _leave_it):
            made_once(folder, lambda draft: _make(train, draft))
    return _archive_in(folder)


def made_archive(start: JavaStart) -> Path | None:
    """Its archive if it has one; nothing is made, and it is not read through."""
    with contextlib.suppress(OSError):
        return _archive_in(start.folder())
    return None


def archive_flags(archive: Path | None) -> list[str]:
    """What a JVM is told of the archive."""
    if archive is None:
        return []
    # An archive that does not fit is not used (-Xshare:auto, the default). The log would tell of that, and Java 25 of errors
    # in one that fits.
    return [f"-XX:SharedArchiveFile={archive}", "-Xlog:cds*=off"]


def _archive_in(folder: Path) -> Path | None:
    archive = folder / ARCHIVE
    return archive if archive.exists() else None


def _stamp(file: Path) -> str:
    status = file.stat()
    return f"{file} {status.st_size} {status.st_mtime_ns}"


@cache
def _was_used_before(mark: Path) -> bool:
    """Whether a command before this one has used the program; leaves a mark for those to come."""
    mark.parent.mkdir(parents=True, exist_ok=True)
    was_used = mark.exists()
    mark.touch()
    return was_used


def _leave_it() -> NoReturn:
    raise _TakenError


def _make(train: Train, draft: Path) -> None:
    """Write the archive into ``draft``, or why there is none."""
    archive = draft / ARCHIVE
    how_it_ended = train(archive, draft)
    if not archive.exists():
        (draft / FAILED).write_text(f"{how_it_ended}\n", encoding="utf-8")
