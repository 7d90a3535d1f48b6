"""Progress of downloads as events for one listener."""

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO


@dataclass(frozen=True, slots=True)
class FetchStarted:
    """A download of ``files`` files begins. Not emitted if none is missing."""

    what: str
    files: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class BytesReceived:
    """More bytes were received."""

    size_bytes: int


@dataclass(frozen=True, slots=True)
class FileFinished:
    """One file is complete and verified."""

    name: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A message for the user, such as a corrupted file or a wait for another process."""

    message: str


@dataclass(frozen=True, slots=True)
class FetchFinished:
    """The download has ended, successfully or not."""


ProgressEvent = FetchStarted | BytesReceived | FileFinished | Notice | FetchFinished

ProgressListener = Callable[[ProgressEvent], None]
"""Called from several threads, one call at a time. Must return quickly and raise nothing."""


def silent(_event: ProgressEvent) -> None:
    """Ignore the event."""


class PlainProgress:
    """Lines on stderr at the start, every few seconds and at the end."""

    # Shows progress, but keeps the log of a slow download short.
    LINE_EVERY_S = 3.0

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._started = FetchStarted("", 0, 0)
        self._done = self._received = 0
        self._last_line_s = 0.0

    def __call__(self, event: ProgressEvent) -> None:
        """File names are omitted: a hundred would be noise."""
        match event:
            case FetchStarted(what, files, size_bytes):
                self._started, self._done, self._received = event, 0, 0
                self._last_line_s = time.monotonic()
                self._print(f"fetching {what}: {files} files, {_mebibytes(size_bytes)} MiB")
            case BytesReceived(size_bytes):
                self._count(size_bytes)
            case FileFinished():
                self._done += 1
            case Notice(message):
                self._print(message)
            case FetchFinished():
                self._print(f"  {self._started.what}: {self._done} of {self._started.files} files are there")

    def _count(self, size_bytes: int) -> None:
        self._received += size_bytes
        if time.monotonic() - self._last_line_s >= self.LINE_EVERY_S:
            self._last_line_s = time.monotonic()
            seen, size = _mebibytes(self._received), _mebibytes(self._started.size_bytes)
            self._print(f"  {self._started.what}: {self._done} of {self._started.files} files, {seen} of {size} MiB")

    def _print(self, line: str) -> None:
        print(line, file=self._stream or sys.stderr, flush=True)


def one_at_a_time(listener: ProgressListener) -> ProgressListener:
    """Add a lock, so that several threads may call the listener."""
    lock = threading.Lock()

    def locked(event: ProgressEvent) -> None:
        with lock:
            listener(event)

    return locked


def _mebibytes(size_bytes: int) -> str:
    return f"{size_bytes / 2**20:.1f}"
