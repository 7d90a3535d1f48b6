"""Appending lines to a journal while they come, so that whatever kills us leaves everything said so far."""

import os
from pathlib import Path
from types import TracebackType
from typing import Self

from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.traces.disk import writing


class Recorder:
    """
    One append-only file of lines, each handed to the system at once (no buffer of ours to lose).

    One recorder has one writing thread. After a failed write the file is cut back to its last whole line and every
    further line is refused, so that a full disk leaves a shorter journal, never a garbled one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._broken: EnvironmentMissing | None = None
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: int | None = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            self._whole_bytes = os.fstat(self._file).st_size
        self.lines = 0

    def line(self, content: bytes) -> None:
        """
        Append one line (a trailing line end is optional).

        Raises EnvironmentMissing when the disk does not take it; nothing recorded before is lost.
        """
        if self._broken is not None:
            raise self._broken
        if self._file is None:
            raise ValueError(f"{self._path.name} is closed")
        data = content.rstrip(b"\r\n") + b"\n"
        try:
            with writing(self._path):
                self._append(self._file, data)
        except EnvironmentMissing as problem:
            self._broken = problem
            raise
        self._whole_bytes += len(data)
        self.lines += 1

    def _append(self, file: int, data: bytes) -> None:
        written = 0
        try:
            while written < len(data):
                written += os.write(file, data[written:])
        except OSError:
            if written:
                os.ftruncate(file, self._whole_bytes)
            raise

    def close(self) -> None:
        """Give the file back; closing twice is fine."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
