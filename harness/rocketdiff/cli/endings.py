"""
How a signal ends the program: SIGINT (Ctrl-C), SIGTERM and SIGHUP (a closed terminal) all end with a message and exit code 130.

The first signal raises KeyboardInterrupt, and everything that was started is stopped. Signals during that are ignored,
because a second exception would abort the stopping; after ``PATIENCE_S`` they count again.

Python drops exceptions raised in a destructor or a weak reference's callback (imports have these), and some C libraries
print them and continue. So a timer checks a moment later whether the exception is propagating, and otherwise raises it
again.
"""

import contextlib
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import NoReturn

INTERRUPTED = 130
"""What a shell reports for a program that ended on Ctrl-C."""

INTERRUPTED_MESSAGE = "interrupted; everything that was started has been stopped"

PATIENCE_S = 10.0
"""Servers and Spark's JVM end in well under a second. A later Ctrl-C is a new request."""

LOST_AFTER_S = 0.3
"""Longer than a destructor takes. By then the program is stopping, unless the exception was dropped."""

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Handler = Callable[[int, FrameType | None], None]


def on_signals(handler: Handler | signal.Handlers) -> None:
    """Set the handler of all three signals, except those that our parent set to be ignored (nohup, a background job)."""
    for number in NUMBERS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def heed_ctrl_c() -> None:
    """For a command that normally ends by Ctrl-C: handle SIGINT as SIGTERM, even if a script's background job ignores SIGINT."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.getsignal(signal.SIGTERM))


class Interruption:
    """The signal handler while a command runs. came: a later failure, such as half an import, is no fault."""

    def __init__(self) -> None:
        self._heeded_at = -PATIENCE_S
        self.came = False

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt, unless an earlier one is being handled."""
        now = time.monotonic()
        if now - self._heeded_at >= PATIENCE_S or not _is_under_way():
            self._heeded_at, self.came = now, True
            sys.unraisablehook, sys.excepthook = _unless_dropped, _unless_printed
            signal.signal(signal.SIGALRM, self._look_again)
            signal.setitimer(signal.ITIMER_REAL, LOST_AFTER_S)
            raise KeyboardInterrupt

    def _look_again(self, number: int, frame: FrameType | None) -> None:
        self(number, frame)


def _is_under_way() -> bool:
    """True inside a ``finally``, ``except`` or ending ``with`` block for a KeyboardInterrupt."""
    error = sys.exception()
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _unless_dropped(lost: "sys.UnraisableHookArgs") -> None:
    """Python prints an exception that it drops; a KeyboardInterrupt is raised again instead."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)


def _unless_printed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)


def ended(code: int) -> NoReturn:
    """Exit with a code that no further signal changes: only cleanup is left."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number in NUMBERS:
        with contextlib.suppress(ValueError):  # not the main thread: a test
            signal.signal(number, signal.SIG_IGN)
    exec("")  # noqa: S102 - Python kills itself by SIGINT at its end if a KeyboardInterrupt came out of the last exec
    raise SystemExit(code)
