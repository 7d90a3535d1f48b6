"""
Did both arms come to each spell of faults with the sends that were planned for it?

A client that is behind its plan meets a fault with earlier sends, and its later ones meet none: then the arms cannot be
compared, and no check conforms (``conclusions``). What a fault itself costs is no such lateness: it depends on the queue that
was next. So each thread's lateness is followed from send to send (Lindley's recursion), without calls that met a fault.
A client that is slow all the time diverges in ``pace`` besides.
"""

from collections.abc import Mapping

import numpy as np

from rocketdiff.analysis.checks.case_facts import INCOMPARABLE
from rocketdiff.analysis.fault_windows import FaultPeriods
from rocketdiff.analysis.sending.checks.context import TableObserver
from rocketdiff.analysis.sending.checks.results.moments import beside_faults
from rocketdiff.analysis.sending.send_arrays import Ints, Mask, Sends
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.core.units import NS_PER_S

OF_A_SPELL = 0.5
"""Share of a spell by which one arm may be further behind than the other when it begins: the rest of it meets the same sends."""

OF_SPELLS = 0.25
"""Share of a case's spells that may begin so: a stall just before one of many changes little."""

Lateness = Mapping[int, tuple[Ints, Ints]]
"""By thread: when each send was due, and how late the thread was by itself."""


class SameFaults(TableObserver):
    """Notes that a case is incomparable, with the reason."""

    def finish(self) -> None:
        faults = [fault for fault in self._context.times.faults if fault.kind is not FaultKind.PAUSE_NAME_SERVER]
        if not faults:
            return
        periods = FaultPeriods.of(faults, self._context.entry.settings)
        late: dict[Arm, Lateness] = {}
        for arm in Arm:
            sends = self._context.sends(arm)
            counts = ~periods.hold_many(sends.due, sends.end) | ~sends.waits
            late[arm] = own_lateness(sends, counts | (sends.went_well & beside_faults(sends, faults)))
        apart, worst = 0, dict.fromkeys(Arm, 0)
        for begin_ns, end_ns in periods.spans:
            behind = _furthest_apart(late, begin_ns)
            if end_ns is not None and abs(behind[0] - behind[1]) > OF_A_SPELL * (end_ns - begin_ns):
                apart += 1
                worst = max(worst, dict(zip(Arm, behind, strict=True)), key=lambda each: max(each.values()))
        if apart > OF_SPELLS * len(periods.spans):
            subjects = self._context.trace.subjects
            words = " and ".join(f"{subjects[arm]} {behind / NS_PER_S:,.2f} s" for arm, behind in worst.items())
            reason = (
                f"the arms did not meet the same faults: when {apart} of {len(periods.spans)} spells began they were"
            )
            self._collector.count(
                INCOMPARABLE, str(Arm.CANDIDATE), "", f"{reason} unequally behind their plan, {words}"
            )


def own_lateness(sends: Sends, counts: Mask) -> Lateness:
    """Return how late each thread's calls would begin if those that do not count took no time."""
    found = {}
    for thread in np.unique(sends.thread):
        here = np.flatnonzero(sends.thread == thread)
        due, start, free = sends.due[here], sends.start[here], sends.free[here]
        began = np.maximum(due, np.concatenate(([due[0]], free[:-1])))
        took = np.where(counts[here], np.maximum(free - began, 0), np.maximum(start - began, 0))
        backlog = np.cumsum(took[:-1] - np.diff(due))
        found[int(thread)] = due, np.concatenate(([0], backlog - np.minimum(np.minimum.accumulate(backlog), 0)))
    return found


def _furthest_apart(late: Mapping[Arm, Lateness], begin_ns: int) -> tuple[int, int]:
    """By how much each arm was behind when a spell began, for the thread with the largest difference."""
    pairs = [(0, 0)]
    for thread in late[Arm.BASELINE].keys() & late[Arm.CANDIDATE].keys():
        behind = [0, 0]
        for place, arm in enumerate(Arm):
            due, own = late[arm][thread]
            next_send = int(np.searchsorted(due, begin_ns))
            behind[place] = int(own[next_send]) if next_send < own.size else 0
        pairs.append((behind[0], behind[1]))
    return max(pairs, key=lambda pair: abs(pair[0] - pair[1]))
