"""
Computes the tallies of calm sends from the columns, as the observers would count them.

``_Place`` is the position of a count among all counts for one send, in the order of the observers (``case_pass``). It
preserves the order of tallies.
"""

from dataclasses import dataclass
from enum import IntEnum
from math import log

import numpy as np

from rocketdiff.analysis.checks.context import CaseContext
from rocketdiff.analysis.checks.sending.by_rules import queue_choice
from rocketdiff.analysis.checks.sending.by_rules.replay_checks import JUDGED, RULES
from rocketdiff.analysis.checks.sending.results import outcomes
from rocketdiff.analysis.checks.storage import content, duplication, loss, order
from rocketdiff.analysis.columns.arm_columns import Ints
from rocketdiff.analysis.columns.calm_tallies import Floats, OrderedCollector, added_up, counted
from rocketdiff.analysis.columns.case_columns import ArmPart, CaseColumns, at, wall_ms
from rocketdiff.analysis.columns.fault_columns import PHASES, in_periods, phase_codes
from rocketdiff.analysis.pictures import BIN_NS, BUCKET_RATIO, STORED, bucket_of
from rocketdiff.analysis.send_view import Fate
from rocketdiff.analysis.steps.fault_reach import FaultPeriods
from rocketdiff.core.arm import Arm
from rocketdiff.core.sends.outcome import Outcome

_SIDES = 10
"""Distance between the places of the two sides of one observer."""


class _Place(IntEnum):
    """Places of the counts of one planned send; add ``_SIDES`` for the second side."""

    SENDS = 0
    ELAPSED = 1
    RULES = 2
    AMBIGUITY = 3
    ATTEMPT = 4
    OVER_TIME = 5
    CHOICE_MET = 20
    CHOICE = 21
    CHOICE_LEGAL = 22
    FATE = 40
    STORED_LATE = 41
    MESSAGE = 60
    ACCOUNTED = 61
    COPY = 80
    PAIR = 100
    CROWDED = 120
    COMPARED = 140


@dataclass(frozen=True, slots=True)
class _CalmArm:
    """One arm's calm sends. at: numbers of the planned sends, sorted; views: of this arm; phases: codes, of their attempts."""

    arm: Arm
    side: int
    part: ArmPart
    at: Ints
    views: Ints
    phases: Ints

    def first(self, at_send: int, place: _Place) -> tuple[int, int]:
        return at_send, place + self.side


def add_calm_sends(case: CaseColumns, context: CaseContext, collector: OrderedCollector) -> None:
    """Add the tallies of all sends that did not become objects, and sort the tallies."""
    calm = np.flatnonzero(~case.slow)
    periods = FaultPeriods.of(context.times.faults, context.entry.settings)
    touched = np.zeros(calm.size, dtype=np.bool_)
    for side, arm in enumerate(Arm):
        part, views = case.arms[arm], at(case.views[arm], calm)
        phases = phase_codes(context.times.faults, part.columns.tried_ns[views])
        calm_arm = _CalmArm(arm, side * _SIDES, part, calm, views, phases)
        own = in_periods(periods, part.columns.start_ns[views], part.columns.end_ns[views])
        touched |= own
        _count_in_phases(calm_arm, context, collector)
        _count_pictures(calm_arm, case.brokers.words, collector)
        _count_choices(calm_arm, collector)
        for _, n, first in counted(np.zeros(int((~own).sum()), dtype=np.int64), calm[~own]):
            key = (outcomes.CROWDED, str(arm), outcomes.CALM, "not failed")
            collector.add(key, n, calm_arm.first(first, _Place.CROWDED))
    for side, arm in enumerate(Arm):
        for code, n, first in counted(touched.astype(np.int64), calm):
            key = (outcomes.NAME, str(arm), (outcomes.CALM, outcomes.FAULTS)[code], "sends")
            collector.add(key, n, (first, _Place.COMPARED + side))
    collector.sort()


def _count_in_phases(one: _CalmArm, context: CaseContext, collector: OrderedCollector) -> None:
    late = _stored_late(one, context)
    for code, n, first in counted(one.phases, one.at):
        arm, phase = str(one.arm), str(PHASES[code])
        counts = [
            (("sends", str(Outcome.OK)), _Place.SENDS, n),
            ((loss.NAME, str(Fate.STORED)), _Place.FATE, n),
            ((loss.NAME, "stored-late"), _Place.STORED_LATE, int(late[one.phases == code].sum())),
            ((duplication.NAME, "message"), _Place.MESSAGE, n),
            ((duplication.NAME, "accounted"), _Place.ACCOUNTED, n),
        ]
        for (check, key), place, times in counts:
            collector.add((check, arm, phase, key), times, one.first(first, place))
    if one.part.lanes is not None:
        follows = one.part.lanes.follows[one.views]
        for code, n, first in counted(one.phases[follows], one.at[follows]):
            collector.add((order.NAME, str(one.arm), str(PHASES[code]), "pair"), n, one.first(first, _Place.PAIR))
    known = one.part.contents.told[one.views]
    for code, n, first in counted(one.phases[known], one.at[known]):
        collector.add((content.NAME, str(one.arm), str(PHASES[code]), "copy"), n, one.first(first, _Place.COPY))
    for _, n, first in counted(np.zeros(one.at.size, dtype=np.int64), one.at):
        collector.add((RULES, str(one.arm), "", JUDGED), n, one.first(first, _Place.RULES))


def _stored_late(one: _CalmArm, context: CaseContext) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    clock = context.entry.clock
    if clock is None:
        return np.zeros(one.at.size, dtype=np.bool_)
    ended_ms = wall_ms(clock, one.part.columns.end_ns[one.views])
    return np.asarray(one.part.stored.store_ms[one.views] > ended_ms + loss.LATE_MS)


def _count_pictures(one: _CalmArm, brokers: list[str], collector: OrderedCollector) -> None:
    columns, arm, width = one.part.columns, str(one.arm), len(brokers)
    broker = columns.broker[one.views]
    buckets = buckets_of(columns.end_ns[one.views] - columns.start_ns[one.views])
    for code, n, first in counted(buckets * len(PHASES) + one.phases, one.at):
        bucket, phase = divmod(code, len(PHASES))
        collector.add(("elapsed", arm, str(PHASES[phase]), str(bucket)), n, one.first(first, _Place.ELAPSED))
    for code, n, first in counted(one.phases * width + broker, one.at):
        phase, word = divmod(code, width)
        collector.add(("attempt", arm, str(PHASES[phase]), brokers[word]), n, one.first(first, _Place.ATTEMPT))
    steps = _steps_of(columns.tried_ns[one.views], collector)
    for code, n, first in counted(steps * width + broker, one.at):
        step, word = divmod(code, width)
        collector.add(("over-time", arm, STORED, f"{step} {brokers[word]}"), n, one.first(first, _Place.OVER_TIME))


def _count_choices(one: _CalmArm, collector: OrderedCollector) -> None:
    """Add the tallies of decisions; each decision had one legal queue."""
    arm, total = str(one.arm), one.part.turns.total[one.views]
    shares = 1 / total
    steps = _steps_of(one.part.columns.start_ns[one.views], collector)
    _add_shares(("ambiguity", arm, ""), steps, one.at, shares, one.side + _Place.AMBIGUITY, collector)
    many = total > 1
    here, phases = one.at[many], one.phases[many]
    for code, n, first in counted(phases, here):
        phase = str(PHASES[code])
        for check, place in ((f"{queue_choice.NAME}.met", _Place.CHOICE_MET), (queue_choice.NAME, _Place.CHOICE)):
            key = "choice" if place is _Place.CHOICE_MET else "decision"
            collector.add((check, arm, phase, key), n, one.first(first, place))
    legal = f"{queue_choice.NAME}.legal"
    for code, n, first in counted(phases, here):
        tally = (legal, arm, str(PHASES[code]), "decision")
        sums = added_up(
            np.zeros(n, dtype=np.int64),
            here[phases == code],
            shares[many][phases == code],
            [(0, *collector.shares(tally))],
        )
        collector.add(tally, n, one.first(first, _Place.CHOICE_LEGAL), sums[0])


def _add_shares(
    check: tuple[str, str, str],
    steps: Ints,
    here: Ints,
    shares: Floats,
    place: int,
    collector: OrderedCollector,
) -> None:
    others = [(int(key), *collector.shares((*check, key))) for key in collector.keys_of(*check)]
    sums = added_up(steps, here, shares, others)
    for step, n, first in counted(steps, here):
        collector.add((*check, str(step)), n, (first, place), sums[step])


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
