"""What happens while files are fetched, as calls to a listener; what is shown is the listener's business."""

import sys
import threading
import time
from typing import Protocol, TextIO


class ProgressListener(Protocol):
    """Told from several threads, one call at a time; must return quickly and raise nothing."""

    def started(self, what: str, files: int, size_bytes: int) -> None:
        """Fetching of `files` files begins; nothing is said when all are there already."""

    def received(self, size_bytes: int) -> None:
        """So many more bytes have come in."""

    def file_finished(self, name: str) -> None:
        """One file is whole and verified."""

    def noted(self, message: str) -> None:
        """Something a person should read: a corrupted file, a wait for another process."""

    def finished(self) -> None:
        """The fetching that `started` announced is over, well or badly."""


class Silent:
    """Says nothing."""

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
    """One line at the start and at the end on stderr, and one every few seconds between: fit for logs and terminals."""

    # Often enough to show life, seldom enough that a log of a slow download stays short.
    LINE_EVERY_S = 3.0

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._what = ""
        self._files = self._done = 0
        self._size = self._received = 0
        self._last_line_s = 0.0

    def started(self, what: str, files: int, size_bytes: int) -> None:
        """Announce the whole size."""
        self._what, self._files, self._size = what, files, size_bytes
        self._done = self._received = 0
        self._last_line_s = time.monotonic()
        self._say(f"fetching {what}: {files} files, {_mebibytes(size_bytes)} MiB")

    def received(self, size_bytes: int) -> None:
        """Count, and show the sum now and then."""
        self._received += size_bytes
        if time.monotonic() - self._last_line_s >= self.LINE_EVERY_S:
            self._last_line_s = time.monotonic()
            seen, size = _mebibytes(self._received), _mebibytes(self._size)
            self._say(f"  {self._what}: {self._done} of {self._files} files, {seen} of {size} MiB")

    def file_finished(self, name: str) -> None:  # noqa: ARG002 - a hundred names would be noise
        """Count."""
        self._done += 1

    def noted(self, message: str) -> None:
        """Show at once."""
        self._say(message)

    def finished(self) -> None:
        """Say how much of it is there now."""
        self._say(f"  {self._what}: {self._done} of {self._files} files are there")

    def _say(self, line: str) -> None:
        print(line, file=self._stream or sys.stderr, flush=True)


class OneAtATime:
    """Hands calls of many threads on to one listener, one after the other, so that listeners need no lock."""

    def __init__(self, listener: ProgressListener) -> None:
        self._listener = listener
        self._lock = threading.Lock()

    def started(self, what: str, files: int, size_bytes: int) -> None:
        """Hand on."""
        with self._lock:
            self._listener.started(what, files, size_bytes)

    def received(self, size_bytes: int) -> None:
        """Hand on."""
        with self._lock:
            self._listener.received(size_bytes)

    def file_finished(self, name: str) -> None:
        """Hand on."""
        with self._lock:
            self._listener.file_finished(name)

    def noted(self, message: str) -> None:
        """Hand on."""
        with self._lock:
            self._listener.noted(message)

    def finished(self) -> None:
        """Hand on."""
        with self._lock:
            self._listener.finished()


def _mebibytes(size_bytes: int) -> str:
    return f"{size_bytes / 2**20:.1f}"
