"""Counts of both arms differ from eleven to none on, in both directions."""

import pytest

from rocketdiff.core.answers.evidence import ComparedShares, Concentration, PairedCounts, Standing
from rocketdiff.core.answers.verdict import Severity
from rocketdiff.verdict.counts import p_of
from tests.verdict.builders import NEW, OLD, counted, differing, drawn, paired, shares, signatures

OFTEN, PILED = "outcomes.more-often/failed/calm", "queue.begins-alike/queue"


@pytest.mark.parametrize(
    ("count", "p"),
    [
        (PairedCounts("x", "y", 1, 16), 36 / 2**17),
        (ComparedShares("x", "y", "z", (0, 0), (0, 0)), 1.0),
        (shares((3, 3), (0, 3)), 2 / 20),
        (shares((4, 2), (1, 1)), 1.0),
    ],
)
def test_pairs_and_shares_have_exact_p_values(count: PairedCounts | ComparedShares, p: float) -> None:
    """Pairs are tested by McNemar, shares by Fisher: of three of three against none of three two of twenty tables are as extreme."""
    assert p_of(count) == pytest.approx(p)


@pytest.mark.parametrize(
    ("baseline", "candidate", "found"),
    [
        (0, 11, {OFTEN}),  # 2 / 2^11 = 0.00098
        (11, 0, {"outcomes.less-often/failed/calm"}),
        (0, 10, set()),  # 0.00195
        (1, 12, set()),  # 28 / 2^13 = 0.0034
        (1, 16, {OFTEN}),  # 36 / 2^17 = 0.00027
        (40, 45, set()),
        (0, 1, set()),
    ],
)
def test_counts_differ_from_one_in_a_thousand_on(baseline: int, candidate: int, found: set[str]) -> None:
    """Counts differ if the exact two-sided p-value is at most 0.001."""
    assert signatures(counted(paired(baseline, candidate))) == [found]


@pytest.mark.parametrize(
    ("baseline", "candidate", "word", "p"), [(0, 20, "more", "1.9e-06"), (16, 1, "less", "0.00027")]
)
def test_a_difference_of_pairs_in_full(baseline: int, candidate: int, word: str, p: str) -> None:
    """A paired difference is MUST and states both counts; its count adds both directions."""
    (item,) = differing(counted(paired(baseline, candidate)))
    (found,) = item.divergences
    assert (item.severity, found.subject, found.count) == (Severity.MUST, NEW, baseline + candidate)
    assert found.signature == f"outcomes.{word}-often/failed/calm"
    assert found.example.expected == "failed/calm: equally often for both clients in the shared situations"
    assert found.example.observed == f"{NEW} more often in {candidate} half seconds, {OLD} in {baseline} (p = {p})"


@pytest.mark.parametrize(
    ("met", "ended", "word"),
    [((112, 110), (0, 110), "more"), ((112, 110), (5, 110), "more"), ((110, 112), (110, 5), "less")],
)
def test_a_difference_of_shares_in_full(met: tuple[int, int], ended: tuple[int, int], word: str) -> None:
    """Shares are reported with all four figures, the candidate's first; the count is the larger one."""
    (item,) = differing(counted(shares(met, ended)))
    (found,) = item.divergences
    assert found.signature == f"outcomes.{word}-often/failed/after-a-failed-attempt/kill"
    assert (found.subject, found.count, found.example.where.number, found.example.phase) == (NEW, 110, -1, "counts")
    assert found.example.expected == "where it failed first, both clients' sends failed as often"
    p = p_of(shares(met, ended))
    observed = f"{ended[1]} of {met[1]} of {NEW}, {ended[0]} of {met[0]} of {OLD} failed (p = {p:.2g})"
    assert found.example.observed == observed
    assert found.example.figures == {"p": p}


@pytest.mark.parametrize(("met", "ended", "count"), [((6, 6), (0, 6), []), ((100, 6), (0, 6), [6])])
def test_shares_need_enough_situations(met: tuple[int, int], ended: tuple[int, int], count: list[int]) -> None:
    """None of six does not differ from six of six (p = 1/462); none of 100 does (6e-10), though six of 100 to none would not."""
    (item,) = differing(counted(shares(met, ended)))
    assert [one.count for one in item.divergences] == count


def test_all_comparisons_of_a_run_share_one_budget() -> None:
    """
    Eleven to none does not differ beside a comparison that could be significant; one that could not uses no budget.

    Ten in all cannot. Nor can ten of 23 sends: all ten of one arm's twenty have p = 0.23, seven of them and all three of the
    other arm's 0.07.
    """
    alone = counted(paired(0, 11))
    assert signatures(alone, counted(paired(5, 6))) == [set(), set()]
    for other in (paired(5, 5), shares((20, 3), (7, 3))):
        assert signatures(alone, counted(other)) == [{OFTEN}, set()]


def test_counts_of_an_invalid_case_are_not_compared() -> None:
    """Counts of an INVALID case are not compared."""
    assert signatures(counted(paired(0, 400), standing=Standing.INVALID)) == [set()]


@pytest.mark.parametrize(
    ("most", "baseline_most", "found"), [(9, 4, set()), (10, 4, {PILED}), (20, 4, {PILED}), (20, 20, set())]
)
def test_random_choices_that_pile_up_differ(most: int, baseline_most: int, found: set[str]) -> None:
    """
    Ten of twenty starts on one queue differ (0.0004, eight times the binomial tail), nine do not (0.0027).

    Starts that also pile up in the baseline do not: something forces both.
    """
    assert signatures(counted(drawn(most, baseline_most=baseline_most))) == [found]


@pytest.mark.parametrize(
    ("chance", "places", "baseline", "candidate", "differs"),
    [
        (0.001, 1, 0, 1, True),
        (0.001, 1, 0, 0, False),
        (0.001, 1, 1, 1, False),
        (0.0001, 10, 0, 1, True),
        (0.0001, 11, 0, 1, False),
    ],
)
def test_a_chance_of_one_in_a_thousand_differs(
    chance: float, places: int, baseline: int, candidate: int, differs: bool
) -> None:
    """A chance of 0.001, multiplied by the places, differs, unless the baseline's choices are as unlikely."""
    choices = Concentration(PILED, "broker-a/0", chance, places, baseline, 1, candidate, 1)
    assert bool(signatures(counted(choices))[0]) is differs


def test_choices_that_pile_up_in_full() -> None:
    """Starts on one queue are reported in full: 20 of 20 is 8 × (1/8)^20 = 8^-19."""
    (item,) = differing(counted(drawn(20)))
    (found,) = item.divergences
    assert (found.signature, found.subject, found.count) == (PILED, NEW, 20)
    assert found.example.expected == "choices drawn at random: of 20 about 2.5 there"
    assert found.example.observed == f"20 of 20 of {NEW} at broker-a/0 (p = 6.9e-18)"
    assert found.example.figures == {"p": pytest.approx(8.0**-19)}


def test_random_choices_take_nothing_of_the_others_budget() -> None:
    """Random choices use none of the counts' budget: eleven to none differs beside four."""
    assert signatures(counted(paired(0, 11), *[drawn(4)] * 4)) == [{OFTEN}]
