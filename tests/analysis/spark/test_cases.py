"""Dealing cases to tasks."""

from rocketdiff.analysis.spark.cases import dealt


def test_the_lightest_hand_gets_the_next_case() -> None:
    """The task with the least work gets the next case: sizes 5, 4, 3, 3, 1 become 5 + 3 and 4 + 3 + 1."""
    sized = [(3, ("r", 1)), (5, ("r", 2)), (1, ("r", 3)), (4, ("r", 4)), (3, ("r", 5))]
    assert dealt(sized, 2) == [(("r", 2), ("r", 5)), (("r", 4), ("r", 1), ("r", 3))]


def test_no_hand_is_empty() -> None:
    """No task is empty: two cases make two tasks of eight."""
    assert dealt([(1, ("r", 1)), (1, ("r", 2))], 8) == [(("r", 1),), (("r", 2),)]
    assert dealt([], 8) == []
