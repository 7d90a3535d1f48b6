"""
Merges tallies of calm sends with those of the others, as if every send were an object.

Shares are summed in the order of the sends, because another order changes the last digits of floating-point sums.
"""

from collections import defaultdict

import numpy as np

from rocketdiff.analysis.sending.checks.calm_counts import Floats, Ints
from rocketdiff.analysis.sending.send_facts import SendFacts

Key = tuple[str, str, str, str]
"""Check, arm, phase and key."""

BEFORE = -1
"""Number of a planned send that means: before the first."""

_DENSE = 4
"""Codes up to this multiple of their number are counted in an array of all codes."""

_SMALL = 100_000


class OrderedCollector(SendFacts):
    """A collector that knows the current planned send: ``at``."""

    def __init__(self, run: str, number: int, origin_ns: int) -> None:
        super().__init__(run, number, origin_ns)
        self.at = BEFORE
        self._shares: defaultdict[Key, list[tuple[int, float]]] = defaultdict(list)

    def count(self, check: str, arm: str, phase: str, key: str, *, n: int = 1, total: float = 0.0) -> None:
        tally = self._tallies[check, arm, phase, key]
        tally[0] += n
        if total:
            self._shares[check, arm, phase, key].append((self.at, total))
            tally[1] += total

    def shares(self, place: Key) -> tuple[Ints, Floats]:
        """(send numbers, totals) added to a tally so far."""
        kept = self._shares.get(place, [])
        return np.array([at for at, _ in kept], dtype=np.int64), np.array(
            [total for _, total in kept], dtype=np.float64
        )

    def keys_of(self, check: str, arm: str, phase: str) -> list[str]:
        return [place[3] for place in self._tallies if place[:3] == (check, arm, phase)]

    def add(self, place: Key, n: int, total: float | None = None) -> None:
        """Add n calm sends; total: the new sum of the tally."""
        tally = self._tallies[place]
        tally[0] += n
        if total is not None:
            tally[1] = total


def counted(codes: Ints) -> list[tuple[int, int]]:
    """Return each code with its count."""
    if not codes.size:
        return []
    if _are_sparse(codes):
        found, n = np.unique(codes, return_counts=True)
        return list(zip(found.tolist(), n.tolist(), strict=True))
    n = np.bincount(codes)
    found = np.flatnonzero(n)
    return list(zip(found.tolist(), n[found].tolist(), strict=True))


def _are_sparse(codes: Ints) -> bool:
    return int(codes.max()) > _DENSE * codes.size + _SMALL


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
    if _are_sparse(codes):
        found, places = np.unique(codes, return_inverse=True)
        return dict(zip(found.tolist(), np.bincount(places, weights=shares).tolist(), strict=True))
    sums = np.bincount(codes, weights=shares)
    found = np.flatnonzero(np.bincount(codes))
    return dict(zip(found.tolist(), sums[found].tolist(), strict=True))
