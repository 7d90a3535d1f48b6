"""
Does an asynchronous callback come when its answer has come?

Compares the end of the last attempt, which a hook in the client reports, with the callback of the same successful send.
Both are the client's own, so the wait between them has nothing to do with brokers. A stalled machine delays either
arm's callbacks, so a sign test decides whether the candidate's are late far more often. It gates as part of the check
``callbacks``. Callbacks in another order than their answers are late ones too. Not asked if relays saw the attempts.
"""

import numpy as np
import numpy.typing as npt
import scipy

from rocketdiff.analysis.sending.checks.context import TableObserver
from rocketdiff.analysis.sending.send_arrays import is_null, is_one_of
from rocketdiff.core.arm import Arm
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.signatures import CALLED_LATE
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.traces.schema import TableName

LATE_MS = 10.0
"""
Clients call back on the thread that read the answer. In nine stored cases of two faithful clients, at loads up to 10 on two
cores, the longest of 300 waits was 30 ms, and 99 of 100 were below 6 ms.
"""

SHARE = 0.1
"""Least share of late callbacks: an application notices one in ten, and garbage collection delays fewer."""

ERROR_BUDGET = 1e-6
"""Bound on the probability of such a split if both arms were as often late; a run tests once per case."""

_NOT_TRIED = np.iinfo(np.int64).min

Ints = npt.NDArray[np.int64]
Waits = tuple[Ints, Ints, npt.NDArray[np.float64]]
"""Send, instant (ns) and lateness (ms, after the end of the last attempt) of each callback."""


class LateCallbacks(TableObserver):
    """Compares the waits of both arms' callbacks."""

    def finish(self) -> None:
        """Note at most one difference, at the callback that waited longest."""
        rules = self._context.rulebook.rules
        if not rules or not all(rules[arm].choosers_reported for arm in Arm):
            return
        waits = {arm: self._waits(arm) for arm in Arm}
        late = {arm: int(np.count_nonzero(ms > LATE_MS)) for arm, (*_, ms) in waits.items()}
        sends, called_ns, ms = waits[Arm.CANDIDATE]
        if not are_late(late[Arm.BASELINE], late[Arm.CANDIDATE], len(sends)):
            return
        place = int(ms.argmax())
        self._collector.differ_at(
            CALLED_LATE,
            Arm.CANDIDATE,
            send=int(sends[place]),
            phase=str(self._context.times.phase_at(int(called_ns[place]))),
            at_ns=int(called_ns[place]),
            expected=f"callbacks when the answer has come, {late[Arm.BASELINE]} of the baseline's over {LATE_MS:g} ms later",
            observed=f"{late[Arm.CANDIDATE]} of {len(sends)} over {LATE_MS:g} ms later, this one {ms[place]:,.0f} ms",
        )

    def _waits(self, arm: Arm) -> Waits:
        sends, attempts = (self._context.trace.table(table, arm) for table in (TableName.SENDS, TableName.ATTEMPTS))
        if not is_one_of(sends.column("mode"), SendMode.ASYNC).any():
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
        mine = is_one_of(sends.column("mode"), SendMode.ASYNC) & is_null(sends.column("error"))
        send, called_ns = (sends.column(name).to_numpy()[mine] for name in ("send", "end_ns"))
        tried, tried_ns = (attempts.column(name).to_numpy() for name in ("send", "end_ns"))
        last_ns = np.full(max(send.max(initial=0), tried.max(initial=0)) + 1, _NOT_TRIED)
        np.maximum.at(last_ns, tried, tried_ns)
        was_tried = last_ns[send] != _NOT_TRIED
        send, called_ns = send[was_tried], called_ns[was_tried]
        return send, called_ns, (called_ns - last_ns[send]) / NS_PER_MS


def are_late(baseline: int, candidate: int, callbacks: int) -> bool:
    """True if the candidate's late callbacks are many, and far more than the baseline's."""
    if not candidate or candidate < SHARE * callbacks:
        return False
    return float(scipy.stats.binom.sf(candidate - 1, candidate + baseline, 0.5)) <= ERROR_BUDGET
