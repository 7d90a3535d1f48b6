"""
Verification of cached files: their content is hashed on each use.

Size and modification time prove nothing (a restored cache keeps both), so no earlier result is kept on disk. The 120 jars of a
broker have 60 MB and take some 0.1 s. Within a process a file is hashed again only if its inode was changed.
"""

import hashlib
from enum import Enum, auto
from functools import lru_cache
from pathlib import Path

from rocketdiff.releases.lock import Artifact


class Condition(Enum):
    """State of an artifact in the cache."""

    ABSENT = auto()
    WHOLE = auto()
    CORRUPTED = auto()


def condition_of(file: Path, artifact: Artifact) -> Condition:
    """Compare the content with the artifact's sha256."""
    try:
        status = file.stat()
    except OSError:
        return Condition.ABSENT  # if the folder itself is unusable, the attempt to write there says why
    try:
        seen = _hashed(file, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    except OSError:
        return Condition.CORRUPTED  # unreadable is as bad as wrong
    return Condition.WHOLE if seen == artifact.sha256 else Condition.CORRUPTED


def sha256_of(file: Path) -> str:
    """Hex digest of the content."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@lru_cache(maxsize=4_096)
def _hashed(file: Path, *_touched: int) -> str:
    return sha256_of(file)
