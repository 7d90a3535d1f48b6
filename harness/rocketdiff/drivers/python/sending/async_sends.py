"""Asynchronous sends in flight: reports first, repeated and missing callbacks."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from rocketdiff.core.records.sending import NEVER_CALLED_BACK, CalledBackAgain, Send
from rocketdiff.core.sends.plan import PlannedSend
from rocketdiff.drivers.python.sending.client import ClientResult
from rocketdiff.drivers.python.session import Speak

Told = Callable[[ClientResult | Exception], None]
"""Receives the result of a client's callback; may be called from any thread and repeatedly."""

RecordOf = Callable[[int, ClientResult | None, Exception | None], Send]
"""Makes the record of a send from end time, answer and error."""


@dataclass(slots=True)
class _Open:
    """
    One send; reported when its call has returned (returned_ns) and its callback was called (answer).

    again: further calls of the callback, reported after it.
    """

    send: PlannedSend
    record_of: RecordOf
    called_ns: int
    returned_ns: int | None = None
    answer: Send | None = None
    again: list[CalledBackAgain] = field(default_factory=list)
    is_told: bool = False


class AsyncSends:
    """
    All asynchronous sends of a subject; thread-safe.

    limit_s: time limit for a callback, from its call. gave_up: called with the send and the time in ns if it never came.
    """

    def __init__(self, speak: Speak, limit_s: float, gave_up: Callable[[PlannedSend, int], None]) -> None:
        self._speak = speak
        self._gave_up = gave_up
        self._limit_s = limit_s
        self._open: dict[int, _Open] = {}
        self._changed = threading.Condition()

    def begin(self, send: PlannedSend, record_of: RecordOf) -> Told:
        """Register a call that is about to be made; return the function for its callback."""
        opened = _Open(send, record_of, time.monotonic_ns())
        with self._changed:
            self._open[send.send] = opened
        return lambda on_end: self._called_back(opened, on_end)

    def returned(self, send: PlannedSend, error: Exception | None) -> None:
        """Record the return of the call; an error it raised is its answer."""
        now_ns = time.monotonic_ns()
        with self._changed:
            opened = self._open[send.send]
            opened.returned_ns = now_ns
            if error is not None and opened.answer is None:
                opened.answer = opened.record_of(now_ns, None, error)
            self._report(opened)

    def await_all(self) -> None:
        """Wait for every callback up to its limit; report missing ones as NeverCalledBack."""
        with self._changed:
            for opened in list(self._open.values()):
                left_s = self._limit_s - (time.monotonic_ns() - opened.called_ns) / 1e9
                self._changed.wait_for(lambda one=opened: one.is_told, max(0.0, left_s))  # type: ignore[misc]  # bound now
                if not opened.is_told:
                    now_ns = time.monotonic_ns()
                    self._gave_up(opened.send, now_ns)
                    gave_up = opened.record_of(now_ns, None, None)
                    opened.answer = replace(gave_up, error=NEVER_CALLED_BACK, message="no callback within the limit")
                    self._report(opened)

    def _called_back(self, opened: _Open, on_end: ClientResult | Exception) -> None:
        now_ns = time.monotonic_ns()
        error, answer = (on_end, None) if isinstance(on_end, Exception) else (None, on_end)
        with self._changed:
            if opened.answer is None:
                opened.answer = opened.record_of(now_ns, answer, error)
                self._report(opened)
                return
            name = None if error is None else type(error).__name__
            status = None if answer is None else answer.status
            opened.again.append(CalledBackAgain(opened.send.send, opened.send.thread, now_ns, name, status))
            self._report(opened)

    def _report(self, opened: _Open) -> None:
        """Report what is complete; a callback may come before its call returns, and is reported after it."""
        if opened.answer is not None and opened.returned_ns is not None and not opened.is_told:
            opened.is_told = True
            self._speak(replace(opened.answer, returned_ns=opened.returned_ns))
            self._changed.notify_all()
        if opened.is_told:
            for again in opened.again:
                self._speak(again)
            opened.again.clear()
