"""The answer of a check from one evidence."""

from math import inf

import pytest

from rocketdiff.core.answers.evidence import Ending, EpisodePair, Evidence, Margin, PairedSample, Standing
from rocketdiff.core.answers.verdict import NO_SEND, CheckResult, Divergence, Example, Measure, Severity, Verdict
from rocketdiff.verdict.answer import answer
from rocketdiff.verdict.decide_samples import decide_samples

OLD, NEW = "java:4.7.1", "java:5.3.3"


def divergence(signature: str = "retry/stays", subject: str = NEW) -> Divergence:
    return Divergence(signature, subject, 3, Example(7, 0, 1, "paused", "broker-a", "broker-b"))


def evidence(
    standing: Standing,
    *found: Divergence,
    samples: tuple[PairedSample, ...] = (),
    measures: tuple[Measure, ...] = (),
    severity: Severity = Severity.MUST,
) -> Evidence:
    return Evidence(
        runs=("r",),
        case="c",
        check="failover-time",
        standing=standing,
        reason="as measured",
        severity=severity,
        divergences=found,
        samples=samples,
        measures=measures,
    )


def sample(ratio: float, n: int = 12, ended: Ending = Ending.FAILOVER, minimum: int = 6) -> PairedSample:
    """Candidate over baseline is ``ratio`` with a spread of about 2 %."""
    pairs = tuple(
        EpisodePair("r", "c", number, 5e8, 5e8 * ratio * (1 + 0.02 * (number % 3 - 1)), Ending.FAILOVER, ended)
        for number in range(n)
    )
    return PairedSample("failover", Margin(1.2, "a fifth of a timeout"), pairs, minimum, "no interval below")


def answered(item: Evidence) -> CheckResult:
    (samples,) = decide_samples([item])
    return answer(item, samples, baseline=OLD, candidate=NEW)


@pytest.mark.parametrize(
    ("standing", "verdict"),
    [
        (Standing.DECISIVE, Verdict.CONFORMS),
        (Standing.INDECISIVE, Verdict.INCONCLUSIVE),
        (Standing.NOT_APPLICABLE, Verdict.NOT_APPLICABLE),
        (Standing.INVALID, Verdict.INVALID),
    ],
)
def test_without_differences_the_standing_is_the_answer(standing: Standing, verdict: Verdict) -> None:
    """Without divergences the standing determines the verdict, and only DECISIVE conforms."""
    result = answered(evidence(standing))
    assert (result.verdict, result.reason) == (verdict, "as measured")


@pytest.mark.parametrize("standing", [Standing.DECISIVE, Standing.INDECISIVE, Standing.NOT_APPLICABLE])
def test_a_difference_is_certain_whatever_the_standing(standing: Standing) -> None:
    """An exact divergence diverges, whatever the standing."""
    assert answered(evidence(standing, divergence())).verdict is Verdict.DIVERGES


def test_differences_under_a_broken_set_up_are_listed_and_do_not_count() -> None:
    """INVALID wins over DIVERGES, and the divergences are listed."""
    result = answered(evidence(Standing.INVALID, divergence()))
    assert (result.verdict, len(result.divergences)) == (Verdict.INVALID, 1)


def test_rules_that_do_not_explain_the_baseline_are_said_so() -> None:
    """A ``rules/`` divergence of the baseline makes the reason suspect the dialect."""
    result = answered(evidence(Standing.DECISIVE, divergence("rules/queue.impossible", OLD)))
    assert "do not explain the baseline java:4.7.1 itself" in result.reason
    assert "do not explain" not in answered(evidence(Standing.DECISIVE, divergence("rules/x", NEW))).reason


def test_equal_durations_are_equivalent_with_their_interval() -> None:
    """A ratio of 1 with a small spread is EQUIVALENT, with its interval."""
    result = answered(evidence(Standing.DECISIVE, samples=(sample(1.0),)))
    assert result.verdict is Verdict.EQUIVALENT
    (measure,) = result.measures
    assert (measure.unit, measure.n, measure.confidence) == ("ratio", 12, 0.9)
    assert measure.value == pytest.approx(1.0, abs=0.01)


def test_durations_three_times_as_long_diverge_by_statistics() -> None:
    """A ratio of 3 diverges; the example is the farthest episode, not a send."""
    result = answered(evidence(Standing.DECISIVE, samples=(sample(3.0),)))
    (found,) = result.divergences
    assert result.verdict is Verdict.DIVERGES
    assert (found.signature, found.subject, found.count) == ("failover-time.failover-differs", NEW, 12)
    assert found.example.send == NO_SEND
    farthest = found.example.figures["farthest_episode"]
    assert isinstance(farthest, dict)
    assert farthest["episode"] == 2


def test_too_few_pairs_are_inconclusive_and_say_how_many_are_needed() -> None:
    """Five pairs of at least six are inconclusive, and the reason has both numbers."""
    result = answered(evidence(Standing.DECISIVE, samples=(sample(3.0, n=5),)))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "5 of at least 6 complete pairs of spells (no interval below)" in result.reason


def test_a_ratio_at_the_margin_is_inconclusive_and_says_that_no_number_would_decide() -> None:
    """A ratio at the margin is inconclusive, and no number of episodes would decide."""
    result = answered(evidence(Standing.DECISIVE, samples=(sample(1.2),)))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "so near the margin that no number of spells would decide" in result.reason


def test_a_client_that_waits_where_the_other_fails_over_diverges_by_cause() -> None:
    """Twelve episodes in which one arm failed over diverge: p = 2 · 2^-12 is below 0.01 / 2."""
    result = answered(evidence(Standing.DECISIVE, samples=(sample(1.0, ended=Ending.RESUMED),)))
    (found,) = result.divergences
    assert (found.signature, found.count) == ("failover-time.failover-cause-differs", 12)
    assert "only java:4.7.1 failed over in 12 spells, only java:5.3.3 in 0" in found.example.observed


def test_seven_discordant_episodes_are_not_enough_for_a_gate() -> None:
    """Seven such episodes do not: p = 2 · 2^-7 = 0.016 is above the budget of 0.01."""
    result = answered(evidence(Standing.DECISIVE, samples=(sample(1.0, n=7, ended=Ending.RESUMED),)))
    assert result.verdict is Verdict.INCONCLUSIVE


def test_an_info_sample_never_diverges() -> None:
    """An INFO sample, one case's share of the pool, never diverges."""
    result = answered(evidence(Standing.DECISIVE, samples=(sample(3.0),), severity=Severity.INFO))
    assert (result.verdict, result.divergences) == (Verdict.INCONCLUSIVE, ())


def test_samples_of_indecisive_evidence_are_not_asked() -> None:
    """Samples of indecisive evidence are not evaluated."""
    assert answered(evidence(Standing.INDECISIVE, samples=(sample(3.0),))).verdict is Verdict.INCONCLUSIVE


def test_measures_without_a_bound_are_left_out() -> None:
    """Measures with an infinite bound are omitted, because JSON has no infinity."""
    bounded, unbounded = Measure("a", 1.0, "ms", 3), Measure("b", 1.0, "ms", 1, 0.0, inf, 0.9)
    assert answered(evidence(Standing.DECISIVE, measures=(bounded, unbounded))).measures == (bounded,)


def test_the_legal_share_is_a_measure_of_its_own() -> None:
    """The legal share is a measure with its number of decisions."""
    item = Evidence(("r",), "c", "queue-choice", Standing.DECISIVE, decisions=40, legal_share=0.25)
    assert answered(item).measures == (Measure("legal-share", 0.25, "share", 40),)


def test_a_statistical_question_without_power_is_worth_should() -> None:
    """A statistical check without enough pairs is SHOULD; a difference is MUST."""
    few = answered(evidence(Standing.DECISIVE, samples=(sample(1.0, n=3),)))
    assert (few.verdict, few.severity) == (Verdict.INCONCLUSIVE, Severity.SHOULD)
    slow = answered(evidence(Standing.DECISIVE, samples=(sample(2.0),)))
    assert (slow.verdict, slow.severity) == (Verdict.DIVERGES, Severity.MUST)
