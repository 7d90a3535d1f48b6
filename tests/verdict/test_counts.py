"""Counts of one client more often than the other: told at eleven to none, in both directions, and not by luck."""

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
    """Signatures found in each evidence."""
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
    """The exact test's two-sided p-value against one in a thousand."""
    assert told(evidence(paired(baseline, candidate))) == [found]


def test_a_difference_gates_and_says_both_counts() -> None:
    """It is worth as much as an exact one."""
    (item,) = with_counts_told([evidence(paired(0, 20))], baseline=OLD, candidate=NEW)
    (found,) = item.divergences
    assert (item.severity, found.subject, found.count) == (Severity.MUST, NEW, 20)
    assert found.example.observed == "python:5.3.3 more often in 20 half seconds, java:5.3.3 in 0 (p = 1.9e-06)"


def test_all_comparisons_of_a_run_share_one_budget() -> None:
    """Eleven to none is told alone, and not beside another comparison that could have been told; luck of ten takes nothing."""
    assert told(evidence(paired(0, 11)), evidence(paired(5, 6))) == [set(), set()]
    assert told(evidence(paired(0, 11)), evidence(paired(5, 5))) == [{"outcomes.more-often/failed/calm"}, set()]


def test_a_situation_that_ends_badly_for_one_arm_alone_is_told() -> None:
    """None of 112 against all of 110; six of six against none of six could be luck of one in 462."""
    assert told(evidence(shares((112, 110), (0, 110)))) == [{"outcomes.more-often/failed/after-a-failed-attempt/kill"}]
    assert told(evidence(shares((6, 6), (0, 6)))) == [set()]


def test_an_invalid_case_is_asked_nothing() -> None:
    """What was counted where the calm was none shows nothing."""
    assert told(evidence(paired(0, 400), standing=Standing.INVALID)) == [set()]


def drawn(most: int, *, baseline_most: int = 4) -> Concentration:
    """So many of twenty starts on one queue of eight."""
    return Concentration("queue.begins-alike/queue", "broker-a/0", 1 / 8, 8, baseline_most, 20, most, 20)


PILED = {"queue.begins-alike/queue"}


@pytest.mark.parametrize(("most", "found"), [(4, set()), (9, set()), (10, PILED), (20, PILED)])
def test_random_choices_that_pile_up_are_told(most: int, found: set[str]) -> None:
    """Eight times the binomial tail: nine of twenty have 0.0027, ten 0.0004."""
    assert told(evidence(drawn(most))) == [found]


def test_what_piles_up_in_the_baseline_is_not_the_candidates() -> None:
    """Something forces both."""
    assert told(evidence(drawn(20, baseline_most=20))) == [set()]


def test_random_choices_take_nothing_of_the_others_budget() -> None:
    """Eleven to none is a difference beside four questions about starts, too."""
    assert told(evidence(paired(0, 11), *[drawn(4)] * 4)) == [{"outcomes.more-often/failed/calm"}]
