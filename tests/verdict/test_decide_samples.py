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


# Twelve pairs around ×1.35 with a spread of a tenth: the difference beyond ×1.2 has a p-value of about 0.0015.
BORDERLINE = evidence(1.35, spread=0.12)


def test_a_borderline_difference_fails_alone_and_not_among_many() -> None:
    """Holm divides the run's budget among its questions, so the same sample among forty is no divergence."""
    assert verdicts([BORDERLINE]) == [Verdict.DIVERGES]
    assert verdicts([BORDERLINE, *[evidence(1.0)] * 39])[0] is Verdict.INCONCLUSIVE


def test_questions_that_do_not_gate_cost_the_gating_ones_nothing() -> None:
    """Forty info samples leave the budget of the must sample alone."""
    assert verdicts([BORDERLINE, *[evidence(1.0, Severity.INFO)] * 39])[0] is Verdict.DIVERGES


def test_a_clear_difference_among_many_equal_ones_is_found() -> None:
    """And the equal ones stay equivalent."""
    assert verdicts([evidence(3.0), *[evidence(1.0)] * 9]) == [Verdict.DIVERGES, *[Verdict.EQUIVALENT] * 9]


def test_a_should_sample_is_screened() -> None:
    """A clear difference in a should check diverges, for a warning."""
    assert verdicts([evidence(3.0, Severity.SHOULD)]) == [Verdict.DIVERGES]


def test_answers_come_in_the_order_of_the_evidence() -> None:
    """Whatever family each belongs to; evidence without samples has none."""
    bare = Evidence(("r",), "c", "loss", Standing.DECISIVE)
    rows = decide_samples([evidence(1.0, Severity.INFO), bare, evidence(3.0), evidence(1.0, Severity.SHOULD)])
    assert [len(row) for row in rows] == [1, 0, 1, 1]
    assert [row[0].verdict for row in rows if row] == [Verdict.EQUIVALENT, Verdict.DIVERGES, Verdict.EQUIVALENT]


def cut_short(baseline: int, candidate: int, ended: Ending) -> Evidence:
    """Twenty-four equal pairs; the first so many of the baseline ended otherwise, and the last of the candidate."""
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
    """Of twenty-four spells eleven may go without a failover; with twelve the rest speaks for nobody, and twelve to none differs."""
    assert verdicts([cut_short(baseline, candidate, ended)]) == [verdict]


@pytest.mark.parametrize(
    ("ended", "verdict"), [(Ending.RESUMED, Verdict.EQUIVALENT), (Ending.OPEN, Verdict.INCONCLUSIVE)]
)
def test_where_neither_failed_over_there_may_have_been_nowhere_to_go(ended: Ending, verdict: Verdict) -> None:
    """Eighteen of the twenty-four in both arms: every broker was paused; but a case that ended first shows nothing."""
    one = cut_short(18, 0, ended)
    (sample,) = one.samples
    alike = tuple(replace(pair, candidate_ended=pair.baseline_ended) for pair in sample.pairs)
    assert verdicts([replace(one, samples=(replace(sample, pairs=alike),))]) == [verdict]


def test_an_arm_that_was_cut_short_is_told_so() -> None:
    """The row names both arms' spells, and is worth a warning."""
    one = cut_short(11, 12, Ending.OPEN)
    (samples,) = decide_samples([one])
    result = answer(one, samples, baseline="java:4.7.1", candidate="java:5.3.3")
    assert (result.verdict, result.severity) == (Verdict.INCONCLUSIVE, Severity.SHOULD)
    assert "of 24 spells 11 of the baseline's and 12 of the candidate's were cut short" in result.reason
