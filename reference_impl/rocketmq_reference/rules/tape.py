"""
Where the rules get their random numbers from: a tape that somebody hands in.

Live it is a pseudo-random generator; in simulation a scripted one shared with the Java classes; in the oracle a demon
that tries every answer.
"""

import random
from typing import Protocol, TypeVar

from rocketmq_reference.rules.java import INT_MAX, INT_MIN

Item = TypeVar("Item")


class Tape(Protocol):
    """The three kinds of draws the producer makes."""

    def int32(self) -> int:
        """``Random.nextInt()``: any 32-bit integer."""
        ...

    def below(self, bound: int) -> int:
        """``Random.nextInt(bound)``: 0 … bound − 1."""
        ...

    def shuffle(self, items: list[Item]) -> None:
        """``Collections.shuffle``: reorder in place."""
        ...


class RandomTape:
    """Draws of a live client; one tape must not be shared between threads that need the same sequence twice."""

    __slots__ = ("_random",)

    def __init__(self, seed: int | None = None) -> None:
        self._random = random.Random(seed)

    def int32(self) -> int:
        return self._random.randint(INT_MIN, INT_MAX)

    def below(self, bound: int) -> int:
        return self._random.randrange(bound)

    def shuffle(self, items: list[Item]) -> None:
        self._random.shuffle(items)
