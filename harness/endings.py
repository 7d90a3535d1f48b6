"""
How a signal ends the program: SIGINT (Ctrl-C), SIGTERM and SIGHUP (a closed terminal) mean the same, message and exit code 130.

The first one raises KeyboardInterrupt, and everything that was started is stopped on the way out. Those that come while that
goes on are not heeded, for a second exception would break off the stopping; after ``PATIENCE_S`` the next one is.
"""

import contextlib
import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130
"""What a shell reports for a program that ended on Ctrl-C."""

INTERRUPTED_MESSAGE = "interrupted; everything that was started has been stopped"

PATIENCE_S = 10.0
"""Servers are ended in well under a second, Spark's JVM too; who presses Ctrl-C after this long means it anew."""

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Handler = Callable[[int, FrameType | None], None]


def on_signals(handler: Handler | signal.Handlers) -> None:
    """Set the handler of all three; one that whoever started us had set to be ignored (nohup, a job in the background) stays so."""
    for number in NUMBERS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


class Interruption:
    """The handler while a command runs."""

    def __init__(self) -> None:
        self._heeded_at = -PATIENCE_S

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt, unless one is just being heeded."""
        now = time.monotonic()
        if now - self._heeded_at >= PATIENCE_S:
            self._heeded_at = now
            raise KeyboardInterrupt


def ended(code: int) -> NoReturn:
    """Leave with a code that no further signal changes: from here on only files and processes of ours are taken away."""
    for number in NUMBERS:
        with contextlib.suppress(ValueError):  # not the main thread: a test
            signal.signal(number, signal.SIG_IGN)
    raise SystemExit(code)
