"""Every limit of the judge, exactly at it and just beside it."""

from math import log

import pytest

from rocketdiff.core.answers.evidence import (
    Concentration,
    Ending,
    EpisodePair,
    Evidence,
    Margin,
    PairedSample,
    Standing,
)
from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.ledger.matching import frequency_of
from rocketdiff.ledger.model import EntryState, ExpectedRate
from rocketdiff.statistics.significance import benjamini_hochberg, clopper_pearson, exact_mcnemar, holm, pairs_needed
from rocketdiff.verdict.decide_samples import decide_samples
from tests.verdict.test_by_hand import by_integration
from tests.verdict.test_counts import evidence, told


@pytest.mark.parametrize(
    ("p_values", "rejected"),
    [
        ([0.05], [True]),
        ([0.0501], [False]),
        ([0.025, 0.05], [True, True]),
        ([0.0251, 0.05], [False, False]),
        ([0.05, 0.025, 0.9], [False, False, False]),
    ],
)
def test_holm_rejects_at_its_limit(p_values: list[float], rejected: list[bool]) -> None:
    """5 % over as many as are left: a half of it for the smaller of two, a third for the smallest of three."""
    assert list(holm(p_values, 0.05)) == rejected


@pytest.mark.parametrize(
    ("p_values", "flagged"),
    [
        ([0.05], [True]),
        ([0.0501], [False]),
        ([0.5, 0.6], [False, False]),
        ([0.01, 0.9, 0.03], [True, False, True]),
        ([0.04, 0.05], [True, True]),
    ],
)
def test_the_screen_flags_at_its_limit(p_values: list[float], flagged: list[bool]) -> None:
    """The k-th smallest of n at 5 % times k/n, and all below it; nothing where none is."""
    assert list(benjamini_hochberg(p_values, 0.05)) == flagged


@pytest.mark.parametrize(("successes", "n"), [(-1, 5), (6, 5), (1, 0)])
def test_more_than_all_and_less_than_none_is_no_rate(successes: int, n: int) -> None:
    """It would be a count of ours that is wrong."""
    with pytest.raises(ValueError, match="between 0 and n"):
        clopper_pearson(successes, n)


def test_the_interval_of_one_observation() -> None:
    """Seen once in once: down to 2.5 %; never in once: up to 97.5 %."""
    assert clopper_pearson(1, 1) == (pytest.approx(0.025), 1.0)
    assert clopper_pearson(0, 1) == (0.0, pytest.approx(0.975))


def test_one_against_none_says_nothing() -> None:
    """Whichever side it is on; one more on one side than on the other neither."""
    assert [exact_mcnemar(1, 0), exact_mcnemar(0, 1), exact_mcnemar(4, 3)] == [1.0, 1.0, 1.0]


def test_ten_thousand_pairs_are_the_most_that_are_told() -> None:
    """From there on a question is said to be undecidable."""
    assert pairs_needed(9.0, 1.2) == 10_000


@pytest.mark.parametrize(("ratio", "sd", "n"), [(1.0, 0.2, 12), (1.15, 0.2, 17), (1.25, 0.2, 19)])
def test_the_power_is_exact_near_the_margin_too(ratio: float, sd: float, n: int) -> None:
    """Held to a ten-thousandth against integration: 81 % in the middle, and less than a third beside ×1.2 on either side."""
    power = by_integration(n, log(1.2), log(ratio), sd, 0.05)
    assert pairs_needed(sd, 1.2, ratio=ratio, power=power - 1e-4) == n
    assert pairs_needed(sd, 1.2, ratio=ratio, power=power + 1e-4) == n + 1


def choices(baseline: int, candidate: int) -> Concentration:
    """So many of one choice fell on a place that one in a thousand falls on: a chance of 0.001, which is the budget."""
    return Concentration("queue.begins-alike/queue", "broker-a/0", 0.001, 1, baseline, 1, candidate, 1)


@pytest.mark.parametrize(("baseline", "candidate", "is_told"), [(0, 1, True), (0, 0, False), (1, 1, False)])
def test_a_chance_of_one_in_a_thousand_is_told(baseline: int, candidate: int, is_told: bool) -> None:
    """Of the candidate; what is as rare in the baseline is forced on both."""
    assert bool(told(evidence(choices(baseline, candidate)))[0]) is is_told


@pytest.mark.parametrize(("places", "is_told"), [(10, True), (11, False)])
def test_the_chance_is_taken_times_the_places_that_it_could_have_been(places: int, is_told: bool) -> None:
    """One in ten thousand, at any of ten: one in a thousand."""
    drawn = Concentration("queue.begins-alike/queue", "broker-a/0", 0.0001, places, 0, 1, 1, 1)
    assert bool(told(evidence(drawn))[0]) is is_told


@pytest.mark.parametrize(
    ("low", "high", "seen", "decisive", "state"),
    [
        (0.0, 0.0, 0, 5, EntryState.DECLARED),
        (1.0, 1.0, 5, 5, EntryState.DECLARED),
        (0.9, 1.0, 0, 5, EntryState.STALE),
        (0.0, 0.1, 5, 5, EntryState.EXCEEDED),
        (0.0, 1.0, 0, 0, EntryState.UNTESTED),
    ],
)
def test_an_interval_that_touches_the_declared_rate_is_inside(
    low: float, high: float, seen: int, decisive: int, state: EntryState
) -> None:
    """None of five is 0 % to 52 %, all of five 48 % to 100 %."""
    assert frequency_of(ExpectedRate(low, high), seen=seen, decisive=decisive).state is state


def of_pairs(count: int, ratio: float = 1.0, *, met_by_one: int = 0, minimum: int = 6) -> PairedSample:
    pairs = [EpisodePair("r", "c", n, 5e8, 5e8 * ratio * (1 + 0.01 * (n % 3 - 1))) for n in range(count)]
    lone = [EpisodePair("r", "c", 100 + n, None, 5e8) for n in range(met_by_one)]
    return PairedSample("wait", Margin(1.2, "a fifth"), (*pairs, *lone), minimum, "no interval below")


@pytest.mark.parametrize(("count", "verdict"), [(5, Verdict.INCONCLUSIVE), (6, Verdict.EQUIVALENT)])
def test_a_sample_is_asked_from_its_smallest_number_of_pairs_on(count: int, verdict: Verdict) -> None:
    """Six at least; an episode that one arm never met is no pair."""
    item = Evidence(("r",), "c", "timing", Standing.DECISIVE, samples=(of_pairs(count, met_by_one=3),))
    ((said,),) = decide_samples([item])
    assert (said.verdict, said.ratio is None, said.reason == "") == (verdict, count < 6, count >= 6)


@pytest.mark.parametrize(("cut", "is_mostly_unseen"), [(0, False), (4, False), (5, True), (10, True)])
def test_half_of_an_arms_spells_cut_short_leave_the_others_without_weight(cut: int, is_mostly_unseen: bool) -> None:
    """Of ten that both arms met."""
    pairs = tuple(
        EpisodePair("r", "c", n, 5e8, 5e8, Ending.FAILOVER, Ending.OPEN if n < cut else Ending.FAILOVER)
        for n in range(10)
    )
    sample = PairedSample("wait", Margin(1.2, "a fifth"), pairs, 2, "no interval below")
    ((said,),) = decide_samples([Evidence(("r",), "c", "timing", Standing.DECISIVE, samples=(sample,))])
    assert said.is_mostly_unseen is is_mostly_unseen


def test_a_sample_that_nobody_met_was_not_cut_short() -> None:
    """It has too few pairs, which is said instead."""
    sample = of_pairs(0, met_by_one=2)
    ((said,),) = decide_samples([Evidence(("r",), "c", "timing", Standing.DECISIVE, samples=(sample,))])
    assert not said.is_mostly_unseen
    assert said.reason == "wait: 0 of at least 6 complete pairs of spells (no interval below)"
