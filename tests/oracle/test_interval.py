"""Uncertain milliseconds: outcomes of comparisons, and how they narrow the bounds."""

from collections.abc import Callable

from rocketdiff.oracle.choices import ChoiceExplorer
from rocketdiff.oracle.interval import Interval, Reading, bounds, wall_ms


def answers(compare: Callable[[ChoiceExplorer], tuple[bool, object]]) -> list[tuple[bool, object]]:
    """Return every outcome and what was learned."""
    explorer = ChoiceExplorer()
    explorer.restart()
    found = [compare(explorer)]
    while explorer.advance():
        found.append(compare(explorer))
    return found


def test_a_comparison_the_bounds_decide_is_not_asked() -> None:
    """A comparison that the bounds decide is no choice."""

    def compare(explorer: ChoiceExplorer) -> tuple[bool, object]:
        one = Interval(3, 5, explorer)
        return one < 6 and one >= 3 and one > 2 and one <= 5 and not one < 3, None

    assert answers(compare) == [(True, None)]


def test_an_open_comparison_with_a_number_narrows() -> None:
    """Comparing 3–5 with 5 leaves 5 or 3–4."""

    def compare(explorer: ChoiceExplorer) -> tuple[bool, object]:
        one = Interval(3, 5, explorer)
        return one >= 5, bounds(one)

    assert answers(compare) == [(True, (5, 5)), (False, (3, 4))]


def test_an_open_comparison_of_two_narrows_both() -> None:
    """Comparing 3–8 with 5–6 leaves 3–5 if less, otherwise 5–8."""

    def compare(explorer: ChoiceExplorer) -> tuple[bool, object]:
        one, other = Interval(3, 8, explorer), Interval(5, 6, explorer)
        return one < other, (bounds(one), bounds(other))

    assert answers(compare) == [(False, ((5, 8), (5, 6))), (True, ((3, 5), (5, 6)))]


def test_sums_and_differences() -> None:
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


def test_a_clock_of_whole_milliseconds_has_a_phase() -> None:
    """A clock with unknown phase reads 1.2–1.9 ms as 1 or 2."""
    assert wall_ms(1_200_000, 1_900_000) == (1, 2)
    assert wall_ms(1_200_000, 3_100_000) == (1, 4)
    assert wall_ms(1_200_000, 1_100_000) == (1, 2)


def test_without_learning_nothing_is_narrowed() -> None:
    """all_outcomes narrows no interval."""
    explorer = ChoiceExplorer()
    one = Interval(3, 5, explorer)
    assert explorer.all_outcomes(lambda: one >= 4) == {True, False}
    assert bounds(one) == (3, 5)
