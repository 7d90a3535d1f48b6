"""
Integer milliseconds of which only bounds are known; the rules use them as integers.

The explorer chooses the outcome of a comparison that the bounds leave open, and both operands are narrowed in place.
Sums and differences are independent intervals, an over-approximation: more behaviour becomes legal, never less.
"""

from typing import cast

from rocketdiff.core.units import NS_PER_MS
from rocketdiff.oracle.choices import ChoiceExplorer

PHASE_MS = 1
"""
A wall clock in whole milliseconds truncates a fraction whose phase against the monotonic clock is unknown: an instant
at x ms reads as ⌊x⌋ or ⌊x⌋ + 1.
"""


class Interval:
    """An integer number of milliseconds in lo … hi."""

    __slots__ = ("explorer", "hi", "lo", "was_read")

    def __init__(self, lo: int, hi: int, explorer: ChoiceExplorer, *, was_read: bool = False) -> None:
        """was_read: a value that the clock returned, so no later reading is below it."""
        self.lo = lo
        self.hi = hi
        self.explorer = explorer
        self.was_read = was_read

    def __repr__(self) -> str:
        return f"{self.lo:,}" if self.lo == self.hi else f"{self.lo:,}–{self.hi:,}"

    def __pos__(self) -> "Interval":
        return Interval(self.lo, self.hi, self.explorer, was_read=self.was_read)

    def __add__(self, other: "int | Interval") -> "Interval":
        if isinstance(other, int):
            return Interval(self.lo + other, self.hi + other, self.explorer)
        return Interval(self.lo + other.lo, self.hi + other.hi, self.explorer)

    def __sub__(self, other: "int | Interval") -> "Interval":
        if isinstance(other, int):
            return Interval(self.lo - other, self.hi - other, self.explorer)
        return Interval(self.lo - other.hi, self.hi - other.lo, self.explorer)

    def __rsub__(self, other: int) -> "Interval":
        return Interval(other - self.hi, other - self.lo, self.explorer)

    def __lt__(self, other: "int | Interval") -> bool:
        return self._is_below(other) if isinstance(other, int) else _less(self, other)

    def __ge__(self, other: "int | Interval") -> bool:
        return not self < other

    def __gt__(self, other: "int | Interval") -> bool:
        return not self._is_below(other + 1) if isinstance(other, int) else _less(other, self)

    def __le__(self, other: "int | Interval") -> bool:
        return not self > other

    def raise_to(self, lo: int) -> None:
        if lo > self.lo and self.explorer.learning:
            self.lo = lo

    def lower_to(self, hi: int) -> None:
        if hi < self.hi and self.explorer.learning:
            self.hi = hi

    def _is_below(self, bound: int) -> bool:
        if self.hi < bound:
            return True
        if self.lo >= bound:
            return False
        if self.explorer.choose(2):
            self.lower_to(bound - 1)
            return True
        self.raise_to(bound)
        return False


class Reading(Interval):
    """
    A clock that the rules read once where the client reads it repeatedly, each time a little later.

    A comparison can raise the lower bound of later readings but not limit them above.
    """

    __slots__ = ()

    def __add__(self, other: int | Interval) -> Interval:
        result = super().__add__(other)
        result.was_read = other == 0
        return result

    def lower_to(self, hi: int) -> None:
        """No operation: an upper bound of one reading does not bind later readings."""


def _less(one: Interval, other: Interval) -> bool:
    if one.lo >= other.hi:
        return False
    # The clock does not go back, so a reading below an earlier one is no choice.
    if other.was_read and isinstance(one, Reading):
        one.raise_to(other.lo)
        other.lower_to(one.hi)
        return False
    if one.hi < other.lo:
        return True
    if one.explorer.choose(2):
        one.lower_to(other.hi - 1)
        other.raise_to(one.lo + 1)
        return True
    one.raise_to(other.lo)
    other.lower_to(one.hi)
    return False


def as_ms(interval: Interval) -> int:
    """Type cast for the rules, which only add, subtract and compare times."""
    return cast("int", interval)


def bounds(time_ms: int | Interval) -> tuple[int, int]:
    """Lowest and highest value of a stored time."""
    return (time_ms, time_ms) if isinstance(time_ms, int) else (time_ms.lo, time_ms.hi)


def was_read(time_ms: int | Interval) -> bool:
    """True if the clock has already returned this time."""
    return not isinstance(time_ms, int) and time_ms.was_read


def wall_ms(from_ns: int, to_ns: int) -> tuple[int, int]:
    """Bounds of a millisecond clock's readings within [from_ns, to_ns]."""
    lo = from_ns // NS_PER_MS
    return lo, max(to_ns // NS_PER_MS, lo) + PHASE_MS
