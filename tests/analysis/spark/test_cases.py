"""Dealing cases to tasks; what a task gives is in test_distributed."""

from rocketdiff.analysis.spark.cases import dealt


def test_the_lightest_hand_gets_the_next_case() -> None:
    """Sizes 5, 4, 3, 3, 1 in two hands: 5 + 3, and 4 + 3 + 1."""
    sized = [(3, ("r", 1)), (5, ("r", 2)), (1, ("r", 3)), (4, ("r", 4)), (3, ("r", 5))]
    assert dealt(sized, 2) == [(("r", 2), ("r", 5)), (("r", 4), ("r", 1), ("r", 3))]


def test_no_hand_is_empty() -> None:
    """Two cases need no third task."""
    assert dealt([(1, ("r", 1)), (1, ("r", 2))], 8) == [(("r", 1),), (("r", 2),)]
    assert dealt([], 8) == []
