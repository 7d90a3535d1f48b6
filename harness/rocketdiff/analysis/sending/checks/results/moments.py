"""Which of two clients is slow in which moments of a case, for ``pace``: pure functions of arrays, times in nanoseconds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rocketdiff.analysis.fault_windows import Windows
from rocketdiff.analysis.sending.send_arrays import Ints, Mask, Sends
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.core.tables.topology import master_of, may_meet

MOMENT_NS = 250_000_000
SENDS_OF_A_MOMENT = 5
"""A moment is a quarter of a second, or as long as the plan takes for this many sends."""

FEWEST_OF_A_MOMENT = 3
"""A median of fewer sends is that of a single one."""

OF_THE_OTHER = 3
OF_THE_USUAL = 2
LEAST_NS = 10_000_000
"""
A moment is slow for a client if its median is above three times the other's, plus twice what nine in ten of the
baseline's calm sends took at most in this case, plus at least 10 ms in its place, or a sending period if that is less. Seen of real clients: at load 5 all
medians were 1 to 5 ms and within 2 ms of each other; at load 28 both clients were late, by 140 and 275 ms.
"""

SLOWEST = 0.99
"""Quantile of durations beyond which an application notices."""

SETTLING_NS = 1_000_000_000
"""Time after a fault of a broker in which sends to it may be slow: connections are made anew, brokers catch up."""

SLOW_SHARE = 0.25
FEWEST_SLOW = 5
"""A client is slower if more than this share of a case's moments, and over a second of them, were slow for it."""

IN_TURN = 5
"""But not unless that is over five times as many as were slow for the other: a busy machine serves them in turn."""


_BITS = 40
_LONGEST_NS = (1 << _BITS) - 1
"""A duration beyond 18 minutes counts as 18."""

Timed = tuple[Ints, Ints, Mask]
"""When each send belongs to a moment, the time it took, and whether it counts."""


@dataclass(frozen=True, slots=True)
class SlowMoments:
    """
    Moments that both arms have, in order: when each begins, its median in each arm, and the places of those that are slow.

    lasting_ns: each moment's.
    """

    begins_ns: Sequence[int]
    medians: Mapping[Arm, Sequence[float]]
    slow: Mapping[Arm, Sequence[int]]
    lasting_ns: int

    @property
    def slow_span_ns(self) -> tuple[int, int]:
        """Begin of the candidate's first slow moment, and end of its last."""
        slow = self.slow[Arm.CANDIDATE]
        return self.begins_ns[slow[0]], self.begins_ns[slow[-1]] + self.lasting_ns

    @property
    def is_candidate_slower(self) -> bool:
        slow, other = len(self.slow[Arm.CANDIDATE]), len(self.slow[Arm.BASELINE])
        moments = len(self.medians[Arm.BASELINE])
        return slow >= FEWEST_SLOW and slow > SLOW_SHARE * moments and slow > IN_TURN * other

    @property
    def worst(self) -> tuple[float, float]:
        """Medians of baseline and candidate where the candidate was most behind."""
        pairs = [(self.medians[Arm.BASELINE][at], self.medians[Arm.CANDIDATE][at]) for at in self.slow[Arm.CANDIDATE]]
        return max(pairs, key=lambda pair: pair[1] - pair[0])


def slow_moments(timed: Mapping[Arm, Timed], limit_ns: float, moment_ns: int, origin_ns: int) -> SlowMoments:
    """Compare the arms by moments, the first of which begins at ``origin_ns``."""
    found = {arm: _medians(at - origin_ns, took, counts, moment_ns) for arm, (at, took, counts) in timed.items()}
    both = sorted(found[Arm.BASELINE].keys() & found[Arm.CANDIDATE].keys())
    medians = {arm: [found[arm][moment] for moment in both] for arm in Arm}
    slow = {
        arm: [
            at
            for at, (own, usual) in enumerate(zip(medians[arm], medians[other], strict=True))
            if own > OF_THE_OTHER * usual + limit_ns
        ]
        for arm, other in zip(Arm, reversed(Arm), strict=True)
    }
    return SlowMoments([origin_ns + moment * moment_ns for moment in both], medians, slow, moment_ns)


def limit_ns(sends: Sends, calm: Mask) -> float:
    """By how much a slow moment exceeds three times the other's: from calm sends, or all that went well if they are few."""
    chosen = calm & sends.went_well
    if np.count_nonzero(chosen) < FEWEST_OF_A_MOMENT:
        chosen = sends.went_well
    return limit_of(sends, (sends.end - sends.start)[chosen])


def limit_of(sends: Sends, took_ns: Ints) -> float:
    """The same, from what the baseline's sends took."""
    least = least_ns(sends)
    return max(least, OF_THE_USUAL * float(np.quantile(took_ns, 0.9))) if took_ns.size else least


def least_ns(sends: Sends) -> float:
    """Which delay no ratio makes notable: LEAST_NS, or the time from a thread's send to its next if that is shorter."""
    threads = np.unique(sends.thread).size
    return min(float(LEAST_NS), threads * float(np.ptp(sends.due)) / max(sends.number.size - 1, 1))


def slowest_in_a_hundred(durations: npt.NDArray[Any]) -> float:
    """99th percentile; 0 of none."""
    return float(np.quantile(durations, SLOWEST)) if durations.size else 0.0


def far_longer(slowest: Iterable[float], least: float) -> float:
    """By how much a duration exceeds the other arm's that is far longer. slowest: each arm's slowest in a hundred."""
    return least + OF_THE_OTHER * min(slowest)


def moment_ns(sends: Sends) -> int:
    """How long a moment of this plan is."""
    return max(MOMENT_NS, SENDS_OF_A_MOMENT * int(np.ptp(sends.due)) // sends.number.size)


def _medians(at: Ints, took: Ints, counts: Mask, length_ns: int) -> dict[int, float]:
    """Median of each moment in which enough sends count, by its number."""
    where = np.flatnonzero(counts)
    if not where.size:
        return {}
    # One number a send, the moment before its duration: sorting it takes a fifth of the time of sorting by both.
    keys = np.sort((at[where] // length_ns << _BITS) | np.minimum(took[where], _LONGEST_NS))
    moments, took = keys >> _BITS, keys & _LONGEST_NS
    first = np.concatenate(([0], np.flatnonzero(np.diff(moments)) + 1))
    n = np.diff(first, append=moments.size)
    enough = n >= FEWEST_OF_A_MOMENT
    middle = (took[first + (n - 1) // 2] + took[first + n // 2]) / 2
    return dict(zip(moments[first][enough].tolist(), middle[enough].tolist(), strict=True))


def beside_faults(sends: Sends, faults: Sequence[FaultRecord]) -> Mask:
    """True for sends to a broker that no fault of its own or its slave concerned, or not any longer."""
    beside = sends.broker >= 0
    for code, broker in enumerate(sends.brokers):
        here = np.flatnonzero(sends.broker == code)
        windows = Windows.of(
            (fault.inject_ns, None if fault.healed_ns is None else fault.healed_ns + SETTLING_NS)
            for fault in faults
            if may_meet(fault.node, broker) or master_of(fault.node) == broker
        )
        beside[here[windows.meet_many(sends.start[here], sends.end[here])]] = False
    return beside
