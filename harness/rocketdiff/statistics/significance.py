"""
The few statistical tests a verdict rests on, as pure functions of numbers: same input, same answer, always.

Unit of every sample is the pause episode (or the run), never the message: messages of one episode share their cause.
Durations that may be censored are in ``rocketdiff.statistics.survival``.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp, inf, log, sqrt

import numpy as np
import scipy

ASSUMED_LOG_SD = 0.15
"""Spread of a log-ratio assumed when fewer than two pairs give none: the smaller of the two in the table of this room's README."""


class Decision(StrEnum):
    """Three answers from one interval; not seeing a difference is never a pass."""

    EQUIVALENT = "equivalent"
    DIFFERENT = "different"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class RatioDecision:
    """
    Answer about candidate ÷ baseline (geometric mean over pairs) with the interval it was read from.

    log_sd: spread of the log-ratios, assumed where fewer than two pairs give none.
    p_equivalence, p_difference: the p-values behind the two decisions, for Holm over several checks.
    """

    decision: Decision
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
    Equivalence, difference or neither from the 1−2·alpha interval of the mean log-ratio of (baseline, candidate).

    Inside [1/margin, margin]: EQUIVALENT, which is the two one-sided tests procedure (Schuirmann 1987; Hauschke et al.
    on ratios). Wholly outside: DIFFERENT by more than the margin, a one-sided test at alpha. Otherwise INCONCLUSIVE, as
    always with fewer than two pairs.

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
            Decision.INCONCLUSIVE, exp(float(ratios.sum())), 0.0, inf, confidence, n, ASSUMED_LOG_SD, 1.0, 1.0
        )
    mean, deviation = float(ratios.mean()), float(ratios.std(ddof=1))
    error = deviation / sqrt(n)
    reach = float(scipy.stats.t.ppf(1 - alpha, n - 1)) * error
    low, high = mean - reach, mean + reach
    equivalence = max(_tail(mean + margin, error, n - 1), _tail(margin - mean, error, n - 1))
    difference = _tail(abs(mean) - margin, error, n - 1)
    decision = Decision.INCONCLUSIVE
    if -margin < low and high < margin:
        decision = Decision.EQUIVALENT
    elif low > margin or high < -margin:
        decision = Decision.DIFFERENT
    return RatioDecision(decision, exp(mean), exp(low), exp(high), confidence, n, deviation, equivalence, difference)


def _tail(distance: float, error: float, freedom: int) -> float:
    """One-sided p-value of a t statistic; without any spread the sign of the distance is the whole answer."""
    if error == 0:
        return 0.0 if distance > 0 else 1.0
    return float(scipy.stats.t.sf(distance / error, freedom))


MOST_PAIRS = 10_000
"""More pairs than any run could have: the estimate lies so near the margin that no number of them would decide."""


def pairs_needed(
    log_sd: float, margin_ratio: float, alpha: float = 0.05, *, ratio: float = 1.0, power: float = 0.9
) -> int:
    """
    Fewest pairs that decide with ``power`` at level alpha, were ``ratio`` the true one; MOST_PAIRS where none would.

    A ratio inside the margin is to be shown equivalent (both one-sided tests reject; Phillips 1990), one outside to be
    different by more than the margin. Checked against published figures for equal arms (28 and 9 pairs for ±10 %
    and ±20 % at log-sd 0.15, 109 and 31 at 0.30): equal but for the first, where the power of 28 is 0.898 and this says 29.
    A sample without spread still needs two.
    """
    margin, mean = log(margin_ratio), abs(log(ratio))
    if log_sd == 0:
        return 2
    counts = range(2, MOST_PAIRS)
    return 2 + bisect_left(counts, True, key=lambda n: _power(n, margin, mean, log_sd, alpha) >= power)


def _power(n: int, margin: float, mean: float, log_sd: float, alpha: float) -> float:
    """Chance that n pairs decide, of the two kinds of decision the one that is true."""
    critical = float(scipy.stats.t.ppf(1 - alpha, n - 1))
    near, far = ((margin + side * mean) * sqrt(n) / log_sd for side in (-1, 1))
    if near < 0:
        return float(scipy.stats.nct.sf(critical, n - 1, -near))
    return float(scipy.stats.nct.cdf(-critical, n - 1, -near)) - float(scipy.stats.nct.sf(-critical, n - 1, -far))


def clopper_pearson(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """
    Exact two-sided interval of a rate (Clopper and Pearson, Biometrika 26, 1934); (0, 1) without any observation.

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
    Rate of a rare event that ``clean`` repeats without it exclude: 1 − (1−confidence)^(1/n), the exact one-sided bound.

    To be printed beside "no divergence seen" (15 → 18 %, 60 → 4.9 %, 120 → 2.5 %).
    """
    return 1.0 if clean == 0 else float(1 - (1 - confidence) ** (1 / clean))


def exact_mcnemar(only_first: int, only_second: int) -> float:
    """
    Two-sided exact p-value for paired yes/no outcomes, from the discordant pairs alone (McNemar 1947; binomial form).

    As many on one side as on the other, or none at all, is 1: nothing speaks for a difference.
    """
    if only_first == only_second:
        return 1.0
    return float(scipy.stats.binomtest(only_first, only_first + only_second, 0.5).pvalue)


def holm(p_values: Sequence[float], alpha: float) -> tuple[bool, ...]:
    """
    Which hypotheses to reject so that the chance of any false rejection is at most alpha (Holm 1979, step-down).

    Answers in the order of the input.
    """
    rejected = [False] * len(p_values)
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[place] > alpha / (len(p_values) - rank):
            break
        rejected[place] = True
    return tuple(rejected)


def benjamini_hochberg(p_values: Sequence[float], q: float) -> tuple[bool, ...]:
    """
    Which hypotheses to flag so that the expected share of false flags is at most q.

    Benjamini and Hochberg 1995, step-up; for independent or positively dependent p-values. Answers in input order.
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    passing = [rank for rank, place in enumerate(order, start=1) if p_values[place] <= q * rank / len(p_values)]
    flagged = [False] * len(p_values)
    for place in order[: max(passing, default=0)]:
        flagged[place] = True
    return tuple(flagged)
