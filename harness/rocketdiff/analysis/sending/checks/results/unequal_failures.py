"""
Do sends fail as often as the other client's during the same long pauses?

With few pauses, counts by spell decide nothing (``outcomes.MORE``). Asynchronous sends keep to the plan, so equally many of both
arms are due during a pause, and one due a timeout and a look (LOOK_NS) before its end fails if it goes to the paused broker. Which do is the luck
of a rotation, which scatters less than Fisher's test assumes. What the sends of a pause have in common (a connection closed in
one arm only) is allowed for by FAR_APART. It gates as part of the check ``outcomes``, whichever client fails more.

A call that waits blocks its thread until its timeout, so how many a thread loses to a pause is luck, up to the number of
timeouts that fit in it (seen of faithful clients: 11 against 5 in eight pauses of 600 ms). Only failures beyond them count: of
a client that fails at once because an earlier send failed, say.

Not asked behind proxies, whose clients back off at random. Not found: fewer than about a dozen failures of a case, and fewer
than FAR_APART times as many as the other's.
"""

from collections.abc import Sequence

import numpy as np
import scipy

from rocketdiff.analysis.fault_windows import FOREVER_NS
from rocketdiff.analysis.sending.checks.context import TableObserver
from rocketdiff.analysis.sending.send_arrays import Ints, Mask, is_null
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.signatures import UNEQUAL_FAILURES
from rocketdiff.core.tables.topology import topology_named
from rocketdiff.core.units import NS_PER_MS, NS_PER_S
from rocketdiff.traces.schema import TableName

FAR_APART = 4
"""
How many times as many of one arm's sends must fail, and more in every pause. A connection that one arm alone loses saves or
costs it the sends of one timeout; a fault table that learns a second later, those of a second: half of a pause of two.
"""

LOOK_NS = 2 * NS_PER_S
"""
A client looks for requests without an answer once a second, and gives up those whose timeout ended a second before
(scanResponseTable). Until then a late answer counts. Seen of one client: 10 failures against 57 in a pause of 2.6 s.
"""

ERROR_BUDGET = 1e-5
"""Probability of a false alarm of a case. A run has a few cases with asynchronous sends and long pauses."""

Span = tuple[int, int]

Failures = tuple[int, int]
"""Sends that were due during a pause, and how many of them failed."""


class UnequalFailures(TableObserver):
    """Compares the failures of the arms by pause."""

    def finish(self) -> None:
        """Note at most one difference, at the first send that failed in one arm."""
        if topology_named(self._context.entry.topology).has_proxies:
            return
        outages = [(each.start_ns, each.end_ns or FOREVER_NS) for each in self._context.times.outages]
        outages = [span for span in outages if span[1] < FOREVER_NS]
        timeout_ns = self._context.entry.settings.send_msg_timeout_ms * NS_PER_MS
        late_ns = timeout_ns + LOOK_NS
        early = [(begin_ns, end_ns - late_ns) for begin_ns, end_ns in outages if end_ns - late_ns > begin_ns]
        self._compare(early, 0, is_awaited=False)
        self._compare(outages, sum(map(self._timeouts_in, outages)), is_awaited=True)

    def _timeouts_in(self, outage: Span) -> int:
        """How many calls the threads of an arm can lose to an outage one after another."""
        settings = self._context.entry.settings
        cap_ms = settings.send_msg_max_timeout_per_request_ms
        shortest_ms = min(settings.send_msg_timeout_ms, cap_ms if cap_ms > 0 else settings.send_msg_timeout_ms)
        return self._context.entry.threads * (2 + (outage[1] - outage[0]) // (shortest_ms * NS_PER_MS))

    def _compare(self, spans: Sequence[Span], luck: int, *, is_awaited: bool) -> None:
        if not spans:
            return
        sends = {arm: self._sends(arm, is_awaited=is_awaited) for arm in Arm}
        found = {arm: [_failures(due, failed, span) for span in spans] for arm, (due, failed, _) in sends.items()}
        if not are_unequal(found[Arm.BASELINE], found[Arm.CANDIDATE], luck):
            return
        total = {arm: (sum(n for n, _ in each), sum(n for _, n in each)) for arm, each in found.items()}
        is_more = total[Arm.CANDIDATE][1] > total[Arm.BASELINE][1]
        due, failed, number = sends[Arm.CANDIDATE if is_more else Arm.BASELINE]
        place = int(np.flatnonzero(failed & np.logical_or.reduce([_due_in(due, span) for span in spans]))[0])
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

    def _sends(self, arm: Arm, *, is_awaited: bool) -> tuple[Ints, Mask, Ints]:
        """When each send was due, whether it failed, and its number. is_awaited: of synchronous sends, else of asynchronous ones."""
        sends, errors = self._context.sends(arm), self._context.trace.table(TableName.SENDS, arm).column("error")
        chosen = sends.waits if is_awaited else ~sends.waits & ~sends.is_oneway
        failed = ~is_null(errors) & sends.ended
        return sends.due[chosen], failed[chosen], sends.number[chosen]


def are_unequal(baseline: Sequence[Failures], candidate: Sequence[Failures], luck: int = 0) -> bool:
    """
    True if one arm failed far more often, in each pause in which both did not fail alike. Due and failed by pause.

    luck: how many more the other might have had.
    """
    signs = {np.sign(one[1] - other[1]) for one, other in zip(baseline, candidate, strict=True)} - {0}
    total = [(sum(n for n, _ in arm), sum(n for _, n in arm)) for arm in (baseline, candidate)]
    if len(signs) != 1 or not all(due for due, _ in total):
        return False
    (due, few), many = sorted(total, key=lambda each: each[1] / each[0])
    few = min(due, few + luck)
    return many[1] / many[0] >= FAR_APART * few / due and chance((due, few), many) <= ERROR_BUDGET


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
