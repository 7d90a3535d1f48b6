"""
Merges tallies of calm sends with those of the others, as if every send were an object.

Tallies are ordered by first occurrence, so each has a *first*: number of the planned send and place within it. Shares are summed
in the order of the sends, because another order changes the last digits of floating-point sums.
"""

from collections import defaultdict

import numpy as np
import numpy.typing as npt

from rocketdiff.analysis.columns.arm_columns import Ints
from rocketdiff.analysis.fact_collector import FactCollector

Key = tuple[str, str, str, str]
"""Check, arm, phase and key."""

Floats = npt.NDArray[np.float64]

BEFORE = -1
"""Number of a planned send that means: before the first."""


class OrderedCollector(FactCollector):
    """A collector that knows the current planned send: ``at``."""

    def __init__(self, run: str, number: int, origin_ns: int) -> None:
        super().__init__(run, number, origin_ns)
        self.at = BEFORE
        self._firsts: dict[Key, tuple[int, int]] = {}
        self._shares: defaultdict[Key, list[tuple[int, float]]] = defaultdict(list)

    def count(self, check: str, arm: str, phase: str, key: str, *, n: int = 1, total: float = 0.0) -> None:
        place = check, arm, phase, key
        tally = self._tallies.get(place)
        if tally is None:
            tally = self._tallies[place]
            self._firsts[place] = self.at, len(self._firsts)
        tally[0] += n
        if total:
            self._shares[place].append((self.at, total))
            tally[1] += total

    def shares(self, place: Key) -> tuple[Ints, Floats]:
        """(send numbers, totals) added to a tally so far."""
        kept = self._shares.get(place, [])
        return np.array([at for at, _ in kept], dtype=np.int64), np.array(
            [total for _, total in kept], dtype=np.float64
        )

    def keys_of(self, check: str, arm: str, phase: str) -> list[str]:
        return [place[3] for place in self._firsts if place[:3] == (check, arm, phase)]

    def add(self, place: Key, n: int, first: tuple[int, int], total: float | None = None) -> None:
        """Add n calm sends; total: the new sum of the tally."""
        self._firsts[place] = min(first, self._firsts.get(place, first))
        tally = self._tallies[place]
        tally[0] += n
        if total is not None:
            tally[1] = total

    def sort(self) -> None:
        ordered = sorted(self._tallies.items(), key=lambda item: self._firsts[item[0]])
        self._tallies.clear()
        self._tallies.update(ordered)


def counted(codes: Ints, at: Ints) -> list[tuple[int, int, int]]:
    """Return each code with its count and its first ``at``; ``at`` is sorted."""
    if not codes.size:
        return []
    if int(codes.max()) > 4 * codes.size + 100_000:
        found, first, n = np.unique(codes, return_index=True, return_counts=True)
        return list(zip(found.tolist(), n.tolist(), at[first].tolist(), strict=True))
    n = np.bincount(codes)
    first = np.empty(n.size, dtype=np.int64)
    first[codes[::-1]] = at[::-1]
    found = np.flatnonzero(n)
    return list(zip(found.tolist(), n[found].tolist(), first[found].tolist(), strict=True))


def added_up(codes: Ints, at: Ints, shares: Floats, more: list[tuple[int, Ints, Floats]]) -> dict[int, float]:
    """Return sums of shares by code, in the order of ``at``; more: (code, at, shares) of sends that were not calm."""
    if more:
        at_more = np.concatenate([each for _, each, _ in more])
        code_more = np.concatenate([np.full(each.size, code, dtype=np.int64) for code, each, _ in more])
        share_more = np.concatenate([each for _, _, each in more])
        order = np.argsort(at_more, kind="stable")
        where = np.searchsorted(at, at_more[order])
        codes, shares = np.insert(codes, where, code_more[order]), np.insert(shares, where, share_more[order])
    if not codes.size:
        return {}
    if int(codes.max()) > 4 * codes.size + 100_000:
        found, places = np.unique(codes, return_inverse=True)
        return dict(zip(found.tolist(), np.bincount(places, weights=shares).tolist(), strict=True))
    sums = np.bincount(codes, weights=shares)
    found = np.flatnonzero(np.bincount(codes))
    return dict(zip(found.tolist(), sums[found].tolist(), strict=True))
