"""Progress of downloads, as calls to a listener."""

import sys
import threading
import time
from typing import Protocol, TextIO


class ProgressListener(Protocol):
    """Called from several threads, one call at a time; must return quickly and raise nothing."""

    def started(self, what: str, files: int, size_bytes: int) -> None:
        """The download of `files` files begins; not called if none is missing."""

    def received(self, size_bytes: int) -> None:
        """More bytes were received."""

    def file_finished(self, name: str) -> None:
        """One file is complete and verified."""

    def noted(self, message: str) -> None:
        """A message for the user: a corrupted file, a wait for another process."""

    def finished(self) -> None:
        """The download that `started` announced is over, successfully or not."""


class Silent:
    """Shows nothing."""

    def started(self, what: str, files: int, size_bytes: int) -> None:
        """Nothing to show."""

    def received(self, size_bytes: int) -> None:
        """Nothing to show."""

    def file_finished(self, name: str) -> None:
        """Nothing to show."""

    def noted(self, message: str) -> None:
        """Nothing to show."""

    def finished(self) -> None:
        """Nothing to show."""


class PlainProgress:
    """Lines on stderr at the start, every few seconds and at the end; suitable for logs and terminals."""

    # Often enough to show progress, seldom enough for a short log of a slow download.
    LINE_EVERY_S = 3.0

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._what = ""
        self._files = self._done = 0
        self._size = self._received = 0
        self._last_line_s = 0.0

    def started(self, what: str, files: int, size_bytes: int) -> None:
        """Print number and size of the files."""
        self._what, self._files, self._size = what, files, size_bytes
        self._done = self._received = 0
        self._last_line_s = time.monotonic()
        self._say(f"fetching {what}: {files} files, {_mebibytes(size_bytes)} MiB")

    def received(self, size_bytes: int) -> None:
        """Count, and print the sum every few seconds."""
        self._received += size_bytes
        if time.monotonic() - self._last_line_s >= self.LINE_EVERY_S:
            self._last_line_s = time.monotonic()
            seen, size = _mebibytes(self._received), _mebibytes(self._size)
            self._say(f"  {self._what}: {self._done} of {self._files} files, {seen} of {size} MiB")

    def file_finished(self, name: str) -> None:  # noqa: ARG002 - a hundred names would be noise
        """Count."""
        self._done += 1

    def noted(self, message: str) -> None:
        """Print at once."""
        self._say(message)

    def finished(self) -> None:
        """Print how many files are complete."""
        self._say(f"  {self._what}: {self._done} of {self._files} files are there")

    def _say(self, line: str) -> None:
        print(line, file=self._stream or sys.stderr, flush=True)


class OneAtATime:
    """Serialises calls of many threads to one listener, so that listeners need no lock."""

    def __init__(self, listener: ProgressListener) -> None:
        self._listener = listener
        self._lock = threading.Lock()

    def started(self, what: str, files: int, size_bytes: int) -> None:
        """Forward."""
        with self._lock:
            self._listener.started(what, files, size_bytes)

    def received(self, size_bytes: int) -> None:
        """Forward."""
        with self._lock:
            self._listener.received(size_bytes)

    def file_finished(self, name: str) -> None:
        """Forward."""
        with self._lock:
            self._listener.file_finished(name)

    def noted(self, message: str) -> None:
        """Forward."""
        with self._lock:
            self._listener.noted(message)

    def finished(self) -> None:
        """Forward."""
        with self._lock:
            self._listener.finished()


def _mebibytes(size_bytes: int) -> str:
    return f"{size_bytes / 2**20:.1f}"
