"""Writes records on a separate thread, so that a sender pays only for one append."""

import os
import threading
import time
from collections import deque

from rocketdiff.core.records.received import Record
from rocketdiff.protocol.records import encode_record

_PAUSE_S = 0.01
"""Interval of writes: a crash loses at most this much; the protocol allows 20 ms."""


class RecordWriter:
    """Writes to one descriptor in the order of ``put``; thread-safe."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._waiting: deque[Record | bytes] = deque()
        self._flushing = threading.Lock()

    def start(self) -> None:
        threading.Thread(target=self._run, name="record-writer", daemon=True).start()

    def put(self, record: Record | bytes) -> None:
        """Queue a record or raw bytes; returns at once."""
        self._waiting.append(record)

    def flush(self) -> None:
        """Write everything queued; exit the process if the pipe has no reader."""
        with self._flushing:
            lines = []
            while self._waiting:
                item = self._waiting.popleft()
                lines.append(item if isinstance(item, bytes) else encode_record(item))
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
