"""
Whether a file in the cache is the artifact it claims to be.

Hashing the 120 jars of a broker on every start costs half a second, so a verified file gets a small note beside it
with the size and modification time that were seen; a file that changed since is hashed again.
"""

import hashlib
import os
from enum import Enum, auto
from pathlib import Path

from harness.releases.lock import Artifact


class Condition(Enum):
    """What was found at an artifact's place in the cache."""

    ABSENT = auto()
    WHOLE = auto()
    CORRUPTED = auto()


def condition_of(file: Path, artifact: Artifact) -> Condition:
    """Look at the note, and at the content where the note does not speak for it."""
    try:
        seen = _description(file, artifact.sha256)
    except OSError:
        return Condition.ABSENT  # if the folder itself is unusable, the attempt to write there says why
    if _noted(file) == seen:
        return Condition.WHOLE
    try:
        right = sha256_of(file) == artifact.sha256
    except OSError:
        right = False  # unreadable is as bad as wrong
    if not right:
        return Condition.CORRUPTED
    note_verified(file, artifact)
    return Condition.WHOLE


def note_verified(file: Path, artifact: Artifact) -> None:
    """Remember that the file, as it is now, has the right content; a cache that cannot be written merely stays slower."""
    note = _note_of(file)
    draft = note.with_name(f"{note.name}.{os.getpid()}")
    try:
        draft.write_text(_description(file, artifact.sha256), encoding="ascii")
        draft.replace(note)
    except OSError:
        draft.unlink(missing_ok=True)


def sha256_of(file: Path) -> str:
    """Hex digest of the content."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _note_of(file: Path) -> Path:
    return file.with_name(f"{file.name}.verified")


def _noted(file: Path) -> str:
    try:
        return _note_of(file).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""


def _description(file: Path, sha256: str) -> str:
    status = file.stat()
    return f"{sha256} {status.st_size} {status.st_mtime_ns}"
