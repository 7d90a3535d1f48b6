"""Kaplan–Meier and restricted means against manually computed curves."""

import pytest

from rocketdiff.statistics.survival import kaplan_meier, restricted_mean


def test_censored_durations_are_at_risk_until_they_end() -> None:
    """With ends at 1 and 3, and one censored at 2, the share falls to 2/3, then to 0."""
    steps = kaplan_meier([1, 2, 3], [True, False, True])
    assert [step.time for step in steps] == [1, 3]
    assert [step.survival for step in steps] == pytest.approx([2 / 3, 0])


def test_an_end_counts_before_a_censoring_of_the_same_length() -> None:
    """At time 2, an end and a censoring, both are at risk and one ends."""
    steps = kaplan_meier([2, 2], [True, False])
    assert [step.survival for step in steps] == pytest.approx([0.5])


def test_restricted_mean_is_the_area_under_the_curve() -> None:
    """The area of 1 until time 1 and 2/3 until the horizon 2 is 1 + 2/3."""
    answer = restricted_mean([1, 2, 3], [True, False, True], horizon=2)
    assert answer.mean == pytest.approx(1 + 2 / 3)
    assert answer.low < answer.mean < answer.high <= 2


def test_restricted_mean_of_complete_durations_is_their_mean() -> None:
    """The restricted mean of uncensored durations below the horizon is their mean."""
    assert restricted_mean([1, 2, 6], [True] * 3, horizon=10).mean == pytest.approx(3)


def test_restricted_mean_of_nothing_is_refused() -> None:
    """Without durations there is no curve, so no mean."""
    with pytest.raises(ValueError, match="at least one"):
        restricted_mean([], [], horizon=1)
