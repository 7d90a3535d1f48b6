"""Comparisons of uncertain milliseconds, held against every pair of whole numbers that they may be."""

import operator
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from rocketdiff.oracle.choices import ChoiceExplorer
from rocketdiff.oracle.interval import Interval, Reading, as_ms, bounds, wall_ms, was_read

Comparison = Callable[[Any, Any], bool]
Box = tuple[int, int]
COMPARISONS: tuple[Comparison, ...] = (operator.lt, operator.le, operator.gt, operator.ge)
BOXES = [(lo, hi) for lo in range(4) for hi in range(lo, 4)]


def hull(values: set[int]) -> Box:
    return min(values), max(values)


def by_counting(compare: Comparison, one: Box, other: Box) -> dict[bool, tuple[Box, Box]]:
    """Every answer that some pair of numbers gives, with the least and the most of those numbers."""
    pairs = [(x, y) for x in range(one[0], one[1] + 1) for y in range(other[0], other[1] + 1)]
    answers = {}
    for answer in {compare(x, y) for x, y in pairs}:
        right = [(x, y) for x, y in pairs if compare(x, y) is answer]
        answers[answer] = hull({x for x, _ in right}), hull({y for _, y in right})
    return answers


def by_asking(compare: Comparison, one: Box, other: Box | int) -> list[tuple[bool, tuple[Box, Box]]]:
    """Answers of an interval and another, or a number, one run after the other, with what is known of both afterwards."""
    explorer, found = ChoiceExplorer(), []
    explorer.restart()
    while True:
        left, right = Interval(*one, explorer), other if isinstance(other, int) else Interval(*other, explorer)
        answer = compare(left, right)
        found.append((answer, (bounds(left), bounds(right))))
        if not explorer.advance():
            return found


@pytest.mark.parametrize("compare", COMPARISONS)
def test_two_intervals_compare_as_their_numbers_do(compare: Comparison) -> None:
    """Each answer once, and both are narrowed to the numbers that give it; 100 pairs of intervals within 0–3."""
    for one, other in product(BOXES, BOXES):
        found = by_asking(compare, one, other)
        assert dict(found) == by_counting(compare, one, other), (one, other)
        assert len(found) == len(dict(found))


@pytest.mark.parametrize("compare", COMPARISONS)
def test_an_interval_and_a_number_compare_alike(compare: Comparison) -> None:
    """Numbers from below to above all intervals within 0–3; what is no interval cannot be narrowed."""
    for one, number in product(BOXES, range(-1, 5)):
        found = by_asking(compare, one, number)
        assert dict(found) == by_counting(compare, one, (number, number)), (one, number)
        assert len(found) == len(dict(found))


def test_sums_and_differences_are_not_the_clocks_own_readings() -> None:
    """Only a reading and the same with nothing added are: no later reading is below them."""
    explorer = ChoiceExplorer()
    one = Reading(3, 5, explorer)
    assert [was_read(time) for time in (one, one + 0, one + 1, one + Interval(0, 0, explorer), one - 0, 5 - one)] == [
        False, True, False, False, False, False,
    ]  # fmt: skip
    assert [was_read(time) for time in (Interval(1, 2, explorer), Interval(1, 2, explorer) + 0, 7)] == [False] * 3
    assert was_read(+(one + 0)) and was_read(Interval(1, 2, explorer, was_read=True))
    assert not was_read(+Interval(1, 2, explorer))


@pytest.mark.parametrize(
    ("now", "shown", "afterwards"),
    [((3, 6), (4, 5), ((4, 6), (4, 5))), ((3, 4), (2, 9), ((3, 4), (2, 4))), ((1, 2), (4, 5), ((4, 2), (4, 2)))],
)
def test_a_reading_is_at_least_what_the_clock_has_shown(now: Box, shown: Box, afterwards: tuple[Box, Box]) -> None:
    """Whatever the bounds say; it is not asked, and both are narrowed to where that holds (to nothing, where it cannot)."""
    explorer = ChoiceExplorer()
    explorer.restart()
    later, before = Reading(*now, explorer), Interval(*shown, explorer, was_read=True)
    assert (later < before) is False
    assert not explorer.advance()
    assert (bounds(later), bounds(before)) == afterwards


def test_what_the_clock_has_shown_binds_readings_only() -> None:
    """Another time may be before it: 3 before 4, or 5 at 4."""
    explorer = ChoiceExplorer()
    explorer.restart()
    found = set()
    while True:
        found.add(Interval(3, 5, explorer) < Interval(4, 4, explorer, was_read=True))
        if not explorer.advance():
            break
    assert found == {False, True}


def test_what_the_rules_take_for_an_integer_is_the_interval() -> None:
    """And a number's bounds are itself."""
    one = Interval(3, 5, ChoiceExplorer())
    assert as_ms(one) is one
    assert (bounds(one), bounds(7), was_read(one)) == ((3, 5), (7, 7), False)


def test_a_window_of_time_reads_as_its_whole_milliseconds_and_one_more() -> None:
    """To the nanosecond."""
    windows = [(0, 0), (999_999, 999_999), (999_999, 1_000_000), (1_000_000, 1_999_999), (5_000_000, 4_999_999)]
    assert [wall_ms(*window) for window in windows] == [(0, 1), (0, 1), (0, 2), (1, 2), (5, 6)]
