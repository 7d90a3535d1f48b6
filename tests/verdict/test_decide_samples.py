"""Statistical samples share one error budget."""

from dataclasses import replace

import pytest

from rocketdiff.core.answers.evidence import Ending, EpisodePair, Evidence, Margin, PairedSample, Standing
from rocketdiff.core.answers.verdict import Severity, Verdict
from rocketdiff.verdict.answer import answer
from rocketdiff.verdict.decide_samples import decide_samples


def evidence(ratio: float, severity: Severity = Severity.MUST, spread: float = 0.02) -> Evidence:
    pairs = tuple(
        EpisodePair("r", "c", number, 5e8, 5e8 * ratio * (1 + spread * (number % 3 - 1))) for number in range(12)
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


def test_a_should_sample_is_screened() -> None:
    """A clear difference of a SHOULD sample diverges."""
    assert verdicts([evidence(3.0, Severity.SHOULD)]) == [Verdict.DIVERGES]


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
def test_where_neither_failed_over_there_may_have_been_nowhere_to_go(ended: Ending, verdict: Verdict) -> None:
    """Episodes in which both arms resumed are equivalent, as all brokers may be paused; those cut off are not."""
    one = cut_short(18, 0, ended)
    (sample,) = one.samples
    alike = tuple(replace(pair, candidate_ended=pair.baseline_ended) for pair in sample.pairs)
    assert verdicts([replace(one, samples=(replace(sample, pairs=alike),))]) == [verdict]


def test_an_arm_that_was_cut_short_is_told_so() -> None:
    """The reason states how many episodes of each arm were cut short; the severity is SHOULD."""
    one = cut_short(11, 12, Ending.OPEN)
    (samples,) = decide_samples([one])
    result = answer(one, samples, baseline="java:4.7.1", candidate="java:5.3.3")
    assert (result.verdict, result.severity) == (Verdict.INCONCLUSIVE, Severity.SHOULD)
    assert "of 24 spells 11 of the baseline's and 12 of the candidate's were cut short" in result.reason
