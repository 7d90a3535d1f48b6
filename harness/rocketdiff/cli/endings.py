"""
How a signal ends the program: SIGINT (Ctrl-C), SIGTERM and SIGHUP (a closed terminal) mean the same, message and exit code 130.

The first one raises KeyboardInterrupt, and everything that was started is stopped on the way out. Those that come while that
goes on are not heeded, for a second exception would break off the stopping; after ``PATIENCE_S`` the next one is.

Python drops an exception that is raised in a destructor or in a weak reference's callback, imports have such callbacks, some
libraries in C print it and go on, and then the program would. So whether the exception is on its way is looked at again a
moment later, and it is raised anew.
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
"""Servers are ended in well under a second, Spark's JVM too; who presses Ctrl-C after this long means it anew."""

LOST_AFTER_S = 0.3
"""Longer than a destructor takes. What the exception has reached by then is stopping, or has ended."""

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Handler = Callable[[int, FrameType | None], None]


def on_signals(handler: Handler | signal.Handlers) -> None:
    """Set the handler of all three; one that whoever started us had set to be ignored (nohup, a job in the background) stays so."""
    for number in NUMBERS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def heed_ctrl_c() -> None:
    """For a command whose ordinary end is Ctrl-C: SIGINT does what SIGTERM does, also where a shell script started it in the background, with SIGINT ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.getsignal(signal.SIGTERM))


class Interruption:
    """The handler while a command runs. came: one has; what fails then (half an import) is no fault."""

    def __init__(self) -> None:
        self._heeded_at = -PATIENCE_S
        self.came = False

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt, unless one is just being heeded."""
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
    """Whether what was interrupted now is on the way out: a ``finally``, or an ``except`` or ``with`` that ends, for a KeyboardInterrupt."""
    error = sys.exception()
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _unless_dropped(lost: "sys.UnraisableHookArgs") -> None:
    """Python tells of an exception that it drops; one that is raised anew is nobody's concern."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)


def _unless_printed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)


def ended(code: int) -> NoReturn:
    """Leave with a code that no further signal changes: from here on only files and processes of ours are taken away."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number in NUMBERS:
        with contextlib.suppress(ValueError):  # not the main thread: a test
            signal.signal(number, signal.SIG_IGN)
    exec("")  # noqa: S102 - Python kills itself by SIGINT at its end if a KeyboardInterrupt came out of the last exec
    raise SystemExit(code)
