"""Records written by a thread of their own, so that a sender pays for one append and nothing else."""

import os
import threading
import time
from collections import deque

from rocketdiff.core.sends.records import Record
from rocketdiff.protocol.records import encode_record

_PAUSE_S = 0.01
"""A crash loses at most this much; the protocol allows 20 ms."""


class RecordWriter:
    """Writes to one descriptor, in the order of put; safe for threads."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._waiting: deque[Record | bytes] = deque()
        self._flushing = threading.Lock()

    def start(self) -> None:
        """Begin to write every few milliseconds."""
        threading.Thread(target=self._run, name="record-writer", daemon=True).start()

    def put(self, record: Record | bytes) -> None:
        """Say a record, or raw bytes; returns at once."""
        self._waiting.append(record)

    def flush(self) -> None:
        """Write everything put so far; the process ends if nobody listens any more."""
        with self._flushing:
            lines = []
            while self._waiting:
                said = self._waiting.popleft()
                lines.append(said if isinstance(said, bytes) else encode_record(said))
            rest = memoryview(b"".join(lines))
            try:
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
            except BrokenPipeError:
                os._exit(1)

    def _run(self) -> None:
        while True:
            self.flush()
            time.sleep(_PAUSE_S)
