"""Statistical tests against figures computed manually or taken from the specification."""

from math import log, sqrt

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rocketdiff.statistics.significance import (
    MOST_PAIRS,
    IntervalDecision,
    benjamini_hochberg,
    clopper_pearson,
    exact_mcnemar,
    excluded_rate,
    holm,
    paired_ratio,
    pairs_needed,
)


@pytest.mark.parametrize(
    ("log_sd", "margin_ratio", "pairs"), [(0.15, 1.1, 29), (0.15, 1.2, 9), (0.30, 1.1, 109), (0.30, 1.2, 31)]
)
def test_pairs_needed_are_those_of_the_specification(log_sd: float, margin_ratio: float, pairs: int) -> None:
    """Section 3.4 of the specification gives 28, 9, 109 and 31 pairs; exact integration gives 29 for the first."""
    assert pairs_needed(log_sd, margin_ratio) == pairs


def test_ratio_interval_is_the_t_interval_of_the_logs() -> None:
    """The interval of log-ratios −0.1, 0, 0.1 has mean 0 and standard error 0.1/√3; t(0.95, 2) is 2.9200."""
    pairs = [(1.0, 2.718281828459045**x) for x in (-0.1, 0.0, 0.1)]
    answer = paired_ratio(pairs, margin_ratio=1.2)
    assert log(answer.high) == pytest.approx(2.919986 * 0.1 / sqrt(3), rel=1e-5)
    assert answer.ratio == pytest.approx(1.0)
    assert answer.confidence == pytest.approx(0.9)
    assert answer.decision is IntervalDecision.EQUIVALENT
    assert answer.p_equivalence < 0.05 < answer.p_difference


def test_a_ratio_beyond_the_margin_is_different() -> None:
    """Twice as long in every episode is different: outside ±20 %."""
    answer = paired_ratio([(100, 200), (100, 201), (100, 199), (100, 200)], margin_ratio=1.2)
    assert answer.decision is IntervalDecision.DIFFERENT
    assert answer.p_difference < 0.001


def test_a_scattered_ratio_is_inconclusive() -> None:
    """Ratios from a half to two in four episodes are inconclusive."""
    answer = paired_ratio([(100, 50), (100, 200), (100, 70), (100, 140)], margin_ratio=1.2)
    assert answer.decision is IntervalDecision.INCONCLUSIVE
    assert pairs_needed(answer.log_sd, 1.2, ratio=answer.ratio) > 100


def test_one_pair_is_never_enough() -> None:
    """A single pair has no spread and is inconclusive; the assumed spread is used."""
    answer = paired_ratio([(100, 100)], margin_ratio=1.2)
    assert (answer.decision, answer.n, answer.log_sd) == (IntervalDecision.INCONCLUSIVE, 1, 0.15)


def test_equal_pairs_without_spread_are_equivalent() -> None:
    """Identical durations without a spread are equivalent."""
    assert paired_ratio([(5, 5), (7, 7)], margin_ratio=1.2).decision is IntervalDecision.EQUIVALENT


@pytest.mark.parametrize("pairs", [[(0.0, 1.0), (1.0, 1.0)], [(1.0, -1.0), (1.0, 1.0)]])
def test_a_duration_that_is_not_positive_is_refused(pairs: list[tuple[float, float]]) -> None:
    """A duration of zero or less has no log-ratio and is refused."""
    with pytest.raises(ValueError, match="positive"):
        paired_ratio(pairs, margin_ratio=1.2)


@given(st.lists(st.tuples(st.floats(0.5, 2), st.floats(0.5, 2)), min_size=2, max_size=12))
def test_swapping_the_arms_inverts_the_ratio_and_keeps_the_decision(pairs: list[tuple[float, float]]) -> None:
    """Swapped arms invert the ratio and keep the decision, unless the interval ends at the margin to the last digits."""
    forward = paired_ratio(pairs, margin_ratio=1.2)
    assume(all(abs(abs(log(limit)) - log(1.2)) > 1e-9 for limit in (forward.low, forward.high)))
    backward = paired_ratio([(candidate, baseline) for baseline, candidate in pairs], margin_ratio=1.2)
    assert forward.decision is backward.decision
    assert forward.ratio * backward.ratio == pytest.approx(1.0)


def test_clopper_pearson_without_an_event_is_the_closed_form() -> None:
    """0 of 10 has the upper limit 1 − 0.025^(1/10)."""
    low, high = clopper_pearson(0, 10)
    assert low == 0.0
    assert high == pytest.approx(1 - 0.025 ** (1 / 10))
    assert clopper_pearson(10, 10)[0] == pytest.approx(0.025 ** (1 / 10))
    assert clopper_pearson(0, 0) == (0.0, 1.0)


def test_clopper_pearson_of_a_textbook_case() -> None:
    """4 of 20 has the interval 5.73 % to 43.66 %."""
    assert list(clopper_pearson(4, 20)) == pytest.approx([0.0573, 0.4366], abs=1e-4)


@pytest.mark.parametrize(("clean", "rate"), [(15, 0.18), (60, 0.049), (120, 0.025), (500, 0.006)])
def test_clean_repeats_exclude_the_rates_of_the_specification(clean: int, rate: float) -> None:
    """Clean repeats exclude the rates of section 3.6 of the specification."""
    assert excluded_rate(clean) == pytest.approx(rate, rel=0.02)


def test_mcnemar_is_the_binomial_on_discordant_pairs() -> None:
    """Five discordant pairs against none have p = 2 · (1/2)^5."""
    assert exact_mcnemar(5, 0) == pytest.approx(2 / 32)
    assert exact_mcnemar(0, 0) == 1.0
    assert exact_mcnemar(3, 3) == 1.0


def test_holm_steps_down_and_stops() -> None:
    """Holm rejects 0.01 ≤ 0.05/3 and stops at 0.03 > 0.05/2, before the third, though below 0.05."""
    assert holm([0.03, 0.01, 0.04], 0.05) == (False, True, False)
    assert holm([], 0.05) == ()


def test_benjamini_hochberg_steps_up() -> None:
    """Benjamini–Hochberg flags the smaller values with 0.04 ≤ 0.05·3/3."""
    assert benjamini_hochberg([0.04, 0.03, 0.035], 0.05) == (True, True, True)
    assert benjamini_hochberg([0.06, 0.01, 0.04], 0.05) == (False, True, False)


def test_pairs_needed_for_a_difference_grow_as_it_nears_the_margin() -> None:
    """Beyond ×1.2, at 1 % over eight questions, six pairs suffice for ×1.29 with 2 % spread, 33 for ×1.25 with 5 %."""
    assert pairs_needed(0.02, 1.2, 0.01 / 8, ratio=1.29) == 6
    assert pairs_needed(0.05, 1.2, 0.01 / 8, ratio=1.25) == 33
    assert pairs_needed(0.05, 1.2, 0.01 / 8, ratio=1 / 1.25) == 33


def test_at_the_margin_itself_no_number_of_pairs_would_decide() -> None:
    """At the margin the power is alpha, with any number of pairs."""
    assert pairs_needed(0.05, 1.2, ratio=1.2) == MOST_PAIRS


def test_an_estimate_off_the_middle_needs_more_pairs_to_be_equivalent() -> None:
    """×1.1 leaves half of the margin, so it needs more than twice the 9 pairs of equal arms."""
    assert pairs_needed(0.15, 1.2, ratio=1.1) > 2 * pairs_needed(0.15, 1.2)
