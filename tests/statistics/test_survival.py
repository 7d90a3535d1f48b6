"""Kaplan–Meier and restricted means against curves worked out by hand."""

import pytest

from rocketdiff.statistics.survival import kaplan_meier, restricted_mean


def test_censored_durations_are_at_risk_until_they_end() -> None:
    """Ends at 1 and 3, censored at 2: the share falls to 2/3 of three, then to nothing of one."""
    steps = kaplan_meier([1, 2, 3], [True, False, True])
    assert [step.time for step in steps] == [1, 3]
    assert [step.survival for step in steps] == pytest.approx([2 / 3, 0])


def test_an_end_counts_before_a_censoring_of_the_same_length() -> None:
    """At time 2 two are at risk, one ends."""
    steps = kaplan_meier([2, 2], [True, False])
    assert [step.survival for step in steps] == pytest.approx([0.5])


def test_restricted_mean_is_the_area_under_the_curve() -> None:
    """1 until time 1, 2/3 until 3, horizon 2: 1 + 2/3."""
    answer = restricted_mean([1, 2, 3], [True, False, True], horizon=2)
    assert answer.mean == pytest.approx(1 + 2 / 3)
    assert answer.low < answer.mean < answer.high <= 2


def test_restricted_mean_of_complete_durations_is_their_mean() -> None:
    """Nothing is censored and the horizon is beyond the longest."""
    assert restricted_mean([1, 2, 6], [True] * 3, horizon=10).mean == pytest.approx(3)


def test_restricted_mean_of_nothing_is_refused() -> None:
    """There is no curve to take an area under."""
    with pytest.raises(ValueError, match="at least one"):
        restricted_mean([], [], horizon=1)
