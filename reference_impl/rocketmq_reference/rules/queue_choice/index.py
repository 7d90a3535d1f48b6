"""
The counter of one thread for one publish list (ThreadLocalIndex of every release).

Six generations (T1–T6). All increment first and return the new value. They differ in how the random start is made
non-negative, in overflow, and in whether a retry restarts the counter.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from rocketmq_reference.rules.java import INT_MAX, abs32, increment
from rocketmq_reference.rules.tape import Tape


@dataclass(frozen=True, slots=True)
class IndexRule:
    """One generation of the counter."""

    name: str
    start: Callable[[Tape], int]
    """Raw value at first use."""
    step: Callable[[int], tuple[int, int]]
    """Raw value → (next raw value, number returned)."""
    resets: bool = False
    """A retry with fault latency on draws a new raw value."""


class ThreadIndex:
    """Counter of one thread for one publish list; ``value`` is None before its first use."""

    __slots__ = ("rule", "value")

    def __init__(self, rule: IndexRule, value: int | None = None) -> None:
        self.rule = rule
        self.value = value

    def next(self, tape: Tape) -> int:
        """Advance the counter and return the number to select by; the first use draws the start from the tape."""
        value = self.value
        if value is None:
            value = self.rule.start(tape)
        self.value, number = self.rule.step(value)
        return number

    def reset(self, tape: Tape) -> None:
        """Restart this thread's counter, uniformly in 0 … MAX − 1 (ThreadLocalIndex.reset, from 5.1.4)."""
        self.value = tape.below(INT_MAX)

    def copy(self) -> Self:
        return type(self)(self.rule, self.value)


def _start_clamped(tape: Tape) -> int:
    return max(abs32(tape.int32()), 0)


def _start_absolute(tape: Tape) -> int:
    return abs32(tape.int32())


def _start_raw(tape: Tape) -> int:
    return tape.int32()


def _step_clamped(value: int) -> tuple[int, int]:
    value = max(abs32(increment(value)), 0)
    return value, value


def _step_absolute(value: int) -> tuple[int, int]:
    # abs(MIN) is MIN, and that is stored: the next increment gives MIN + 1, whose abs is MAX.
    value = abs32(increment(value))
    return value, value


def _step_raw_read_absolute(value: int) -> tuple[int, int]:
    # The raw value is stored; only the number read is made positive, so past MAX the numbers count down.
    value = increment(value)
    return value, abs32(value)


def _step_masked(value: int) -> tuple[int, int]:
    value = increment(value)
    return value, value & INT_MAX


CLAMPED = IndexRule("clamped", _start_clamped, _step_clamped)
"""T1, to 4.7.1: MAX is followed by 0."""

ABSOLUTE = IndexRule("absolute", _start_absolute, _step_absolute)
"""T2, 4.8.0: after MAX the counter alternates MIN, MAX, MIN, MAX … for ever (upstream #2783)."""

READ_ABSOLUTE = IndexRule("read-absolute", _start_absolute, _step_raw_read_absolute)
"""T3, 4.9.0–4.9.3: after MAX comes MIN once, then the numbers count down (upstream #4349)."""

MASKED = IndexRule("masked", _start_absolute, _step_masked)
"""T4, 4.9.4–4.9.8: MAX is followed by 0."""

MASKED_RAW_START = IndexRule("masked-raw-start", _start_raw, _step_masked)
"""T5, 5.0.0–5.1.3: like T4, but the start keeps its sign until it is read."""

RESETTABLE = IndexRule("resettable", _start_raw, _step_masked, resets=True)
"""T6, from 5.1.4: like T5, and a retry with fault latency on restarts at a new random number."""
