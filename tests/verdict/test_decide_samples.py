"""Statistical samples share one error budget."""

from dataclasses import replace

import pytest

from rocketdiff.core.answers.evidence import Ending, Evidence, Margin, OutagePair, PairedSample, Standing
from rocketdiff.core.answers.verdict import CheckResult, Severity, Verdict
from rocketdiff.core.errors import ExitCode
from rocketdiff.statistics.significance import pairs_needed
from rocketdiff.verdict.answer import answer
from rocketdiff.verdict.decide_samples import SampleAnswer, decide_samples
from rocketdiff.verdict.judge import answers, judge
from tests.verdict.builders import COMPLETE, RUN, ratios, sample


def evidence(ratio: float, severity: Severity = Severity.MUST, spread: float = 0.02) -> Evidence:
    pairs = tuple(
        OutagePair("r", "c", number, 5e8, 5e8 * ratio * (1 + spread * (number % 3 - 1))) for number in range(12)
    )
    sample = PairedSample("wait", Margin(1.2, "reason"), pairs, 6, "reason")
    return Evidence(("r",), "c", "timing", Standing.DECISIVE, severity=severity, samples=(sample,))


def verdicts(items: list[Evidence]) -> list[Verdict]:
    return [answer.verdict for row in decide_samples(items) for answer in row]


# Twelve pairs around ×1.35 with a spread of a tenth: the p-value of the difference beyond ×1.2 is about 0.0015.
BORDERLINE = evidence(1.35, spread=0.12)


def test_a_borderline_difference_fails_alone_and_not_among_many() -> None:
    """Holm divides the budget: a borderline difference diverges alone, not among forty samples."""
    assert verdicts([BORDERLINE]) == [Verdict.DIVERGES]
    assert verdicts([BORDERLINE, *[evidence(1.0)] * 39])[0] is Verdict.INCONCLUSIVE


def test_questions_that_do_not_gate_cost_the_gating_ones_nothing() -> None:
    """INFO samples use none of the budget of a MUST sample."""
    assert verdicts([BORDERLINE, *[evidence(1.0, Severity.INFO)] * 39])[0] is Verdict.DIVERGES


def test_a_clear_difference_among_many_equal_ones_is_found() -> None:
    """A clear difference among nine equivalent samples diverges, and they stay equivalent."""
    assert verdicts([evidence(3.0), *[evidence(1.0)] * 9]) == [Verdict.DIVERGES, *[Verdict.EQUIVALENT] * 9]


def test_answers_come_in_the_order_of_the_evidence() -> None:
    """Answers keep the order of the evidence, and evidence without samples has none."""
    bare = Evidence(("r",), "c", "loss", Standing.DECISIVE)
    rows = decide_samples([evidence(1.0, Severity.INFO), bare, evidence(3.0), evidence(1.0, Severity.SHOULD)])
    assert [len(row) for row in rows] == [1, 0, 1, 1]
    assert [row[0].verdict for row in rows if row] == [Verdict.EQUIVALENT, Verdict.DIVERGES, Verdict.EQUIVALENT]


def cut_short(baseline: int, candidate: int, ended: Ending) -> Evidence:
    """24 equal pairs; the first ``baseline`` and last ``candidate`` episodes end with ``ended``."""
    one = evidence(1.0)
    (sample,) = one.samples
    pairs = tuple(
        replace(
            pair,
            baseline_ended=ended if number < baseline else Ending.FAILOVER,
            candidate_ended=ended if number >= 24 - candidate else Ending.FAILOVER,
        )
        for number, pair in enumerate((*sample.pairs, *sample.pairs))
    )
    return replace(one, samples=(replace(sample, pairs=pairs),))


@pytest.mark.parametrize(
    ("baseline", "candidate", "ended", "verdict"),
    [
        (0, 0, Ending.RESUMED, Verdict.EQUIVALENT),
        (11, 7, Ending.RESUMED, Verdict.EQUIVALENT),
        (12, 10, Ending.RESUMED, Verdict.INCONCLUSIVE),
        (10, 12, Ending.RESUMED, Verdict.INCONCLUSIVE),
        (10, 12, Ending.OPEN, Verdict.INCONCLUSIVE),
        (0, 12, Ending.RESUMED, Verdict.DIVERGES),
    ],
)
def test_half_of_an_arm_cut_short_is_not_equivalent(
    baseline: int, candidate: int, ended: Ending, verdict: Verdict
) -> None:
    """11 of 24 episodes may end without a failover; 12 are inconclusive, 12 to none diverges."""
    assert verdicts([cut_short(baseline, candidate, ended)]) == [verdict]


@pytest.mark.parametrize(
    ("ended", "verdict"), [(Ending.RESUMED, Verdict.EQUIVALENT), (Ending.OPEN, Verdict.INCONCLUSIVE)]
)
def test_spells_that_both_arms_sat_out_are_equivalent(ended: Ending, verdict: Verdict) -> None:
    """Episodes in which both arms resumed are equivalent, as all brokers may be paused; those cut off are not."""
    one = cut_short(18, 0, ended)
    (sample,) = one.samples
    alike = tuple(replace(pair, candidate_ended=pair.baseline_ended) for pair in sample.pairs)
    assert verdicts([replace(one, samples=(replace(sample, pairs=alike),))]) == [verdict]


def test_the_reason_has_the_spells_cut_short_of_each_arm() -> None:
    """The reason states how many episodes of each arm were cut short; the severity is SHOULD."""
    one = cut_short(11, 12, Ending.OPEN)
    (samples,) = decide_samples([one])
    result = answer(one, samples, baseline="java:4.7.1", candidate="java:5.3.3")
    assert (result.verdict, result.severity) == (Verdict.INCONCLUSIVE, Severity.SHOULD)
    assert "of 24 spells 11 of the baseline's and 12 of the candidate's were cut short" in result.reason


def of_pairs(count: int, *, met_by_one: int = 0) -> PairedSample:
    pairs = [OutagePair("r", "c", n, 5e8, 5e8 * (1 + 0.01 * (n % 3 - 1))) for n in range(count)]
    lone = [OutagePair("r", "c", 100 + n, None, 5e8) for n in range(met_by_one)]
    return PairedSample("wait", Margin(1.2, "a fifth"), (*pairs, *lone), 6, "no interval below")


def answer_of(item: PairedSample) -> SampleAnswer:
    ((found,),) = decide_samples([Evidence(("r",), "c", "timing", Standing.DECISIVE, samples=(item,))])
    return found


@pytest.mark.parametrize(
    ("count", "verdict"), [(0, Verdict.INCONCLUSIVE), (5, Verdict.INCONCLUSIVE), (6, Verdict.EQUIVALENT)]
)
def test_a_sample_needs_its_smallest_number_of_pairs(count: int, verdict: Verdict) -> None:
    """A sample needs six pairs; episodes met by one arm are none, and were not cut short."""
    found = answer_of(of_pairs(count, met_by_one=3))
    assert (found.verdict, found.ratio is None, found.is_mostly_unseen) == (verdict, count < 6, False)
    few = f"wait: {count} of at least 6 complete pairs of spells (no interval below)"
    assert found.reason == (few if count < 6 else "")


@pytest.mark.parametrize(
    ("ratio", "spread", "alpha", "word"), [(1.21, 0.02, 0.01 / 2, "different"), (1.0, 0.25, 0.05, "equivalent")]
)
def test_an_open_sample_states_how_many_spells_would_decide(
    ratio: float, spread: float, alpha: float, word: str
) -> None:
    """An inconclusive sample states how many episodes would decide; differences share the causes' budget."""
    found = answer_of(ratios(*(ratio * (1 + spread * (n % 3 - 1)) for n in range(6))))
    assert found.ratio is not None
    needed = pairs_needed(found.ratio.log_sd, 1.2, alpha, ratio=found.ratio.ratio)
    assert needed > 6
    assert found.reason.endswith(f"over 6 spells; about {needed} would show the clients {word} at this ratio")


def test_at_the_margin_no_number_of_spells_would_decide() -> None:
    """A ratio at the margin is inconclusive, and no number of episodes would decide."""
    found = answer_of(sample(1.2))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "so near the margin that no number of spells would decide" in found.reason


@pytest.mark.parametrize(("p_cause", "beyond"), [(0.05, True), (0.0501, False)])
def test_causes_that_differ_at_five_per_cent_point_beyond_the_margin(p_cause: float, beyond: bool) -> None:
    """Causes that differ at p ≤ 0.05 keep a sample open although durations are alike."""
    found = SampleAnswer(sample(1.0), None, p_cause, equivalent=False, differs=False, cause_differs=False, questions=1)
    assert found.points_beyond is beyond


POOL = "pooled/pause/fault-latency-on"


def pool(item: PairedSample, place: int = 1) -> Evidence:
    return Evidence(("r1",), f"{POOL}-{place}", "timing", Standing.DECISIVE, samples=(item,))


def answered(*items: PairedSample) -> CheckResult:
    return answers([pool(item, place) for place, item in enumerate(items)], RUN)[0]


EQUAL = ratios(1.0, 1.01, 0.99, 1.0, 1.0, 1.01)
CROWDED = ratios(1.21, 1.3, 1.25, 1.22, 1.3)
"""Mean ×1.255; the 90 % interval, ×1.215 to ×1.297, lies beyond ×1.2."""


def test_an_interval_beyond_the_margin_that_holm_does_not_believe_is_exit_2() -> None:
    """An interval beyond the margin that Holm rejects is exit 2: p is 0.021, four checks share 1 %."""
    judgement = judge([*COMPLETE, pool(CROWDED), *(pool(EQUAL, n) for n in (2, 3, 4))], RUN)
    open_one = judgement.results[3]
    assert (open_one.verdict, open_one.severity) == (Verdict.INCONCLUSIVE, Severity.MUST)
    assert judgement.exit_code is ExitCode.INCONCLUSIVE
    assert (judgement.counts.new, judgement.counts.inconclusive) == (0, 1)
    assert "would show the clients different" in open_one.reason


def test_a_candidate_that_is_quicker_beyond_the_margin_diverges() -> None:
    """A candidate that waits a third of the baseline's time diverges: it gives up early."""
    result = answered(ratios(*[0.33, 0.34] * 5))
    assert (result.verdict, result.severity) == (Verdict.DIVERGES, Severity.MUST)
    assert "×0.335 of the baseline's" in result.divergences[0].example.observed


def test_equivalence_is_corrected_for_many_questions() -> None:
    """Equivalence is corrected: p = 0.021 is below 5 % but above a quarter of it."""
    borderline = ratios(1.03, 1.13, 1.0, 1.17, 1.12)
    alike = [ratios(0.8, 1.5, 0.9, 1.2)] * 3
    assert answered(borderline).verdict is Verdict.EQUIVALENT
    assert answered(borderline, *alike).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("episodes", "verdict", "severity"),
    [
        (5, Verdict.INCONCLUSIVE, Severity.SHOULD),
        (7, Verdict.INCONCLUSIVE, Severity.MUST),
        (8, Verdict.INCONCLUSIVE, Severity.MUST),
        (9, Verdict.DIVERGES, Severity.MUST),
    ],
)
def test_causes_gate_at_five_per_cent_and_diverge_at_half_of_one(
    episodes: int, verdict: Verdict, severity: Severity
) -> None:
    """Causes that differ at p ≤ 0.05 gate (five episodes are 0.06, seven 0.016); at 0.005, nine episodes, they diverge."""
    result = answered(ratios(*[1.0] * episodes, ended=Ending.RESUMED))
    assert (result.verdict, result.severity) == (verdict, severity)


@pytest.mark.parametrize(
    ("each", "beyond"),
    [
        ((2.0,), False),
        ((2.0, 1.3), True),
        ((0.5, 0.6, 0.7), True),
        ((2.0, 1.1), False),
        ((2.0, 0.5), False),
        ((2.0, 1.0, 1.0, 1.9), True),
        ((0.5, 1.0, 1.0, 0.52), True),
    ],
)
def test_few_pairs_point_beyond_the_margin_only_together(each: tuple[float, ...], beyond: bool) -> None:
    """Two or three pairs point beyond the margin only together, from four on by their mean."""
    assert ratios(*each).points_beyond() is beyond
