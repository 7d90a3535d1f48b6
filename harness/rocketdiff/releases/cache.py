"""
The cache folder of downloads and compiled classes: location, locking, verification.

One process at a time changes a folder. A file is hashed on each use, because size and modification time prove nothing (a
restored cache keeps both); so no result is kept on disk. The 120 jars of a broker (60 MB) take about 0.1 s. Within a
process a file is hashed again only if its inode changed.
"""

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum, auto
from functools import lru_cache
from pathlib import Path

from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.releases.lock import Artifact

CACHE_VARIABLE = "ROCKETDIFF_CACHE"

DIGESTS = "digests.txt"
"""sha256 and name of every file of a ``made_once`` folder, compared on each use."""


def cache_dir() -> Path:
    """`$ROCKETDIFF_CACHE`, else `rocketdiff` in the XDG cache folder. Does not create it."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification: ignore a relative value.
    root = Path(xdg) if xdg and Path(xdg).is_absolute() else Path.home() / ".cache"
    return root / "rocketdiff"


@contextmanager
def exclusive(folder: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """
    Hold the folder's lock, creating the folder. `on_wait` is called once if another process holds it.

    The kernel releases it when the process ends, so a killed process leaves nothing to clean up.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stream = (folder / ".lock").open("w")
    except OSError as error:
        raise unwritable(folder, error) from error
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def unwritable(folder: Path, error: OSError) -> EnvironmentMissing:
    """The error for an unwritable cache: disk full, read-only, not permitted."""
    return EnvironmentMissing(
        f"to be able to write to the cache folder {folder}",
        seen=error.strerror or str(error),
        hint="free some disk space there, or set ROCKETDIFF_CACHE to a folder that can be written",
    )


class Condition(Enum):
    """State of an artifact in the cache."""

    ABSENT = auto()
    WHOLE = auto()
    CORRUPTED = auto()


def condition_of(file: Path, artifact: Artifact) -> Condition:
    """Compare the file with the artifact's sha256."""
    try:
        status = file.stat()
    except OSError:
        return Condition.ABSENT  # if the folder itself is unusable, writing there reports why
    try:
        seen = _hashed(file, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    except OSError:
        return Condition.CORRUPTED  # unreadable
    return Condition.WHOLE if seen == artifact.sha256 else Condition.CORRUPTED


def sha256_of(file: Path) -> str:
    """Hex digest of the content."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@lru_cache(maxsize=4_096)
def _hashed(file: Path, *_touched: int) -> str:
    return sha256_of(file)


def made_once(target: Path, write: Callable[[Path], object]) -> Path:
    """
    Return the folder, filled by ``write(draft folder)`` unless it exists and is undamaged.

    Two processes may write at once; one result is kept. If ``write`` raises, nothing is left.
    """
    if target.is_dir() and not is_whole(target):
        _put_aside(target)
    if target.is_dir():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=target.parent))
    except OSError as error:
        raise unwritable(target.parent, error) from error
    try:
        write(draft)
        (draft / DIGESTS).write_text(_digests(draft), encoding="utf-8")
        _put_in_place(draft, target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target


def is_whole(folder: Path) -> bool:
    """True if the folder has exactly the files that were written. Damage would look like a fault of its user."""
    try:
        return (folder / DIGESTS).read_text(encoding="utf-8") == _digests(folder)
    except (OSError, UnicodeDecodeError):
        return False


def _digests(folder: Path) -> str:
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.name != DIGESTS)
    return "".join(f"{sha256_of(file)}  {file.relative_to(folder).as_posix()}\n" for file in files)


def _put_aside(target: Path) -> None:
    """Rename the folder first, so that no process sees a part of it. Another process may have done so already."""
    try:
        aside = Path(tempfile.mkdtemp(prefix=".damaged-", dir=target.parent))
        with suppress(FileNotFoundError):
            target.rename(aside / "classes")
        shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        raise unwritable(target, error) from error


def _put_in_place(draft: Path, target: Path) -> None:
    try:
        draft.rename(target)
    except OSError as error:
        if not target.is_dir():
            raise unwritable(target, error) from error
        # Another process wrote the same meanwhile.
