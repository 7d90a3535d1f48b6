"""
Do calls that do not wait for a broker return as soon in both arms?

Compares one-way calls, and asynchronous ones up to their return, with the same planned call of the other arm, made at
the same time. Both take a few milliseconds; a call is held up if it took far longer than the slowest in a hundred of the
quicker client. A stalled machine holds up either arm's calls, so a sign test decides whether the candidate's are held up far
more often. It gates as part of the check ``attempts``.
"""

from array import array
from math import comb

import numpy as np

from rocketdiff.analysis.sending.checks.context import CalmBefore, CaseContext, CaseObserver
from rocketdiff.analysis.sending.checks.results.moments import LEAST_NS, far_longer, slowest_in_a_hundred
from rocketdiff.analysis.sending.send_view import SendView
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.signatures import CALL_HELD_UP
from rocketdiff.core.units import NS_PER_MS, NS_PER_S

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
        self._usual_ms, self._took_ms = array("d"), array("d")
        self._longest: tuple[float, float, AlignedSend, SendView] | None = None

    def observe(self, send: AlignedSend) -> None:
        if send.baseline is None or send.candidate is None:
            return
        usual_ms, took_ms = call_ms(send.baseline), call_ms(send.candidate)
        if usual_ms is None or took_ms is None:
            return
        self._usual_ms.append(usual_ms)
        self._took_ms.append(took_ms)
        if self._longest is None or took_ms > self._longest[0]:
            self._longest = took_ms, usual_ms, send, send.candidate

    def calm_at_end(self, calm: CalmBefore) -> None:
        """Calm calls count too; the candidate's longest call is never calm."""
        usual_ms, took_ms = calm.calls_ms()
        self._usual_ms.extend(usual_ms)
        self._took_ms.extend(took_ms)

    def finish(self) -> None:
        if self._longest is None:
            return
        usual, took = np.frombuffer(self._usual_ms), np.frombuffer(self._took_ms)
        entry = self._context.entry
        period_ns = entry.threads * entry.duration_s * NS_PER_S / max(entry.sends_planned, 1)
        limit_ms = far_longer(map(slowest_in_a_hundred, (usual, took)), min(LEAST_NS, period_ns) / NS_PER_MS)
        held_up, quicker = (int(np.count_nonzero(more > limit_ms)) for more in (took - usual, usual - took))
        if held_up < SHARE * took.size or tail(held_up, held_up + quicker) > ERROR_BUDGET:
            return
        took_ms, usual_ms, send, side = self._longest
        assert side.row is not None
        self._collector.differ(
            CALL_HELD_UP,
            send,
            side,
            place=str(side.row.mode),
            expected=f"calls that return as soon as baseline's, this one after {usual_ms:,.0f} ms",
            observed=f"{held_up} of {took.size} calls took over {limit_ms:,.0f} ms longer, this one {took_ms:,.0f} ms",
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
