"""
Which arm's sends of a message were held up: both succeeded at the first attempt, or are stored one-way, one far later than the other.

Both ran at the same time on the same brokers, so a stalled machine or broker holds up both. How late is far is measured: three
times what ninety-nine in a hundred of the quicker client's sends in calm took in this case, and a little more. During a fault
only sends to unaffected brokers are examined: their own client holds them up, when a thread waits for a blocked one. Real
clients do so at times (4.x while it connects), and any may collect garbage, so one occurrence shows nothing: moments of
calm and spells of faults are counted, and ``verdict`` decides.
"""

from collections.abc import Mapping

import numpy as np

from rocketdiff.analysis.fault_windows import FOREVER_NS, FaultPeriods, FaultReach, Windows
from rocketdiff.analysis.sending.checks.context import TableObserver
from rocketdiff.analysis.sending.checks.results.moments import (
    beside_faults,
    far_longer,
    least_ns,
    slowest_in_a_hundred,
)
from rocketdiff.analysis.sending.checks.results.one_way import stored_after_ns
from rocketdiff.analysis.sending.checks.results.outcomes import CALM, FAULTS, HELD_UP, MORE, NAME, moments_of
from rocketdiff.analysis.sending.send_arrays import Ints, Mask, Sends
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.core.units import NS_PER_MS

IN_A_HUNDRED = "outcomes.slowest-in-a-hundred"
"""Tally of the 99th percentile of an arm's sends in calm; its total is milliseconds."""

BESIDE_NS = 250_000_000
OF_THE_WAIT = 0.5
"""
Least delay beside a fault, where class loading of a first failure takes time: a thread that waits for a blocked one waits for its
timeout, or until the fault ends, so half of that is told apart.
"""


class SlowerSends(TableObserver):
    """Counts held up sends of each arm, and the moments and spells in which one arm alone had some."""

    def finish(self) -> None:
        arms = {arm: self._context.sends(arm) for arm in Arm}
        rows = _rows_of_both(arms)
        if not rows[Arm.BASELINE].size:
            return
        settings, faults = self._context.entry.settings, self._context.times.faults
        periods = FaultPeriods.of(faults, settings)
        stored = stored_after_ns(self._context.trace, arms)
        took = {arm: _through_after_ns(arms[arm], stored[arm])[at] for arm, at in rows.items()}
        starts = {arm: arms[arm].start[at] for arm, at in rows.items()}
        spells = [periods.at_many(starts[arm], starts[arm] + took[arm]) for arm in Arm]
        number = np.maximum(spells[0], spells[1])
        compared = np.ones(number.size, dtype=np.bool_)
        for arm, at in rows.items():
            answered = (arms[arm].went_well & ~arms[arm].is_oneway)[at] & ((number < 0) | self._beside(arms[arm])[at])
            compared &= answered | ((stored[arm][at] >= 0) & (number < 0))
        slowest = {arm: slowest_in_a_hundred(each[compared & (number < 0)]) for arm, each in took.items()}
        for arm, each_ns in slowest.items():
            self._collector.count(IN_A_HUNDRED, str(arm), CALM, "ms", total=each_ns / NS_PER_MS)
        limit = far_longer(slowest.values(), least_ns(arms[Arm.BASELINE]))
        lasting_ns = [end_ns - begin_ns for begin_ns, end_ns in periods.spans if end_ns is not None]
        beside_ns = max(limit, least_beside_ns(settings.send_msg_timeout_ms, min(lasting_ns, default=FOREVER_NS)))
        least = np.minimum(took[Arm.BASELINE], took[Arm.CANDIDATE]) + np.where(number < 0, limit, beside_ns)
        found = {arm: compared & (each > least) for arm, each in took.items()}
        self._count_calm({arm: arms[arm].due[rows[arm][held & (number < 0)]] for arm, held in found.items()})
        self._count_spells({arm: number[held & (number >= 0)] for arm, held in found.items()})

    def _beside(self, sends: Sends) -> Mask:
        """True for sends to brokers without a fault, unless the answer may be another's or the route may be missing."""
        settings, faults = self._context.entry.settings, self._context.times.faults
        lasting_ns = FaultReach.of_attempts(faults, settings).lasting_ns
        routeless = Windows.of(
            (fault.inject_ns - lasting_ns, None if fault.healed_ns is None else fault.healed_ns + lasting_ns)
            for fault in faults
            if fault.kind is FaultKind.PAUSE_NAME_SERVER
        )
        beside = beside_faults(sends, faults) & ~routeless.meet_many(sends.start, sends.end)
        return np.asarray(beside & sends.waits if self._context.rulebook.habits.confuses_answers else beside)

    def _count_calm(self, due: Mapping[Arm, Ints]) -> None:
        for arm, each in due.items():
            if each.size:
                self._collector.count(NAME, str(arm), CALM, HELD_UP, n=each.size)
                self._collector.count(MORE, str(arm), CALM, HELD_UP, n=moments_of(each.tolist()))

    def _count_spells(self, spells: Mapping[Arm, Ints]) -> None:
        for arm, each in spells.items():
            if each.size:
                self._collector.count(NAME, str(arm), FAULTS, HELD_UP, n=each.size)
        last = max(int(each.max(initial=-1)) for each in spells.values())
        in_spell = {arm: np.bincount(each, minlength=last + 1) for arm, each in spells.items()}
        for arm, other in zip(Arm, reversed(Arm), strict=True):
            more = int(np.count_nonzero(in_spell[arm] > in_spell[other]))
            if more:
                self._collector.count(MORE, str(arm), FAULTS, HELD_UP, n=more)


def _through_after_ns(sends: Sends, stored_ns: Ints) -> Ints:
    return np.where(sends.is_oneway, stored_ns, sends.end - sends.start)


def least_beside_ns(timeout_ms: int, shortest_ns: int) -> float:
    """The least delay beside a fault, of a case with this timeout whose shortest spell of faults lasts so long."""
    return min(BESIDE_NS, OF_THE_WAIT * timeout_ms * NS_PER_MS, OF_THE_WAIT * shortest_ns)


def _rows_of_both(arms: Mapping[Arm, Sends]) -> dict[Arm, Ints]:
    """Rows of the sends that returned in both arms, side by side."""
    baseline, candidate = (arms[arm].number for arm in Arm)
    if np.array_equal(baseline, candidate):
        return dict.fromkeys(Arm, np.arange(baseline.size))
    _, first, second = np.intersect1d(baseline, candidate, assume_unique=True, return_indices=True)
    return {Arm.BASELINE: first, Arm.CANDIDATE: second}
