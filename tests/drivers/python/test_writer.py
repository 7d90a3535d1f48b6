"""Records are written in order."""

import os

from rocketdiff.core.records.session import Done, Ready
from rocketdiff.drivers.python.writer import RecordWriter


def test_flush_writes_everything_put_so_far_in_order() -> None:
    """flush() writes all records in order, also the raw bytes of toys."""
    listening, speaking = os.pipe()
    writer = RecordWriter(speaking)
    writer.put(Ready(1))
    writer.put(b"nonsense\n")
    writer.put(Done(2))
    writer.flush()
    assert os.read(listening, 1_000) == b'{"type":"ready","clock_ns":1}\nnonsense\n{"type":"done","sends":2}\n'
    os.close(listening)
    os.close(speaking)
