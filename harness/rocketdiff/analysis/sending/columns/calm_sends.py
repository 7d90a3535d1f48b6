"""Counts the tallies of calm sends from the columns, as the observers would count them: what each check declares, and pictures."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np

from rocketdiff.analysis.fault_windows import FaultPeriods
from rocketdiff.analysis.sending.checks.by_rules.replay_checks import JUDGED, RULES
from rocketdiff.analysis.sending.checks.calm_counts import CalmCount, Floats, Ints, Mask
from rocketdiff.analysis.sending.checks.context import CaseContext
from rocketdiff.analysis.sending.columns.calm_tallies import OrderedCollector, added_up, counted
from rocketdiff.analysis.sending.columns.case_columns import ArmPart, CaseColumns, at
from rocketdiff.analysis.sending.columns.fault_columns import phase_codes
from rocketdiff.analysis.sending.pictures.tallies import (
    AMBIGUITY,
    BIN_NS,
    BUCKET_RATIO,
    ELAPSED,
    OTHER,
    OVER_TIME,
    STORED,
    bucket_of,
)
from rocketdiff.analysis.sending.send_view import PHASES
from rocketdiff.analysis.sending.wall_times import wall_range_ms
from rocketdiff.core.arm import Arm
from rocketdiff.core.clock import ClockAnchor
from rocketdiff.core.sends.outcome import Outcome
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.fault import FaultRecord


@dataclass(frozen=True)
class CalmColumns:
    """
    The calm sends of one arm as checks count them (``CalmSends``); no slots, because of the cached properties.

    at: numbers of the planned sends, sorted; views: of this arm.
    """

    arm: Arm
    case: CaseColumns
    faults: tuple[FaultRecord, ...]
    clock: ClockAnchor | None
    at: Ints
    views: Ints
    phases: Ints
    in_period: Mask
    either_in_period: Mask

    @property
    def part(self) -> ArmPart:
        return self.case.arms[self.arm]

    @cached_property
    def queues(self) -> Ints:
        return self.part.turns.total[self.views]

    @property
    def avoided(self) -> Ints:
        return self.part.turns.avoided[self.views]

    @property
    def called_back(self) -> Mask:
        return np.full(self.views.size, self.part.turns.choices is not None)

    @property
    def is_one_way(self) -> Mask:
        return np.full(self.views.size, self.case.mode is SendMode.ONEWAY)

    @property
    def ended_ns(self) -> Ints:
        return self.part.columns.end_ns[self.views]

    def tried_at(self, nodes: Collection[str]) -> Mask:
        codes = [code for code, broker in enumerate(self.case.brokers.words) if broker in nodes]
        return np.isin(self.part.columns.broker[self.views], codes)

    @property
    def stored_ms(self) -> Ints:
        return self.part.stored.store_ms[self.views]

    @property
    def ended_ms(self) -> Floats:
        columns = self.part.columns
        if self.clock is None:
            return np.full(self.views.size, np.inf)
        return wall_range_ms(self.clock, columns.start_ns[self.views], columns.end_ns[self.views])[1]

    @property
    def follows(self) -> Mask:
        lanes = self.part.lanes
        return np.zeros(self.views.size, dtype=np.bool_) if lanes is None else lanes.follows[self.views]

    @property
    def shows_content(self) -> Mask:
        return self.part.contents.told[self.views]


def add_calm_sends(
    case: CaseColumns,
    context: CaseContext,
    collector: OrderedCollector,
    counts: Sequence[CalmCount],
    *,
    with_totals: bool,
    with_pictures: bool,
) -> None:
    """Add the tallies of all sends that did not become objects. counts: of the wanted checks."""
    for sends in _calm_sends(case, context):
        for count in counts:
            _add(count, sends, collector)
        if with_totals:
            _count_totals(sends, collector)
        if with_pictures:
            _count_pictures(sends, collector)


def _calm_sends(case: CaseColumns, context: CaseContext) -> Iterator[CalmColumns]:
    calm = np.flatnonzero(~case.slow)
    periods = FaultPeriods.of(context.times.faults, context.entry.settings)
    views = {arm: at(case.views[arm], calm) for arm in Arm}
    own = {
        arm: periods.hold_many(part.columns.start_ns[views[arm]], part.columns.end_ns[views[arm]])
        for arm, part in case.arms.items()
    }
    either = np.logical_or.reduce(list(own.values()))
    for arm, part in case.arms.items():
        phases = phase_codes(context.times.faults, part.columns.tried_ns[views[arm]])
        yield CalmColumns(
            arm,
            case,
            tuple(context.times.faults),
            context.entry.clock,
            calm,
            views[arm],
            phases,
            own[arm],
            either,
        )


def _add(count: CalmCount, sends: CalmColumns, collector: OrderedCollector) -> None:
    codes, phases = count.phased(sends)
    here = slice(None) if count.where is None else np.flatnonzero(count.where(sends))
    codes, at_send = codes[here], sends.at[here]
    times = None if count.times is None else count.times(sends)[here]
    shares = None if count.share is None else count.share(sends)[here]
    for code, n in counted(codes):
        tally = (count.check, str(sends.arm), str(phases[code]), count.key)
        chosen = codes == code
        total = None
        if shares is not None:
            total = added_up(
                np.zeros(n, dtype=np.int64), at_send[chosen], shares[chosen], [(0, *collector.shares(tally))]
            )[0]
        collector.add(tally, n if times is None else int(times[chosen].sum()), total)


def _count_totals(sends: CalmColumns, collector: OrderedCollector) -> None:
    """Add what ``Totals`` would count."""
    brokers, arm, n_sends = sends.case.brokers.words, str(sends.arm), int(sends.at.size)
    if n_sends:
        collector.add((RULES, arm, "", JUDGED), n_sends)
    outcome = Outcome.UNKNOWN if sends.case.mode is SendMode.ONEWAY else Outcome.OK
    for phase, n in counted(sends.phases):
        collector.add(("sends", arm, str(PHASES[phase]), str(outcome)), n)
    for code, n in counted(sends.phases * len(brokers) + sends.part.columns.broker[sends.views]):
        phase, word = divmod(code, len(brokers))
        collector.add(("attempt", arm, str(PHASES[phase]), brokers[word]), n)


def _count_pictures(sends: CalmColumns, collector: OrderedCollector) -> None:
    """Add what ``Pictures`` would count; each decision had one legal queue."""
    brokers, columns, arm = sends.case.brokers.words, sends.part.columns, str(sends.arm)
    width, ended = len(brokers), OTHER if sends.case.mode is SendMode.ONEWAY else STORED
    broker = columns.broker[sends.views]
    buckets = buckets_of(columns.end_ns[sends.views] - columns.start_ns[sends.views])
    for code, n in counted(buckets * len(PHASES) + sends.phases):
        bucket, phase = divmod(code, len(PHASES))
        collector.add((ELAPSED, arm, str(PHASES[phase]), str(bucket)), n)
    steps = _steps_of(columns.tried_ns[sends.views], collector)
    for code, n in counted(steps * width + broker):
        step, word = divmod(code, width)
        collector.add((OVER_TIME, arm, ended, f"{step} {brokers[word]}"), n)
    _add_ambiguity(sends, collector)


def _add_ambiguity(sends: CalmColumns, collector: OrderedCollector) -> None:
    tally = (AMBIGUITY, str(sends.arm), "")
    steps = _steps_of(sends.part.columns.start_ns[sends.views], collector)
    others = [(int(key), *collector.shares((*tally, key))) for key in collector.keys_of(*tally)]
    sums = added_up(steps, sends.at, 1 / sends.queues, others)
    for step, n in counted(steps):
        collector.add((*tally, str(step)), n, sums[step])


def _steps_of(instants: Ints, collector: OrderedCollector) -> Ints:
    return np.asarray(np.maximum(0, instants - collector.origin_ns) // BIN_NS, dtype=np.int64)


_NEAR = 1e-6
"""Distance to a bucket edge within which Python's logarithm is used, because numpy's may differ: about 10⁷ times its error."""


def buckets_of(durations_ns: Ints) -> Ints:
    """Return exactly ``bucket_of`` each duration."""
    exact = np.log(np.maximum(1, durations_ns)) / log(BUCKET_RATIO)
    buckets = np.floor(exact).astype(np.int64)
    near = np.flatnonzero(np.abs(exact - np.rint(exact)) < _NEAR)
    buckets[near] = [bucket_of(int(durations_ns[each])) for each in near]
    return buckets
