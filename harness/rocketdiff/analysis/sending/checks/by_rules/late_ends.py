"""
Does a send that failed or was tried again spend its time in its attempts?

By the rules a client goes on at once to the next attempt, and ends at once after the last. What is left of a call beside its attempts is
the client's own, so brokers have nothing to do with it. A stalled machine may delay either arm's: the sign test of late callbacks decides.
A part of the check ``attempts``. Not asked if relays saw the attempts, nor behind proxies, whose clients wait before they try again.
"""

import numpy as np

from rocketdiff.analysis.sending.checks.by_rules.late_callbacks import are_late
from rocketdiff.analysis.sending.checks.context import TableObserver
from rocketdiff.analysis.sending.send_arrays import Floats, Ints, is_null
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.signatures import ENDS_LATE
from rocketdiff.core.tables.topology import topology_named
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.traces.schema import TableName

LATE_MS = 50.0
"""Of 4,972 such sends of stored real cases, one spent more beside its attempts (61 ms); 99 of 100 were below 6 ms."""


class LateEnds(TableObserver):
    """Compares both arms' time beside attempts."""

    def finish(self) -> None:
        """Note at most one difference, at the send that spent most."""
        rules = self._context.rulebook.rules
        if set(rules) != set(Arm) or not all(each.choosers_reported for each in rules.values()):
            return
        if topology_named(self._context.entry.topology).has_proxies:
            return
        beside = {arm: self._beside_attempts(arm) for arm in Arm}
        late = {arm: int(np.count_nonzero(ms > LATE_MS)) for arm, (_, ms) in beside.items()}
        rows, ms = beside[Arm.CANDIDATE]
        if not are_late(late[Arm.BASELINE], late[Arm.CANDIDATE], rows.size):
            return
        sends, place = self._context.sends(Arm.CANDIDATE), int(ms.argmax())
        row = int(rows[place])
        self._collector.differ_at(
            ENDS_LATE,
            Arm.CANDIDATE,
            thread=int(sends.thread[row]),
            send=int(sends.number[row]),
            phase=str(self._context.times.phase_at(int(sends.start[row]))),
            at_ns=int(sends.start[row]),
            expected=f"at most {LATE_MS:.0f} ms beside its attempts, as in all but {late[Arm.BASELINE]} sends of the baseline",
            observed=f"{ms[place]:,.0f} ms, and more than allowed in {late[Arm.CANDIDATE]} of {rows.size} that failed or were tried again",
        )

    def _beside_attempts(self, arm: Arm) -> tuple[Ints, Floats]:
        """Row of each send that failed or was tried again, and how many ms of it no attempt took."""
        sends, trace = self._context.sends(arm), self._context.trace
        tried, began_ns, ended_ns = (
            trace.table(TableName.ATTEMPTS, arm).column(name).to_numpy() for name in ("send", "start_ns", "end_ns")
        )
        size = int(max(sends.number.max(initial=0), tried.max(initial=0))) + 1
        attempts = np.bincount(tried, minlength=size)[sends.number]
        tried_ns = np.bincount(tried, weights=ended_ns - began_ns, minlength=size)[sends.number]
        has_failed = ~is_null(trace.table(TableName.SENDS, arm).column("error"))
        rows = np.flatnonzero(sends.ended & (attempts > 0) & (has_failed | (attempts > 1)))
        beside_ns = (sends.end - sends.start - tried_ns)[rows]
        return rows, np.asarray(beside_ns / NS_PER_MS, dtype=np.float64)
