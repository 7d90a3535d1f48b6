"""Random draws of a live client."""

from rocketmq_reference.rules.java import INT_MAX, INT_MIN
from rocketmq_reference.rules.tape import RandomTape


def test_draws_lie_in_their_ranges() -> None:
    """Draws are in range, and the same seed gives the same draws."""
    tape, again = RandomTape(1), RandomTape(1)
    drawn = [tape.int32() for _ in range(100)]
    assert all(INT_MIN <= number <= INT_MAX for number in drawn)
    assert drawn == [again.int32() for _ in range(100)]
    assert all(0 <= tape.below(7) < 7 for _ in range(100))


def test_a_shuffle_keeps_the_items() -> None:
    """A shuffle reorders the list in place and keeps its items."""
    items = list(range(20))
    RandomTape(1).shuffle(items)
    assert items != sorted(items) and sorted(items) == list(range(20))
