"""
Which views of a stretch take the queue that fault latency gives them: the next one whose broker is not avoided.

The replay tells where the stretch begins (``Stationary``). Within it nobody is avoided anew, so every broker becomes available
once, at a time known to a millisecond or two. A view whose clock may read either side of it is left to the replay.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rocketdiff.analysis.sending.columns.arm_columns import MISSING, ArmColumns, Ints, Mask, WordDictionary, place_of
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.oracle.interval import PHASE_MS
from rocketdiff.oracle.producer.states.stationary import Stationary

SHORT, LONGER = 64, 4
"""Views that are tried at first, and how many times as many after them: most stretches are whole, some end at once."""


def explained_views(belief: Stationary, columns: ArmColumns, brokers: WordDictionary, first: int, end: int) -> Ints:
    """
    Return how many brokers each of the views from ``first`` on avoids, up to the first that the belief does not explain.

    The views, up to before ``end``, are quick and of one thread.
    """
    walk = _Walk.of(belief, brokers)
    found = [np.empty(0, dtype=np.int64)]
    size, at = SHORT, first
    while at < end:
        until = min(at + size, end)
        found.append(walk.taken(columns, first, at, until))
        if found[-1].size < until - at:
            break
        at, size = until, size * LONGER
    return np.concatenate(found)


@dataclass(frozen=True, slots=True)
class _Walk:
    """
    The list as numbers.

    places: of its queues; own: the number of each queue's broker; starts_ms: bounds of the time from which each may be used.
    """

    belief: Stationary
    places: Ints
    own: Ints
    starts_ms: Sequence[tuple[int, int]]

    @classmethod
    def of(cls, belief: Stationary, brokers: WordDictionary) -> "_Walk":
        names = list(dict.fromkeys(queue.broker for queue in belief.queues))
        codes = np.array([brokers.code(queue.broker) for queue in belief.queues], dtype=np.int64)
        places = place_of(codes, np.array([queue.queue_id for queue in belief.queues], dtype=np.int64))
        own = np.array([names.index(queue.broker) for queue in belief.queues], dtype=np.int64)
        return cls(belief, places, own, [belief.avoided_ms.get(name, (0, 0)) for name in names])

    def taken(self, columns: ArmColumns, first: int, at: int, until: int) -> Ints:
        """Return, for each view up to the first that is not explained, the number of avoided brokers."""
        lo_ms, hi_ms = columns.start_ns[at:until] // NS_PER_MS, columns.tried_ns[at:until] // NS_PER_MS + PHASE_MS
        code, avoided = np.zeros(until - at, dtype=np.int64), np.zeros(until - at, dtype=np.int64)
        known = np.ones(until - at, dtype=np.bool_)
        for number, (start_lo_ms, start_hi_ms) in enumerate(self.starts_ms):
            is_avoided = hi_ms < start_lo_ms
            known &= is_avoided | (lo_ms >= start_hi_ms)
            code |= is_avoided.astype(np.int64) << number
            avoided += is_avoided
        known &= columns.place[at:until] == self._expected(code, self._ticks(columns, first, at, until))
        wrong = np.flatnonzero(~known)
        return avoided[: wrong[0]] if wrong.size else avoided

    def _ticks(self, columns: ArmColumns, first: int, at: int, until: int) -> Ints:
        """The counter before each view, if all views before it took their turns."""
        size, tick = self.places.size, self.belief.tick
        if not self.belief.ticks_per_queue:
            return (tick + np.arange(at - first, until - first)) % size
        before = columns.place[at - 1 : until - 1]
        order = np.argsort(self.places)
        ticks = order[np.minimum(np.searchsorted(self.places[order], before), size - 1)]
        if at == first:
            ticks[0] = tick
        return np.asarray(ticks, dtype=np.int64)

    def _expected(self, code: Ints, ticks: Ints) -> Ints:
        """The place of each view; MISSING where every broker is avoided and the rules may do more than take a queue."""
        expected = np.full(code.size, MISSING, dtype=np.int64)
        for word in np.unique(code).tolist():
            here = code == word
            usable = (word >> self.own) & 1 == 0
            if not usable.any():
                if not self.belief.ticks_per_queue or self.belief.unreachable:
                    continue
                usable = np.ones(self.own.size, dtype=np.bool_)
            expected[here] = self.places[_next_usable(usable)][ticks[here]]
        return expected


def _next_usable(usable: Mask) -> Ints:
    """Return, for each position of a list, the next one after it that is usable; some one is."""
    found = np.flatnonzero(usable)
    after = np.searchsorted(found, np.arange(usable.size), side="right")
    return np.asarray(found[after % found.size], dtype=np.int64)
