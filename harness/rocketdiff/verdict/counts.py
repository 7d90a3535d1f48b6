"""
Compares counts of both arms. All comparisons of a run are one family.

The tests are exact. A difference gates like a divergence of an exact check, whether the candidate is worse or better:
both are changes of behaviour. So the error budget is tiny, as for an exact check.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy

from rocketdiff.core.answers.evidence import ComparedShares, Concentration, Evidence, PairedCounts, Standing
from rocketdiff.core.answers.verdict import Divergence, Example, Severity
from rocketdiff.core.answers.where import NOWHERE
from rocketdiff.statistics.significance import exact_mcnemar, holm

ALPHA_COUNTS = 0.001
"""
Probability that chance in counts fails a whole run: once in three years with one gate run a day, well below the budget
of durations (``decide_samples.ALPHA_DIFFERENCE``). So eleven to none is the smallest difference. Concentrations of
random choices are a second family with the same budget: asked in every run of some cases, they would halve the others'
power.
"""

Counts = PairedCounts | ComparedShares | Concentration


def with_count_divergences(evidence: Sequence[Evidence], *, baseline: str, candidate: str) -> tuple[Evidence, ...]:
    """Return the evidence with a divergence added for every count that differs; INVALID evidence is not tested."""
    asked = [count for item in evidence for count in _asked(item)]
    families = [
        [count for count in asked if isinstance(count, Concentration) is is_drawn] for is_drawn in (False, True)
    ]
    differing = {id(count) for each in families for count, differs in zip(each, _differ(each), strict=True) if differs}
    return tuple(_with_divergence(item, differing, baseline, candidate) for item in evidence)


def _asked(item: Evidence) -> tuple[Counts, ...]:
    """
    Return the counts that could differ at all.

    A comparison that is not significant even at its most extreme uses none of the others' budget (Tarone 1990).
    """
    if item.standing is Standing.INVALID:
        return ()
    return tuple(count for count in item.counts if _least_p(count) <= ALPHA_COUNTS)


def _differ(counts: Sequence[Counts]) -> tuple[bool, ...]:
    return holm([p_of(count) for count in counts], ALPHA_COUNTS)


def p_of(count: Counts) -> float:
    """Return the two-sided exact p-value of equal arms; for random choices, of a random candidate."""
    if isinstance(count, PairedCounts):
        return exact_mcnemar(count.baseline_more, count.candidate_more)
    if isinstance(count, ComparedShares):
        return _fisher(count.met, count.ended)
    if _piled_up(count, count.baseline_most, count.baseline_total) <= ALPHA_COUNTS:
        return 1.0  # Either the baseline's choices are not random, or something forces both.
    return _piled_up(count, count.candidate_most, count.candidate_total)


def _piled_up(count: Concentration, most: int, total: int) -> float:
    """Probability that at least ``most`` of ``total`` choices fall on any one place: Bonferroni bound over the places."""
    return min(1.0, count.places * float(scipy.stats.binom.sf(most - 1, total, count.chance)))


def _least_p(count: Counts) -> float:
    if isinstance(count, PairedCounts):
        return exact_mcnemar(0, count.baseline_more + count.candidate_more)
    if isinstance(count, Concentration):
        return _piled_up(count, count.candidate_total, count.candidate_total)
    total, (first, second) = sum(count.ended), count.met
    extremes = ((min(total, first), total - min(total, first)), (total - min(total, second), min(total, second)))
    return min(_fisher(count.met, ended) for ended in extremes)


def _fisher(met: tuple[int, int], ended: tuple[int, int]) -> float:
    table = np.array([[ended[0], met[0] - ended[0]], [ended[1], met[1] - ended[1]]])
    return float(scipy.stats.fisher_exact(table).pvalue)


def _with_divergence(item: Evidence, differing: set[int], baseline: str, candidate: str) -> Evidence:
    found = tuple(
        _divergence(item.check, count, baseline, candidate) for count in item.counts if id(count) in differing
    )
    if not found:
        return item
    return replace(item, divergences=(*item.divergences, *found), severity=Severity.MUST)


def _divergence(check: str, count: Counts, baseline: str, candidate: str) -> Divergence:
    p_value = p_of(count)
    if isinstance(count, Concentration):
        return _concentrated(count, p_value, candidate)
    if isinstance(count, PairedCounts):
        is_more, total = count.candidate_more > count.baseline_more, count.baseline_more + count.candidate_more
        expected = f"{count.name}: equally often for both clients in the shared situations"
        observed = (
            f"{candidate} more often in {count.candidate_more} {count.unit}, {baseline} in {count.baseline_more}"
            f" (p = {p_value:.2g})"
        )
    else:
        shares = [ended / met if met else 0.0 for ended, met in zip(count.ended, count.met, strict=True)]
        is_more, total = shares[1] > shares[0], max(count.ended)
        expected = f"{count.situation}, both clients' sends {count.end} as often"
        observed = (
            f"{count.ended[1]} of {count.met[1]} of {candidate}, {count.ended[0]} of {count.met[0]} of {baseline}"
            f" {count.end} (p = {p_value:.2g})"
        )
    name = f"{check}.{'more' if is_more else 'less'}-often/{count.name}"
    example = Example(NOWHERE, "counts", expected, observed, {"p": p_value})
    return Divergence(name, candidate, total, example)


def _concentrated(count: Concentration, p_value: float, candidate: str) -> Divergence:
    expected = (
        f"choices drawn at random: of {count.candidate_total} about {count.chance * count.candidate_total:.3g} there"
    )
    observed = f"{count.candidate_most} of {count.candidate_total} of {candidate} at {count.where} (p = {p_value:.2g})"
    example = Example(NOWHERE, "counts", expected, observed, {"p": p_value})
    return Divergence(count.signature, candidate, count.candidate_most, example)
