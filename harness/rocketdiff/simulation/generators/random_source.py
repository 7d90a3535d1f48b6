"""
Random draws for the generators.

Only ``random()`` is used: the one method of Python's generator whose sequence is guaranteed for a seed.
"""

import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

Item = TypeVar("Item")


class RandomSource:
    """The seeded source of a script's random choices."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def chance(self, share: float) -> bool:
        return self._random.random() < share

    def between(self, low: int, high: int) -> int:
        """Both ends included."""
        return low + int(self._random.random() * (high - low + 1))

    def pick(self, items: Sequence[Item]) -> Item:
        return items[int(self._random.random() * len(items))]

    def weighted(self, weights: Mapping[Item, int]) -> Item:
        """A key, with probability proportional to its weight."""
        left = self._random.random() * sum(weights.values())
        for item, weight in weights.items():
            left -= weight
            if left < 0:
                return item
        return next(reversed(list(weights)))

    def some(self, items: Sequence[Item], number: int) -> list[Item]:
        """Up to ``number`` distinct items, in random order."""
        rest = list(items)
        return [rest.pop(int(self._random.random() * len(rest))) for _ in range(min(number, len(rest)))]

    def int32(self) -> int:
        return self.between(-(2**31), 2**31 - 1)

    def number(self, edges: Sequence[int], high: int) -> int:
        """An edge (60 %), a neighbour of an edge (20 %), or a number from 0 to high (20 %)."""
        kind = self.between(0, 9)
        if kind < 6:
            return self.pick(edges)
        if kind < 8:
            return max(0, self.pick(edges) + self.pick((-1, 1)))
        return self.between(0, high)
