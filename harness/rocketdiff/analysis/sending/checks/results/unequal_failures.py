"""
Do asynchronous sends fail as often as the other client's during the same long pauses?

With few pauses, counts by spell decide nothing (``outcomes.MORE``). Asynchronous sends keep to the plan, so equally many of both
arms are due during a pause, and one due a timeout before its end fails if it goes to the paused broker. Which do is the luck
of a rotation, which scatters less than Fisher's test assumes. What the sends of a pause have in common (a connection closed in
one arm only) is allowed for by FAR_APART. It gates as part of the check ``outcomes``, whichever client fails more.

Not asked behind proxies, whose clients back off at random. Not found: fewer than about a dozen failures of a case, fewer
than FAR_APART times as many as the other's, and failures of calls that wait. Their thread is blocked, so each arm has a
few in a pause by luck: seen of faithful clients, 11 against 5 in eight pauses of 600 ms.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy

from rocketdiff.analysis.sending.checks.context import TableObserver
from rocketdiff.analysis.sending.checks.results.moments import Ints, Mask
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import NEVER_CALLED_BACK
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.signatures import UNEQUAL_FAILURES
from rocketdiff.core.tables.topology import topology_named
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.traces.schema import TableName

FAR_APART = 4
"""
How many times as many of one arm's sends must fail, and more in every pause. A connection that one arm alone loses saves or
costs it the sends of one timeout; a fault table that learns a second later, those of a second: half of a pause of two.
"""

ERROR_BUDGET = 1e-5
"""Probability of a false alarm of a case. A run has a few cases with asynchronous sends and long pauses."""

Failures = tuple[int, int]
"""Sends that were due during a pause, and how many of them failed."""


class UnequalFailures(TableObserver):
    """Compares the failures of the arms by pause."""

    def finish(self) -> None:
        """Note at most one difference, at the first send that failed in one arm."""
        if topology_named(self._context.entry.topology).has_proxies:
            return
        spans = list(self._spans())
        if not spans:
            return
        sends = {arm: self._sends(arm) for arm in Arm}
        if not all(due.size for due, _, _ in sends.values()):
            return
        found = {arm: [_failures(due, failed, span) for span in spans] for arm, (due, failed, _) in sends.items()}
        if not are_unequal(*found.values()):
            return
        total = {arm: (sum(n for n, _ in each), sum(n for _, n in each)) for arm, each in found.items()}
        is_more = total[Arm.CANDIDATE][1] > total[Arm.BASELINE][1]
        due, failed, number = sends[Arm.CANDIDATE if is_more else Arm.BASELINE]
        place = int(np.flatnonzero(failed & _due_in(due, spans[0]))[0])
        self._collector.differ_at(
            UNEQUAL_FAILURES,
            Arm.CANDIDATE,
            place="more" if is_more else "fewer",
            send=int(number[place]),
            phase=str(self._context.times.phase_at(int(due[place]))),
            at_ns=int(due[place]),
            expected=f"about as many failures as the baseline's {_words(total[Arm.BASELINE])}",
            observed=f"{_words(total[Arm.CANDIDATE])} (p = {chance(*total.values()):.2g})",
        )

    def _spans(self) -> Iterator[tuple[int, int]]:
        """From when a broker was stopped until a timeout before it went on, of each long enough pause."""
        timeout_ns = self._context.entry.settings.send_msg_timeout_ms * NS_PER_MS
        for outage in self._context.times.outages:
            if outage.end_ns is not None and outage.end_ns - timeout_ns > outage.start_ns:
                yield outage.start_ns, outage.end_ns - timeout_ns

    def _sends(self, arm: Arm) -> tuple[Ints, Mask, Ints]:
        """When each asynchronous send was due, whether it failed, and its number."""
        table = self._context.trace.table(TableName.SENDS, arm)
        found = table.filter(pc.is_in(table.column("mode"), pa.array([SendMode.ASYNC]))).select(
            ["due_ns", "error", "send"]
        )
        failed = [error not in (None, NEVER_CALLED_BACK) for error in found.column("error").to_pylist()]
        due, number = (found.column(name).to_numpy() for name in ("due_ns", "send"))
        return due, np.array(failed, dtype=np.bool_), number


def are_unequal(baseline: Sequence[Failures], candidate: Sequence[Failures]) -> bool:
    """True if one arm failed far more often, in each pause in which both did not fail alike. Due and failed by pause."""
    signs = {np.sign(one[1] - other[1]) for one, other in zip(baseline, candidate, strict=True)} - {0}
    total = [(sum(n for n, _ in arm), sum(n for _, n in arm)) for arm in (baseline, candidate)]
    if len(signs) != 1 or not all(due for due, _ in total):
        return False
    shares = sorted(failed / due for due, failed in total)
    return shares[1] >= FAR_APART * shares[0] and chance(*total) <= ERROR_BUDGET


def chance(baseline: Failures, candidate: Failures) -> float:
    """Fisher's exact test, two-sided."""
    table = np.array([[failed, due - failed] for due, failed in (baseline, candidate)])
    return float(scipy.stats.fisher_exact(table).pvalue)


def _due_in(due: Ints, span: tuple[int, int]) -> Mask:
    return np.asarray((due >= span[0]) & (due < span[1]))


def _failures(due: Ints, failed: Mask, span: tuple[int, int]) -> Failures:
    here = _due_in(due, span)
    return int(np.count_nonzero(here)), int(np.count_nonzero(here & failed))


def _words(total: Failures) -> str:
    return f"{total[1]} of {total[0]} sends that were due during long pauses"
