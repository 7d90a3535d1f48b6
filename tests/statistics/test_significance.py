"""Statistical tests against figures computed manually or taken from the specification."""

from math import exp, inf, log, sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

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


def test_a_scattered_ratio_is_inconclusive() -> None:
    """Ratios from a half to two in four episodes are inconclusive."""
    answer = paired_ratio([(100, 50), (100, 200), (100, 70), (100, 140)], margin_ratio=1.2)
    assert answer.decision is IntervalDecision.INCONCLUSIVE
    assert pairs_needed(answer.log_sd, 1.2, ratio=answer.ratio) > 100


@given(st.lists(st.tuples(st.floats(0.5, 2), st.floats(0.5, 2)), min_size=2, max_size=12))
def test_swapping_the_arms_inverts_the_ratio_and_keeps_the_decision(pairs: list[tuple[float, float]]) -> None:
    """Swapped arms invert the ratio and keep the decision, unless the interval ends at the margin to the last digits."""
    forward = paired_ratio(pairs, margin_ratio=1.2)
    assume(all(abs(abs(log(limit)) - log(1.2)) > 1e-9 for limit in (forward.low, forward.high)))
    backward = paired_ratio([(candidate, baseline) for baseline, candidate in pairs], margin_ratio=1.2)
    assert forward.decision is backward.decision
    assert forward.ratio * backward.ratio == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("seen", "n", "low", "high"),
    [
        (0, 10, 0.0, 1 - 0.025 ** (1 / 10)),
        (10, 10, 0.025 ** (1 / 10), 1.0),
        (0, 0, 0.0, 1.0),
        (0, 1, 0.0, 0.975),
        (1, 1, 0.025, 1.0),
        (4, 20, 0.057334, 0.436614),
    ],
)
def test_the_interval_of_a_rate_is_that_of_clopper_and_pearson(seen: int, n: int, low: float, high: float) -> None:
    """Without an event the limit is 1 − 0.025^(1/n); 4 of 20 is a textbook's case; the ends are exactly 0 and 1."""
    found = clopper_pearson(seen, n)
    assert found == pytest.approx((low, high), abs=1e-5)
    assert (found[0] == 0, found[1] == 1) == (low == 0, high == 1)


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


def tail_of_two(t: float) -> float:
    """Tail of Student's t with two degrees of freedom, in closed form."""
    return 0.5 - t / (2 * sqrt(2 + t * t))


def test_both_p_values_and_the_interval_of_three_pairs() -> None:
    """Log-ratios 0, 0.1, 0.2: standard error 0.1/√3, two degrees of freedom, t(0.95, 2) = 2.919986."""
    found = paired_ratio([(1.0, exp(x)) for x in (0.0, 0.1, 0.2)], margin_ratio=1.2)
    error = 0.1 / sqrt(3)
    assert found.p_equivalence == pytest.approx(tail_of_two((log(1.2) - 0.1) / error))
    assert found.p_difference == pytest.approx(tail_of_two((0.1 - log(1.2)) / error))
    assert (found.low, found.high) == pytest.approx(
        (exp(0.1 - 2.919986 * error), exp(0.1 + 2.919986 * error)), rel=1e-6
    )
    assert (found.ratio, found.log_sd, found.n) == (pytest.approx(exp(0.1)), pytest.approx(0.1), 3)
    assert (found.decision, found.confidence) == (IntervalDecision.INCONCLUSIVE, pytest.approx(0.9))


def test_a_quicker_candidate_has_the_same_p_values() -> None:
    """Negated log-ratios give the same p-values; half and twice the baseline's time differ."""
    slower = paired_ratio([(1.0, exp(x)) for x in (0.0, 0.1, 0.2)], margin_ratio=1.2)
    quicker = paired_ratio([(1.0, exp(-x)) for x in (0.0, 0.1, 0.2)], margin_ratio=1.2)
    assert (quicker.p_equivalence, quicker.p_difference) == pytest.approx((slower.p_equivalence, slower.p_difference))
    assert (quicker.low, quicker.high) == pytest.approx((1 / slower.high, 1 / slower.low))
    assert paired_ratio([(6, 3), (6, 3), (6, 2.9)], margin_ratio=1.2).decision is IntervalDecision.DIFFERENT
    assert paired_ratio([(3, 6), (3, 6), (2.9, 6)], margin_ratio=1.2).decision is IntervalDecision.DIFFERENT


@pytest.mark.parametrize("candidate", [2.0, 0.5])
def test_at_the_margin_itself_nothing_is_shown(candidate: float) -> None:
    """A ratio exactly at the margin, without spread, shows neither equivalence nor difference."""
    found = paired_ratio([(1.0, candidate), (1.0, candidate)], margin_ratio=2.0)
    assert (found.decision, found.p_equivalence, found.p_difference) == (IntervalDecision.INCONCLUSIVE, 1.0, 1.0)


def test_without_spread_a_point_inside_is_certain() -> None:
    """Without spread, a ratio inside the margin is certainly equivalent and not different."""
    found = paired_ratio([(5.0, 5.0), (7.0, 7.0)], margin_ratio=1.2)
    assert (found.p_equivalence, found.p_difference, found.low, found.high) == (0.0, 1.0, 1.0, 1.0)
    assert found.decision is IntervalDecision.EQUIVALENT


def by_integration(n: int, margin: float, mean: float, sd: float, alpha: float) -> float:
    """Power averaged over the spreads of samples, without the noncentral t."""
    shares = (np.arange(200_000) + 0.5) / 200_000
    spread = np.sqrt(stats.chi2.ppf(shares, n - 1) / (n - 1))
    critical = stats.t.ppf(1 - alpha, n - 1) * spread
    if mean > margin:
        return float(np.mean(stats.norm.sf(critical - (mean - margin) * sqrt(n) / sd)))
    above = stats.norm.cdf((margin - mean) * sqrt(n) / sd - critical)
    return float(np.mean(np.maximum(0, above - stats.norm.cdf(critical - (margin + mean) * sqrt(n) / sd))))


def test_without_spread_two_pairs_are_enough() -> None:
    """Without spread two pairs are enough, and the number never exceeds 10,000."""
    assert pairs_needed(0.0, 1.2) == 2
    assert pairs_needed(9.0, 1.2) == MOST_PAIRS == 10_000


@pytest.mark.parametrize(
    ("p_values", "rejected"),
    [
        ([], []),
        ([0.05], [True]),
        ([0.0501], [False]),
        ([0.03, 0.01, 0.04], [False, True, False]),
        ([0.025, 0.05], [True, True]),
        ([0.0251, 0.05], [False, False]),
        ([0.05, 0.025, 0.9], [False, False, False]),
    ],
)
def test_holm_rejects_at_its_limit(p_values: list[float], rejected: list[bool]) -> None:
    """Holm rejects at 5 % divided by the number of remaining p-values."""
    assert list(holm(p_values, 0.05)) == rejected


@pytest.mark.parametrize(
    ("p_values", "flagged"),
    [
        ([0.05], [True]),
        ([0.0501], [False]),
        ([0.5, 0.6], [False, False]),
        ([0.04, 0.03, 0.035], [True, True, True]),
        ([0.06, 0.01, 0.04], [False, True, False]),
        ([0.01, 0.9, 0.03], [True, False, True]),
        ([0.04, 0.05], [True, True]),
    ],
)
def test_the_benjamini_hochberg_screen_flags_at_its_limit(p_values: list[float], flagged: list[bool]) -> None:
    """The screen flags the k-th smallest of n at 5 % times k/n, and all below."""
    assert list(benjamini_hochberg(p_values, 0.05)) == flagged


@pytest.mark.parametrize(("successes", "n"), [(-1, 5), (6, 5), (1, 0)])
def test_a_rate_outside_its_range_is_refused(successes: int, n: int) -> None:
    """Successes outside 0 to n are refused, because they are a bug of ours."""
    with pytest.raises(ValueError, match="between 0 and n"):
        clopper_pearson(successes, n)


def test_the_p_value_of_discordant_pairs_is_exact() -> None:
    """Five discordant pairs against none have p = 2 · (1/2)^5; counts that differ by one have p = 1 in either direction."""
    assert exact_mcnemar(5, 0) == pytest.approx(2 / 32)
    assert exact_mcnemar(0, 0) == exact_mcnemar(3, 3) == 1.0
    assert [exact_mcnemar(1, 0), exact_mcnemar(0, 1), exact_mcnemar(4, 3)] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("ratio", "sd", "n"),
    [
        (1.35, 0.05, 5),
        (1.0, 0.2, 16),
        (1.05, 0.15, 9),
        (0.8, 0.02, 4),
        (1.0, 0.2, 12),
        (1.15, 0.2, 17),
        (1.25, 0.2, 19),
    ],
)
def test_so_many_pairs_have_the_power_and_one_less_has_not(ratio: float, sd: float, n: int) -> None:
    """For slightly less than the power of n pairs n are needed, for more n + 1, also near the margin (under a third there)."""
    power = by_integration(n, log(1.2), abs(log(ratio)), sd, 0.05)
    assert pairs_needed(sd, 1.2, ratio=ratio, power=power - 1e-4) == n
    assert pairs_needed(sd, 1.2, ratio=ratio, power=power + 1e-4) == n + 1


def test_one_pair_and_none_have_a_ratio_and_no_bound() -> None:
    """One pair has a ratio without a bound or spread, so the assumed one is used; no pair has ratio 1."""
    one, none = paired_ratio([(100, 150)], margin_ratio=1.2), paired_ratio([], margin_ratio=1.2)
    assert (one.ratio, one.low, one.high, one.n, one.log_sd) == (pytest.approx(1.5), 0.0, inf, 1, 0.15)
    assert one.decision is IntervalDecision.INCONCLUSIVE
    assert (none.ratio, none.p_equivalence, none.p_difference, none.n) == (1.0, 1.0, 1.0, 0)


@pytest.mark.parametrize(
    ("pair", "margin", "message"),
    [
        ((1.0, 1.0), 1.0, "above 1"),
        *((pair, 1.2, "durations must be positive") for pair in ((0.0, 1.0), (1.0, 0.0), (1.0, -1.0))),
    ],
)
def test_a_margin_of_one_and_a_duration_of_zero_are_refused(
    pair: tuple[float, float], margin: float, message: str
) -> None:
    """A margin of 1, and a duration of zero or less, which has no log-ratio, are refused."""
    with pytest.raises(ValueError, match=message):
        paired_ratio([pair, (1.0, 1.0)], margin_ratio=margin)


@pytest.mark.parametrize(("clean", "rate"), [(0, 1.0), (1, 0.95), (15, 0.18), (60, 0.049), (120, 0.025), (500, 0.006)])
def test_clean_repeats_exclude_the_rates_of_the_specification(clean: int, rate: float) -> None:
    """Clean repeats exclude the rates of section 3.6 of the specification; none excludes no rate."""
    assert excluded_rate(clean) == pytest.approx(rate, rel=0.02)
