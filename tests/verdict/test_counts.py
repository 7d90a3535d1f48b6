"""Counts of both arms differ from eleven to none on, in both directions."""

import pytest

from rocketdiff.core.answers.evidence import ComparedShares, Concentration, Evidence, PairedCounts, Standing
from rocketdiff.core.answers.verdict import Severity
from rocketdiff.verdict.counts import with_counts_told

OLD, NEW = "java:5.3.3", "python:5.3.3"


def evidence(
    *counts: PairedCounts | ComparedShares | Concentration, standing: Standing = Standing.DECISIVE
) -> Evidence:
    return Evidence(("r1",), "a", "outcomes", standing, counts=counts)


def told(*items: Evidence) -> list[set[str]]:
    return [
        {one.signature for one in item.divergences} for item in with_counts_told(items, baseline=OLD, candidate=NEW)
    ]


def paired(baseline: int, candidate: int) -> PairedCounts:
    return PairedCounts("failed/calm", "half seconds", baseline, candidate)


def shares(met: tuple[int, int], ended: tuple[int, int]) -> ComparedShares:
    return ComparedShares("failed/after-a-failed-attempt/kill", "where it failed first", "failed", met, ended)


@pytest.mark.parametrize(
    ("baseline", "candidate", "found"),
    [
        (0, 11, {"outcomes.more-often/failed/calm"}),  # 2 / 2^11 = 0.00098
        (11, 0, {"outcomes.less-often/failed/calm"}),
        (0, 10, set()),  # 0.00195
        (1, 12, set()),  # 28 / 2^13 = 0.0034
        (1, 16, {"outcomes.more-often/failed/calm"}),  # 36 / 2^17 = 0.00027
        (40, 45, set()),
        (0, 1, set()),
    ],
)
def test_zero_to_many_is_told_and_luck_is_not(baseline: int, candidate: int, found: set[str]) -> None:
    """Counts differ if the exact two-sided p-value is at most 0.001."""
    assert told(evidence(paired(baseline, candidate))) == [found]


def test_a_difference_gates_and_says_both_counts() -> None:
    """A difference of counts is MUST and states both counts."""
    (item,) = with_counts_told([evidence(paired(0, 20))], baseline=OLD, candidate=NEW)
    (found,) = item.divergences
    assert (item.severity, found.subject, found.count) == (Severity.MUST, NEW, 20)
    assert found.example.observed == "python:5.3.3 more often in 20 half seconds, java:5.3.3 in 0 (p = 1.9e-06)"


def test_all_comparisons_of_a_run_share_one_budget() -> None:
    """Eleven to none does not differ beside a comparison that could; ten in all costs no budget."""
    assert told(evidence(paired(0, 11)), evidence(paired(5, 6))) == [set(), set()]
    assert told(evidence(paired(0, 11)), evidence(paired(5, 5))) == [{"outcomes.more-often/failed/calm"}, set()]


def test_a_situation_that_ends_badly_for_one_arm_alone_is_told() -> None:
    """None of 112 differs from 110 of 110; none of six does not differ from six of six (p = 1/462)."""
    assert told(evidence(shares((112, 110), (0, 110)))) == [{"outcomes.more-often/failed/after-a-failed-attempt/kill"}]
    assert told(evidence(shares((6, 6), (0, 6)))) == [set()]


def test_an_invalid_case_is_asked_nothing() -> None:
    """Counts of an INVALID case are not compared."""
    assert told(evidence(paired(0, 400), standing=Standing.INVALID)) == [set()]


def drawn(most: int, *, baseline_most: int = 4) -> Concentration:
    """``most`` of twenty starts on one queue of eight."""
    return Concentration("queue.begins-alike/queue", "broker-a/0", 1 / 8, 8, baseline_most, 20, most, 20)


PILED = {"queue.begins-alike/queue"}


@pytest.mark.parametrize(("most", "found"), [(4, set()), (9, set()), (10, PILED), (20, PILED)])
def test_random_choices_that_pile_up_are_told(most: int, found: set[str]) -> None:
    """Ten of twenty starts on one queue are reported (0.0004, eight times the binomial tail), nine not (0.0027)."""
    assert told(evidence(drawn(most))) == [found]


def test_what_piles_up_in_the_baseline_is_not_the_candidates() -> None:
    """Starts that also pile up in the baseline are no divergence: something forces both."""
    assert told(evidence(drawn(20, baseline_most=20))) == [set()]


def test_random_choices_take_nothing_of_the_others_budget() -> None:
    """Random choices use none of the counts' budget: eleven to none differs beside four."""
    assert told(evidence(paired(0, 11), *[drawn(4)] * 4)) == [{"outcomes.more-often/failed/calm"}]
