"""Comparisons of intervals, checked against all pairs of their integers."""

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
    """Return the outcomes of all pairs of integers, with the bounds of those pairs."""
    pairs = [(x, y) for x in range(one[0], one[1] + 1) for y in range(other[0], other[1] + 1)]
    answers = {}
    for answer in {compare(x, y) for x, y in pairs}:
        right = [(x, y) for x, y in pairs if compare(x, y) is answer]
        answers[answer] = hull({x for x, _ in right}), hull({y for _, y in right})
    return answers


def by_asking(compare: Comparison, one: Box, other: Box | int) -> list[tuple[bool, tuple[Box, Box]]]:
    """Return the outcomes of the comparison, with the bounds of both operands afterwards."""
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
    """Each outcome occurs once and narrows both intervals to its integers: 100 pairs within 0–3."""
    for one, other in product(BOXES, BOXES):
        found = by_asking(compare, one, other)
        assert dict(found) == by_counting(compare, one, other), (one, other)
        assert len(found) == len(dict(found))


@pytest.mark.parametrize("compare", COMPARISONS)
def test_an_interval_and_a_number_compare_alike(compare: Comparison) -> None:
    """The same holds for an interval and a number, which is never narrowed."""
    for one, number in product(BOXES, range(-1, 5)):
        found = by_asking(compare, one, number)
        assert dict(found) == by_counting(compare, one, (number, number)), (one, number)
        assert len(found) == len(dict(found))


def test_sums_and_differences_are_not_the_clocks_own_readings() -> None:
    """Only a reading, or a reading plus 0, is shown by the clock; sums and differences are not."""
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
def test_a_reading_is_not_before_an_earlier_one(now: Box, shown: Box, afterwards: tuple[Box, Box]) -> None:
    """A reading is at least what the clock has shown, without a choice; both are narrowed, perhaps to nothing."""
    explorer = ChoiceExplorer()
    explorer.restart()
    later, before = Reading(*now, explorer), Interval(*shown, explorer, was_read=True)
    assert (later < before) is False
    assert not explorer.advance()
    assert (bounds(later), bounds(before)) == afterwards


def test_an_earlier_reading_binds_readings_only() -> None:
    """Only readings are bound by what the clock has shown: another time may be before it."""
    explorer = ChoiceExplorer()
    explorer.restart()
    found = set()
    while True:
        found.add(Interval(3, 5, explorer) < Interval(4, 4, explorer, was_read=True))
        if not explorer.advance():
            break
    assert found == {False, True}


def test_as_ms_is_the_interval_itself() -> None:
    """as_ms returns the interval itself; the bounds of a number are the number."""
    one = Interval(3, 5, ChoiceExplorer())
    assert as_ms(one) is one
    assert (bounds(one), bounds(7), was_read(one)) == ((3, 5), (7, 7), False)


def test_a_window_of_time_reads_as_its_whole_milliseconds_and_one_more() -> None:
    """A window reads as its whole milliseconds and one more."""
    windows = [(0, 0), (999_999, 999_999), (999_999, 1_000_000), (1_200_000, 3_100_000), (5_000_000, 4_999_999)]
    assert [wall_ms(*window) for window in windows] == [(0, 1), (0, 1), (0, 2), (1, 4), (5, 6)]


def answers(compare: Callable[[ChoiceExplorer], tuple[bool, object]]) -> list[tuple[bool, object]]:
    """Return every outcome and what was learned."""
    explorer = ChoiceExplorer()
    explorer.restart()
    found = [compare(explorer)]
    while explorer.advance():
        found.append(compare(explorer))
    return found


def test_sums_add_bounds_and_differences_cross_them() -> None:
    """Sums add bounds, differences subtract them crosswise."""
    explorer = ChoiceExplorer()
    one, other = Interval(3, 5, explorer), Interval(1, 2, explorer)
    assert [bounds(value) for value in (one + other, one - other, one + 10, one - 10, 10 - one)] == [
        (4, 7), (1, 4), (13, 15), (-7, -5), (5, 7),
    ]  # fmt: skip


def test_a_copy_is_narrowed_by_itself() -> None:
    """Unary plus copies an interval, and leaves integers alone."""
    explorer = ChoiceExplorer()
    one = Interval(3, 5, explorer)
    (+one).raise_to(5)
    assert bounds(one) == (3, 5)


def test_a_reading_is_not_bounded_from_above_by_an_answer() -> None:
    """A reading gets no upper bound: later readings of the clock may be later."""

    def compare(explorer: ChoiceExplorer) -> tuple[bool, object]:
        now, start = Reading(3, 5, explorer), Interval(4, 4, explorer)
        first = now >= start
        return first, now >= start

    assert answers(compare) == [(True, True), (False, True), (False, False)]


def test_no_later_reading_is_below_an_earlier_one() -> None:
    """No reading is below an earlier one, so an avoidance of 0 ms is over at once."""
    explorer = ChoiceExplorer()
    explorer.restart()
    start = Reading(3, 5, explorer) + 0
    assert Reading(3, 6, explorer) >= start
    assert not explorer.advance()


def test_without_learning_nothing_is_narrowed() -> None:
    """all_outcomes narrows no interval."""
    explorer = ChoiceExplorer()
    one = Interval(3, 5, explorer)
    assert explorer.all_outcomes(lambda: one >= 4) == {True, False}
    assert bounds(one) == (3, 5)
