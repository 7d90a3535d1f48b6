"""
``FaultTimes`` and ``FaultPeriods`` for arrays of instants.

Overlapping intervals are joined, so one binary search answers for all faults.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from rocketdiff.analysis.columns.arm_columns import Ints, Mask, WordDictionary
from rocketdiff.analysis.send_view import PHASES, Phase
from rocketdiff.analysis.steps.fault_reach import FaultPeriods
from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.core.tables.topology import master_of, may_meet

FOREVER_NS = np.iinfo(np.int64).max
"""End of an interval without an end."""


@dataclass(frozen=True, slots=True)
class Intervals:
    """Sorted half-open intervals that do not touch."""

    begins: Ints
    ends: Ints

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int | None]]) -> Self:
        joined: list[list[int]] = []
        for begin, end in sorted((begin, FOREVER_NS if end is None else end) for begin, end in pairs):
            if joined and begin <= joined[-1][1]:
                joined[-1][1] = max(joined[-1][1], end)
            else:
                joined.append([begin, max(begin, end)])
        both = np.array(joined, dtype=np.int64).reshape(-1, 2)
        return cls(both[:, 0].copy(), both[:, 1].copy())

    def hold(self, instants: Ints) -> Mask:
        if not self.begins.size:
            return np.zeros(instants.size, dtype=np.bool_)
        at = np.searchsorted(self.ends, instants, side="right")
        return np.append(self.begins, FOREVER_NS)[at] <= instants

    def meet(self, starts: Ints, ends: Ints) -> Mask:
        if not self.begins.size:
            return np.zeros(starts.size, dtype=np.bool_)
        at = np.searchsorted(self.ends, starts, side="right")
        return np.append(self.begins, FOREVER_NS)[at] < ends


def phase_codes(faults: Iterable[FaultRecord], instants: Ints) -> Ints:
    """Return the index into PHASES of each instant, as ``FaultTimes.phase_at``."""
    faults = tuple(faults)
    codes = np.zeros(instants.size, dtype=np.int64)
    if faults:
        codes[instants >= min(fault.inject_ns for fault in faults)] = PHASES.index(Phase.AFTER)
        in_force = Intervals.of((fault.inject_ns, fault.healed_ns) for fault in faults)
        codes[in_force.hold(instants)] = PHASES.index(Phase.PAUSED)
    return codes


def near_faults(faults: Iterable[FaultRecord], brokers: WordDictionary, codes: Ints, starts: Ints, ends: Ints) -> Mask:
    """True for each attempt during which a fault of its broker or the broker's slave may have been in force; errs to True."""
    near = np.zeros(starts.size, dtype=np.bool_)
    faults = tuple(faults)
    for code, broker in enumerate(brokers.words):
        own = [fault for fault in faults if may_meet(fault.node, broker) or master_of(fault.node) == broker]
        if own:
            here = np.flatnonzero(codes == code)
            met = Intervals.of(map(_with_edges, own)).meet(starts[here], ends[here])
            near[here[met]] = True
    return near


def _with_edges(fault: FaultRecord) -> tuple[int, int | None]:
    return fault.inject_ns - 1, None if fault.heal_ns is None else fault.heal_ns + 1


def in_periods(periods: FaultPeriods, starts: Ints, ends: Ints) -> Mask:
    """True for each send that a period of faults may have touched: ``FaultPeriods.at`` is not None."""
    if not periods.spans:
        return np.zeros(starts.size, dtype=np.bool_)
    begins = np.array([begin for begin, _ in periods.spans], dtype=np.int64)
    over = np.array(
        [FOREVER_NS if end is None else end + periods.lasting_ns for _, end in periods.spans], dtype=np.int64
    )
    at = np.searchsorted(begins, ends, side="left") - 1
    return (at >= 0) & (starts < over[at])
