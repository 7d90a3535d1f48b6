"""
Where the relay's records go: appended to one file every few milliseconds, by the loop that passes frames on.

Memory is bounded: what waits is at most what comes in between two writes. On a full disk recording stops, passing goes
on (the client must not be disturbed), and ``problem`` says so to whoever ends the relay.
"""

import os
from pathlib import Path

from rocketdiff.relay.remoting.wire import WireRecord, encode_wire

FLUSH_S = 0.01
"""A killed relay loses at most this much."""

_MOST_WAITING = 512
"""More than this are written at once: 100 kB."""


class WireJournal:
    """An append-only file of records; used by one thread."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._waiting: list[WireRecord] = []
        self.records = 0
        self.problem = ""

    def put(self, record: WireRecord) -> None:
        """Take note; it is in the file at the next flush."""
        self._waiting.append(record)
        if len(self._waiting) >= _MOST_WAITING:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
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
        """Write the rest and give the file back."""
        self.flush()
        os.close(self._file)
