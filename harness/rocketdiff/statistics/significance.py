"""
The statistical tests behind a verdict, as pure functions.

The unit of every sample is the pause episode (or the run), never the message: messages of one episode share their
cause. Censored durations: ``rocketdiff.statistics.survival``.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp, inf, log, sqrt

import numpy as np
import scipy

ASSUMED_LOG_SD = 0.15
"""For fewer than two pairs: the smaller spread in the table of this room's README."""


class IntervalDecision(StrEnum):
    """Three answers from one interval. Seeing no difference is never a pass."""

    EQUIVALENT = "equivalent"
    DIFFERENT = "different"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class RatioDecision:
    """
    Decision on candidate ÷ baseline (geometric mean over pairs), and its interval.

    log_sd: of the log-ratios; assumed with fewer than two pairs.
    p_equivalence, p_difference: for Holm over several checks.
    """

    decision: IntervalDecision
    ratio: float
    low: float
    high: float
    confidence: float
    n: int
    log_sd: float
    p_equivalence: float
    p_difference: float


def paired_ratio(pairs: Sequence[tuple[float, float]], *, margin_ratio: float, alpha: float = 0.05) -> RatioDecision:
    """
    Decide from the 1−2·alpha interval of the mean log-ratio of (baseline, candidate).

    Inside [1/margin, margin]: EQUIVALENT, by two one-sided tests (Schuirmann 1987; Hauschke et al. on ratios).
    Wholly outside: DIFFERENT by more than the margin, a one-sided test at alpha.
    Otherwise, or with fewer than two pairs: INCONCLUSIVE.

    Raises ValueError for a margin of at most 1 or a duration that is not positive.
    """
    if margin_ratio <= 1:
        raise ValueError("a margin is a ratio above 1")
    if any(baseline <= 0 or candidate <= 0 for baseline, candidate in pairs):
        raise ValueError("durations must be positive")
    margin = log(margin_ratio)
    ratios = np.array([log(candidate / baseline) for baseline, candidate in pairs])
    n, confidence = len(ratios), 1 - 2 * alpha
    if n < 2:
        return RatioDecision(
            IntervalDecision.INCONCLUSIVE, exp(float(ratios.sum())), 0.0, inf, confidence, n, ASSUMED_LOG_SD, 1.0, 1.0
        )
    mean, deviation = float(ratios.mean()), float(ratios.std(ddof=1))
    error = deviation / sqrt(n)
    reach = float(scipy.stats.t.ppf(1 - alpha, n - 1)) * error
    low, high = mean - reach, mean + reach
    equivalence = max(_tail(mean + margin, error, n - 1), _tail(margin - mean, error, n - 1))
    difference = _tail(abs(mean) - margin, error, n - 1)
    decision = IntervalDecision.INCONCLUSIVE
    if -margin < low and high < margin:
        decision = IntervalDecision.EQUIVALENT
    elif low > margin or high < -margin:
        decision = IntervalDecision.DIFFERENT
    return RatioDecision(decision, exp(mean), exp(low), exp(high), confidence, n, deviation, equivalence, difference)


def _tail(distance: float, error: float, freedom: int) -> float:
    """One-sided p-value of a t statistic; without spread only the sign of the distance counts."""
    if error == 0:
        return 0.0 if distance > 0 else 1.0
    return float(scipy.stats.t.sf(distance / error, freedom))


MOST_PAIRS = 10_000
"""More than any run has: the estimate is so near the margin that no number decides."""


def pairs_needed(
    log_sd: float, margin_ratio: float, alpha: float = 0.05, *, ratio: float = 1.0, power: float = 0.9
) -> int:
    """
    Return the fewest pairs that decide with ``power`` at level alpha if ``ratio`` is true; MOST_PAIRS if none do.

    Inside the margin equivalence must be shown (both one-sided tests reject; Phillips 1990), outside it a difference
    by more than the margin. Published for equal arms: 28 and 9 pairs (±10 %, ±20 %) at log-sd 0.15, 109 and 31 at
    0.30. Results agree but for the first: 28 pairs have power 0.898, so it is 29. A sample without spread needs two.
    """
    margin, mean = log(margin_ratio), abs(log(ratio))
    if log_sd == 0:
        return 2
    counts = range(2, MOST_PAIRS)
    return 2 + bisect_left(counts, True, key=lambda n: _power(n, margin, mean, log_sd, alpha) >= power)


def _power(n: int, margin: float, mean: float, log_sd: float, alpha: float) -> float:
    """Probability that n pairs lead to the true decision."""
    critical = float(scipy.stats.t.ppf(1 - alpha, n - 1))
    near, far = ((margin + side * mean) * sqrt(n) / log_sd for side in (-1, 1))
    if near < 0:
        return float(scipy.stats.nct.sf(critical, n - 1, -near))
    return float(scipy.stats.nct.cdf(-critical, n - 1, -near)) - float(scipy.stats.nct.sf(-critical, n - 1, -far))


def clopper_pearson(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """
    Return the exact two-sided interval of a rate (Clopper and Pearson, Biometrika 26, 1934); (0, 1) for n = 0.

    Raises ValueError unless 0 ≤ successes ≤ n.
    """
    if not 0 <= successes <= n:
        raise ValueError("successes must lie between 0 and n")
    tail = (1 - confidence) / 2
    low = float(scipy.stats.beta.ppf(tail, successes, n - successes + 1)) if successes else 0.0
    high = float(scipy.stats.beta.ppf(1 - tail, successes + 1, n - successes)) if successes < n else 1.0
    return low, high


def excluded_rate(clean: int, confidence: float = 0.95) -> float:
    """
    Return the exact one-sided bound on the rate of an event absent from ``clean`` repeats: 1 − (1−confidence)^(1/n).

    Shown beside "no divergence seen" (15 → 18 %, 60 → 4.9 %, 120 → 2.5 %).
    """
    return 1.0 if clean == 0 else float(1 - (1 - confidence) ** (1 / clean))


def exact_mcnemar(only_first: int, only_second: int) -> float:
    """Return the two-sided exact p-value of discordant pairs (McNemar 1947; binomial form); 1 for equal counts."""
    if only_first == only_second:
        return 1.0
    return float(scipy.stats.binomtest(only_first, only_first + only_second, 0.5).pvalue)


def exact_fisher(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Return the two-sided exact p-value of two rates, each as (events, others) (Fisher, J. Roy. Stat. Soc. 85, 1922)."""
    return float(scipy.stats.fisher_exact(np.array([first, second]))[1])


def holm(p_values: Sequence[float], alpha: float) -> tuple[bool, ...]:
    """Return which hypotheses to reject, with family-wise error at most alpha (Holm 1979, step-down), in input order."""
    rejected = [False] * len(p_values)
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[place] > alpha / (len(p_values) - rank):
            break
        rejected[place] = True
    return tuple(rejected)


def benjamini_hochberg(p_values: Sequence[float], q: float) -> tuple[bool, ...]:
    """
    Return which hypotheses to flag, with a false discovery rate of at most q, in input order.

    Benjamini and Hochberg 1995, step-up; for independent or positively dependent p-values.
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    passing = [rank for rank, place in enumerate(order, start=1) if p_values[place] <= q * rank / len(p_values)]
    flagged = [False] * len(p_values)
    for place in order[: max(passing, default=0)]:
        flagged[place] = True
    return tuple(flagged)
