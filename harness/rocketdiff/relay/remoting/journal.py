"""
The relay's record file: records are appended every few milliseconds by the loop that forwards frames.

Memory is bounded by what arrives between two writes. On a full disk recording stops and forwarding continues, because the
client must not be disturbed; ``problem`` has the error for the answer to ``stop``.
"""

import os
from pathlib import Path

from rocketdiff.relay.remoting.wire import WireRecord, encode_wire

FLUSH_S = 0.01
"""Interval of writes: a killed relay loses at most this much."""

_MOST_WAITING = 512
"""Records that trigger a write before its time: some 100 kB."""


class WireJournal:
    """An append-only file of records; used by one thread."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._waiting: list[WireRecord] = []
        self.records = 0
        self.problem = ""

    def put(self, record: WireRecord) -> None:
        """Add a record; the next flush writes it."""
        self._waiting.append(record)
        if len(self._waiting) >= _MOST_WAITING:
            self.flush()

    def flush(self) -> None:
        """Write all waiting records."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        if self.problem:
            return
        data = memoryview(b"".join(map(encode_wire, waiting)))
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            self.problem = error.strerror or str(error)
            return
        self.records += len(waiting)

    def close(self) -> None:
        """Flush and close the file."""
        self.flush()
        os.close(self._file)
