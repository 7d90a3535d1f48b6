"""
Do calls that do not wait for a broker return as soon in both arms?

Compares one-way calls, and asynchronous ones up to their return, with the same planned call of the other arm, made at
the same time. Both take a few milliseconds; a call that took CALL_HELD_UP_MS more is held up. A stalled machine holds up
either arm's calls, so a sign test decides whether the candidate's are held up far more often. It gates as part of the
check ``attempts``.
"""

from math import comb

from rocketdiff.analysis.sending.checks.context import CaseContext, CaseObserver
from rocketdiff.analysis.sending.send_view import SendView
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.signatures import CALL_HELD_UP
from rocketdiff.core.units import NS_PER_MS

CALL_HELD_UP_MS = 100
"""At a load of 10, a runnable thread waits some tens of ms for one of two cores; a longer wait has another cause."""

SHARE = 0.1
"""Least share of calls held up: an application notices one in ten, and garbage collection holds up fewer."""

ERROR_BUDGET = 1e-6
"""
Bound on the probability of such a split if both arms were held up alike. A run tests once per case: one false alarm in
a million cases.
"""


class HeldUp(CaseObserver):
    """Counts calls held up in one arm only; notes the candidate's if they are too many."""

    def __init__(self, context: CaseContext) -> None:
        super().__init__(context)
        self._pairs = 0
        self._quicker = 0
        self._held_up = 0
        self._longest: tuple[float, AlignedSend, SendView] | None = None

    def observe(self, send: AlignedSend) -> None:
        if send.baseline is None or send.candidate is None:
            return
        usual_ms, took_ms = call_ms(send.baseline), call_ms(send.candidate)
        if usual_ms is None or took_ms is None:
            return
        self._pairs += 1
        self._quicker += usual_ms - took_ms > CALL_HELD_UP_MS
        if took_ms - usual_ms > CALL_HELD_UP_MS:
            self._held_up += 1
            if self._longest is None or took_ms > self._longest[0]:
                self._longest = took_ms, send, send.candidate

    def finish(self) -> None:
        if self._longest is None or self._held_up < SHARE * self._pairs:
            return
        if tail(self._held_up, self._held_up + self._quicker) > ERROR_BUDGET:
            return
        took_ms, send, side = self._longest
        assert send.baseline is not None
        assert side.row is not None
        usual_ms = call_ms(send.baseline) or 0.0
        self._collector.differ(
            CALL_HELD_UP,
            send,
            side,
            place=str(side.row.mode),
            expected=f"calls that return as soon as baseline's, this one after {usual_ms:,.0f} ms",
            observed=f"{self._held_up} of {self._pairs} calls took over {CALL_HELD_UP_MS} ms longer, this one {took_ms:,.0f} ms",
        )


def call_ms(side: SendView) -> float | None:
    """How long (ms) a call that waits for no answer kept its thread; None for others and for calls that threw."""
    row = side.row
    if row is None:
        return None
    if row.mode is SendMode.ONEWAY and row.error is None:
        return (row.end_ns - row.start_ns) / NS_PER_MS
    if row.mode is SendMode.ASYNC and row.returned_ns is not None:
        return (row.returned_ns - row.start_ns) / NS_PER_MS
    return None


def tail(heads: int, tosses: int) -> float:
    """Exact probability of at least so many heads of a fair coin."""
    return sum(comb(tosses, k) for k in range(heads, tosses + 1)) / (1 << tosses)
