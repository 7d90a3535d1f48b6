"""Survives a reader that exits (`rocketdiff run … | head`): the rest of the output is discarded, and the exit code stays."""

import io
import os
import sys
from typing import Any, TextIO


class Unbreakable(io.FileIO):
    """A stream's descriptor that is redirected to /dev/null when its reader has gone."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            nobody = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nobody, self.fileno())
            os.close(nobody)
            return memoryview(data).nbytes


def outlive_readers() -> None:
    """Make standard output and error survive their readers, up to the flush at the interpreter's exit."""
    sys.stdout = _outliving(sys.stdout, sys.__stdout__)
    sys.stderr = _outliving(sys.stderr, sys.__stderr__)


def _outliving(stream: TextIO, original: TextIO | None) -> TextIO:
    """A replaced or closed stream is left alone."""
    if stream is not original or not isinstance(stream, io.TextIOWrapper) or stream.closed:
        return stream
    stream.flush()
    raw = Unbreakable(stream.fileno(), "w", closefd=False)
    # A terminal is written to line by line, as before.
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
