"""A reader that goes away, `rocketdiff run … | head`, changes nothing: the rest is written to nobody, and the exit code stays."""

import io
import os
import sys
from typing import Any, TextIO


class Unbreakable(io.FileIO):
    """A stream's descriptor that becomes /dev/null when its reader has gone."""

    def write(self, data: Any, /) -> int:
        """As FileIO does; everything counts as written where nobody reads any more."""
        try:
            return super().write(data)
        except BrokenPipeError:
            nobody = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nobody, self.fileno())
            os.close(nobody)
            return memoryview(data).nbytes


def outlive_readers() -> None:
    """Let standard output and standard error survive their readers, to the flush at the end of the interpreter."""
    sys.stdout = _outliving(sys.stdout, sys.__stdout__)
    sys.stderr = _outliving(sys.stderr, sys.__stderr__)


def _outliving(stream: TextIO, original: TextIO | None) -> TextIO:
    """The same stream over an Unbreakable; one that somebody has put in its place, or a closed one, is left alone."""
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
