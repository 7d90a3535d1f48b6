"""Asynchronous sends under way: the first callback of each is its answer, a second is told too, one that never comes is said."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from rocketdiff.core.sends.plan import PlannedSend
from rocketdiff.core.sends.records import NEVER_CALLED_BACK, CalledBackAgain, Send
from rocketdiff.drivers.python.client import Answer, Speak

Told = Callable[[Answer | Exception], None]
"""What a client's callback tells; may be called by any thread, and more than once."""

RecordOf = Callable[[int, Answer | None, Exception | None], Send]
"""The record of a send from when it ended and what it came to."""


@dataclass(slots=True)
class _Open:
    """
    One send: returned_ns once the call is back, answer once the callback was called; both are needed to tell it.

    again: further calls of the callback, to be told after it.
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
    Every asynchronous send of a subject; safe for threads.

    limit_s: how long after its call a callback is waited for; gave_up: told the send and the time, in ns, where it never came.
    """

    def __init__(self, speak: Speak, limit_s: float, gave_up: Callable[[PlannedSend, int], None]) -> None:
        self._speak = speak
        self._gave_up = gave_up
        self._limit_s = limit_s
        self._open: dict[int, _Open] = {}
        self._changed = threading.Condition()

    def begin(self, send: PlannedSend, record_of: RecordOf) -> Told:
        """A call is about to be made; what its callback is told goes to the function returned."""
        opened = _Open(send, record_of, time.monotonic_ns())
        with self._changed:
            self._open[send.send] = opened
        return lambda told: self._called_back(opened, told)

    def returned(self, send: PlannedSend, error: Exception | None) -> None:
        """The call is back; an error it raised is its answer."""
        now_ns = time.monotonic_ns()
        with self._changed:
            opened = self._open[send.send]
            opened.returned_ns = now_ns
            if error is not None and opened.answer is None:
                opened.answer = opened.record_of(now_ns, None, error)
            self._tell(opened)

    def await_all(self) -> None:
        """Wait for every callback, each up to its limit; those that never came are told as that."""
        with self._changed:
            for opened in list(self._open.values()):
                left_s = self._limit_s - (time.monotonic_ns() - opened.called_ns) / 1e9
                self._changed.wait_for(lambda one=opened: one.is_told, max(0.0, left_s))  # type: ignore[misc]  # bound now
                if not opened.is_told:
                    now_ns = time.monotonic_ns()
                    self._gave_up(opened.send, now_ns)
                    gave_up = opened.record_of(now_ns, None, None)
                    opened.answer = replace(gave_up, error=NEVER_CALLED_BACK, message="no callback within the limit")
                    self._tell(opened)

    def _called_back(self, opened: _Open, told: Answer | Exception) -> None:
        now_ns = time.monotonic_ns()
        error, answer = (told, None) if isinstance(told, Exception) else (None, told)
        with self._changed:
            if opened.answer is None:
                opened.answer = opened.record_of(now_ns, answer, error)
                self._tell(opened)
                return
            name = None if error is None else type(error).__name__
            status = None if answer is None else answer.status
            opened.again.append(CalledBackAgain(opened.send.send, opened.send.thread, now_ns, name, status))
            self._tell(opened)

    def _tell(self, opened: _Open) -> None:
        """A callback may overtake the return of its call, and is told after it."""
        if opened.answer is not None and opened.returned_ns is not None and not opened.is_told:
            opened.is_told = True
            self._speak(replace(opened.answer, returned_ns=opened.returned_ns))
            self._changed.notify_all()
        if opened.is_told:
            for again in opened.again:
                self._speak(again)
            opened.again.clear()
