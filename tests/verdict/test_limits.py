"""Every limit of the judge, at it and just beside it."""

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
    """Holm rejects at 5 % divided by the number of remaining p-values."""
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
    """The screen flags the k-th smallest of n at 5 % times k/n, and all below."""
    assert list(benjamini_hochberg(p_values, 0.05)) == flagged


@pytest.mark.parametrize(("successes", "n"), [(-1, 5), (6, 5), (1, 0)])
def test_more_than_all_and_less_than_none_is_no_rate(successes: int, n: int) -> None:
    """Successes outside 0 to n are refused, because they are a bug of ours."""
    with pytest.raises(ValueError, match="between 0 and n"):
        clopper_pearson(successes, n)


def test_the_interval_of_one_observation() -> None:
    """Once in one is at least 2.5 %, never in one at most 97.5 %."""
    assert clopper_pearson(1, 1) == (pytest.approx(0.025), 1.0)
    assert clopper_pearson(0, 1) == (0.0, pytest.approx(0.975))


def test_one_against_none_says_nothing() -> None:
    """Counts that differ by one have p = 1 in either direction."""
    assert [exact_mcnemar(1, 0), exact_mcnemar(0, 1), exact_mcnemar(4, 3)] == [1.0, 1.0, 1.0]


def test_ten_thousand_pairs_are_the_most_that_are_told() -> None:
    """At most 10,000 needed pairs are reported; beyond, a sample counts as undecidable."""
    assert pairs_needed(9.0, 1.2) == 10_000


@pytest.mark.parametrize(("ratio", "sd", "n"), [(1.0, 0.2, 12), (1.15, 0.2, 17), (1.25, 0.2, 19)])
def test_the_power_is_exact_near_the_margin_too(ratio: float, sd: float, n: int) -> None:
    """Power equals integration to 0.0001: 81 % at ratio 1, under a third beside ×1.2."""
    power = by_integration(n, log(1.2), log(ratio), sd, 0.05)
    assert pairs_needed(sd, 1.2, ratio=ratio, power=power - 1e-4) == n
    assert pairs_needed(sd, 1.2, ratio=ratio, power=power + 1e-4) == n + 1


def choices(baseline: int, candidate: int) -> Concentration:
    """One choice per arm on a place with chance 0.001, the whole budget."""
    return Concentration("queue.begins-alike/queue", "broker-a/0", 0.001, 1, baseline, 1, candidate, 1)


@pytest.mark.parametrize(("baseline", "candidate", "is_told"), [(0, 1, True), (0, 0, False), (1, 1, False)])
def test_a_chance_of_one_in_a_thousand_is_told(baseline: int, candidate: int, is_told: bool) -> None:
    """A chance of exactly 0.001 is reported, unless the baseline is as unlikely."""
    assert bool(told(evidence(choices(baseline, candidate)))[0]) is is_told


@pytest.mark.parametrize(("places", "is_told"), [(10, True), (11, False)])
def test_the_chance_is_taken_times_the_places_that_it_could_have_been(places: int, is_told: bool) -> None:
    """The chance is multiplied by the places: ten times 0.0001 is 0.001."""
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
    """A declared rate at the interval's edge is inside: 0 of 5 is 0 % to 52 %, 5 of 5 48 % to 100 %."""
    assert frequency_of(ExpectedRate(low, high), seen=seen, decisive=decisive).state is state


def of_pairs(count: int, ratio: float = 1.0, *, met_by_one: int = 0, minimum: int = 6) -> PairedSample:
    pairs = [EpisodePair("r", "c", n, 5e8, 5e8 * ratio * (1 + 0.01 * (n % 3 - 1))) for n in range(count)]
    lone = [EpisodePair("r", "c", 100 + n, None, 5e8) for n in range(met_by_one)]
    return PairedSample("wait", Margin(1.2, "a fifth"), (*pairs, *lone), minimum, "no interval below")


@pytest.mark.parametrize(("count", "verdict"), [(5, Verdict.INCONCLUSIVE), (6, Verdict.EQUIVALENT)])
def test_a_sample_is_asked_from_its_smallest_number_of_pairs_on(count: int, verdict: Verdict) -> None:
    """A sample needs six pairs; episodes met by one arm are none."""
    item = Evidence(("r",), "c", "timing", Standing.DECISIVE, samples=(of_pairs(count, met_by_one=3),))
    ((said,),) = decide_samples([item])
    assert (said.verdict, said.ratio is None, said.reason == "") == (verdict, count < 6, count >= 6)


@pytest.mark.parametrize(("cut", "is_mostly_unseen"), [(0, False), (4, False), (5, True), (10, True)])
def test_half_of_an_arms_spells_cut_short_leave_the_others_without_weight(cut: int, is_mostly_unseen: bool) -> None:
    """If half of an arm's ten episodes are cut short, the sample shows no equivalence."""
    pairs = tuple(
        EpisodePair("r", "c", n, 5e8, 5e8, Ending.FAILOVER, Ending.OPEN if n < cut else Ending.FAILOVER)
        for n in range(10)
    )
    sample = PairedSample("wait", Margin(1.2, "a fifth"), pairs, 2, "no interval below")
    ((said,),) = decide_samples([Evidence(("r",), "c", "timing", Standing.DECISIVE, samples=(sample,))])
    assert said.is_mostly_unseen is is_mostly_unseen


def test_a_sample_that_nobody_met_was_not_cut_short() -> None:
    """A sample without shared episodes was not cut short; it has too few pairs."""
    sample = of_pairs(0, met_by_one=2)
    ((said,),) = decide_samples([Evidence(("r",), "c", "timing", Standing.DECISIVE, samples=(sample,))])
    assert not said.is_mostly_unseen
    assert said.reason == "wait: 0 of at least 6 complete pairs of spells (no interval below)"
