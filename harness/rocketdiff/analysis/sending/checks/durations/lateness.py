"""
Whether a client keeps waiting for silent brokers longer than it may, or longer each time: tests over one case, in ms.

Both clients run at the same time, so the machine delays their timeouts alike. Such delays are taken as exponential, with one
mean for both. The tests use ranks and capped ratios, because a few are far longer.
"""

from collections.abc import Sequence
from math import comb, exp, lgamma, log

import numpy as np
import scipy

LEAST_MS = 50.0
"""A timeout is noticed late only from here on: at a load of 10, a thread waits some tens of ms for one of two cores."""

SPREAD = 3
"""
And only beyond this many times the other client's largest delay, and the slowest in a hundred of the quicker client's sends in
calm (machine_ms): a crowded machine may starve one client alone while few timeouts are due.
"""

FURTHEST = 6
"""
Longest delay that is compared, as a multiple of the other's largest (at least a third of LEAST_MS). Stalls have a longer
tail than the test assumes: how much longer one is shows nothing more.
"""

REGULARLY = 3
"""Fewest late timeouts, and they must be most of the client's: one or two are stalls."""

ERROR_BUDGET = 1e-5
"""Probability of a false alarm of a case for each test. A run has some fifty cases, few of them with enough timeouts."""

FEWEST_OF_A_TREND = 9
"""Of eight timeouts in rising order the probability is above ERROR_BUDGET."""

GROWTH_LEAST_MS = 20.0
"""
Least growth from the first third to the last. Of some fifty stored cases of two clients on a loaded machine, most delays were below
5 ms and one in a hundred above 20 ms.
"""

OTHERS_TREND = 0.01
"""The other client's waits grow too if they are in order with a smaller probability than this: then the load rose."""


def limit_ms(baseline: Sequence[float], machine_ms: float = 0.0) -> float:
    """Beyond which delay a timeout is late, from the baseline's delays in this case."""
    return max(LEAST_MS, SPREAD * max((*baseline, machine_ms)))


def chance_of_delays(baseline: Sequence[float], candidate: Sequence[float], machine_ms: float = 0.0) -> float:
    """
    Probability that most of the candidate's delays exceed the baseline's largest so far, if the machine causes both.

    With n delays of the one client and m of the other, all exponential, at least k of the m exceed t times the largest of
    the n with a probability of at most C(m, k) / C(n + t k, n). 1 if too few are late, or if the baseline shows none.
    """
    fewest = max(REGULARLY, len(candidate) // 2 + 1)
    if not baseline or len(candidate) < fewest:
        return 1.0
    limit = limit_ms(baseline, machine_ms)
    typical = sorted(candidate, reverse=True)[fewest - 1]
    if typical <= limit:
        return 1.0
    ratio = min(typical / (limit / SPREAD), FURTHEST)
    n, beyond = len(baseline), ratio * fewest
    log_of_ways = lgamma(n + beyond + 1) - lgamma(beyond + 1) - lgamma(n + 1)
    return min(1.0, exp(log(comb(len(candidate), fewest)) - log_of_ways))


def grows(baseline: Sequence[float], candidate: Sequence[float], machine_ms: float = 0.0) -> bool:
    """
    True if the candidate's delays, in order of time, grow by more than the machine explains, and the baseline's do not.

    Exact test of Kendall's rank correlation. The growth must exceed SPREAD times the range of the baseline's delays, and
    machine_ms.
    """
    if len(candidate) < FEWEST_OF_A_TREND or not baseline:
        return False
    if growth_ms(candidate) <= max(GROWTH_LEAST_MS, SPREAD * (max(baseline) - min(baseline)), machine_ms):
        return False
    return _chance_of_order(candidate) <= ERROR_BUDGET and _chance_of_order(baseline) > OTHERS_TREND


def growth_ms(delays: Sequence[float]) -> float:
    """By how much the median of the last third of a sequence, of three or more, exceeds that of the first."""
    third = len(delays) // 3
    return float(np.median(delays[-third:]) - np.median(delays[:third]))


def _chance_of_order(delays: Sequence[float]) -> float:
    """One-sided probability that a random order rises as much."""
    if len(delays) < REGULARLY or min(delays) == max(delays):
        return 1.0
    found = scipy.stats.kendalltau(range(len(delays)), delays, alternative="greater")
    return float(found.pvalue)
