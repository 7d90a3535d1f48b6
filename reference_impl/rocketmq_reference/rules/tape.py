"""
Source of the rules' random numbers: a tape passed by the caller.

Live it is a pseudo-random generator; in simulation a scripted one shared with the Java classes; in the oracle an enumeration
of all possible draws.
"""

import random
from typing import Protocol, TypeVar

from rocketmq_reference.rules.java import INT_MAX, INT_MIN

Item = TypeVar("Item")


class Tape(Protocol):
    """The three kinds of random draws of a producer."""

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
    """Random draws of a live client; threads that need a reproducible sequence must not share a tape."""

    __slots__ = ("_random",)

    def __init__(self, seed: int | None = None) -> None:
        self._random = random.Random(seed)

    def int32(self) -> int:
        return self._random.randint(INT_MIN, INT_MAX)

    def below(self, bound: int) -> int:
        return self._random.randrange(bound)

    def shuffle(self, items: list[Item]) -> None:
        self._random.shuffle(items)
