"""
Removes secrets from the files of a program under test: when it ends, or, if the run was killed, at the next start.

While the program runs, a locked file of mode 600 in the cache folder notes its folder and secrets. The kernel releases the lock
with the process that holds it.
"""

import fcntl
import os
import stat
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from shutil import copyfileobj
from types import MappingProxyType

import msgspec

from rocketdiff.core.closing import Closing
from rocketdiff.core.security import hidden_bytes
from rocketdiff.releases.cache import cache_dir, unwritable

_SUFFIX = ".secrets"
_BLOCK_BYTES = 1 << 24


class SecretNote(msgspec.Struct, frozen=True):
    """What a killed run leaves to do. folder: of one program, absolute."""

    folder: str
    secrets: tuple[str, ...]


class SecretRemoval(Closing):
    """Removes these secrets from all files of a folder on close, or after a kill by ``remove_left_secrets``."""

    def __init__(self, folder: Path, secrets: tuple[str, ...]) -> None:
        """Write the note; raises EnvironmentMissing if that is not possible."""
        self._folder, self._secrets = folder, secrets
        self._path = _notes() / f"{uuid.uuid4().hex}{_SUFFIX}"
        draft = self._path.with_suffix(".draft")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._file: int | None = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX)
            os.write(self._file, msgspec.json.encode(SecretNote(str(folder.absolute()), secrets)))
            draft.rename(self._path)  # only after the lock, so that no other process takes it for a killed run's
        except OSError as error:
            raise unwritable(self._path.parent, error) from error

    def close(self) -> None:
        """Clean the folder and remove the note; a second call does nothing."""
        file, self._file = self._file, None
        if file is not None:
            clean_folder(self._folder, self._secrets)
            self._path.unlink(missing_ok=True)
            os.close(file)


def remove_left_secrets(runs: Mapping[str, Path] = MappingProxyType({}), *, forgets: bool = False) -> tuple[Path, ...]:
    """
    Clean the folders of killed runs and return them. runs: directories by the run's id; one of them may have been moved since.

    A note whose folder was moved stays until its run is one of ``runs``. forgets: remove such notes.
    """
    cleaned = []
    for path in sorted(_notes().glob(f"*{_SUFFIX}")):
        with suppress(OSError, msgspec.MsgspecError), path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            note = msgspec.json.decode(file.read(), type=SecretNote)
            own = Path(note.folder)
            found = [folder for folder in (own, *(runs[run] for run in runs if run in own.parts)) if folder.is_dir()]
            for folder in found:
                clean_folder(folder, note.secrets)
            if forgets or found:
                path.unlink()
            cleaned += found
    return tuple(dict.fromkeys(cleaned))


def clean_folder(folder: Path, secrets: tuple[str, ...]) -> None:
    """Remove secrets from every regular file below a folder; links are not followed."""
    for file in _regular_files(folder):
        with suppress(OSError):
            _clean(file, secrets)


def _clean(path: Path, secrets: tuple[str, ...]) -> None:
    """In place, because a process left behind by the program may still write to the file."""
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "r+b") as file, tempfile.TemporaryFile() as clean:
        is_changed = False
        while lines := file.readlines(_BLOCK_BYTES):
            content = b"".join(lines)
            redacted = hidden_bytes(content, secrets)
            is_changed |= redacted != content
            clean.write(redacted)
        if is_changed:
            clean.seek(0)
            file.seek(0)
            copyfileobj(clean, file)
            file.truncate()


def _regular_files(folder: Path) -> Iterator[Path]:
    for here, _, names in os.walk(folder):
        for name in names:
            path = Path(here, name)
            with suppress(OSError):
                if stat.S_ISREG(path.lstat().st_mode):
                    yield path


def _notes() -> Path:
    return cache_dir() / "secrets"
