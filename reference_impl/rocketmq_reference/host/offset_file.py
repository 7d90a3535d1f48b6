"""A file with a copy of what it held before, beside it (MixAll.string2File)."""

import contextlib
import threading
from pathlib import Path


class OffsetFile:
    """Thread-safe. Every read returns "" for a file that is not there or cannot be read."""

    def __init__(self, path: Path) -> None:
        self._path, self._backup = path, path.with_name(path.name + ".bak")
        self._writing = threading.Lock()

    def read(self) -> str:
        return _read(self._path)

    def read_backup(self) -> str:
        return _read(self._backup)

    def write(self, text: str) -> None:
        """Copy the file to the backup, then write it; a failure is ignored, as Java only logs it."""
        with self._writing, contextlib.suppress(OSError):
            if self._path.exists():
                _write(self._backup, self.read())
            _write(self._path, text)


def _read(path: Path) -> str:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="utf-8")
    return ""


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
