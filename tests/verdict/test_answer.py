"""The answer of a check from one evidence."""

from math import inf, nan

import pytest

from rocketdiff.core.answers.evidence import Ending, Evidence, OutagePair, PairedSample, Standing
from rocketdiff.core.answers.verdict import Measure, Severity, Verdict
from rocketdiff.core.answers.where import NOWHERE
from tests.verdict.builders import (
    NEW,
    OLD,
    answered,
    counted,
    differing,
    divergence,
    drawn,
    evidence,
    paired,
    ratios,
    sample,
    sample_of,
)

MUST, SHOULD, INFO = Severity.MUST, Severity.SHOULD, Severity.INFO
SCATTERED = ratios(0.8, 1.5, 0.9, 1.2, 0.7, 1.3)
"""Mean ×1.03, which decides nothing at a margin of ×1.2."""

FAR = ratios(0.9, 2.0, 1.0, 1.7, 1.8, 0.95)
"""Mean ×1.32, which does not decide either, but lies beyond the margin."""


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
    """Without divergences the standing determines the verdict, only DECISIVE conforms, and the severity is the check's."""
    result = answered(evidence(standing))
    assert (result.verdict, result.severity, result.reason) == (verdict, MUST, "as measured")


@pytest.mark.parametrize("severity", [SHOULD, INFO])
def test_a_divergence_under_a_broken_set_up_keeps_the_severity_of_its_check(severity: Severity) -> None:
    """A divergence under a broken set-up is INVALID with its check's severity."""
    result = answered(evidence(Standing.INVALID, divergence(), severity=severity))
    assert (result.verdict, result.severity) == (Verdict.INVALID, severity)


@pytest.mark.parametrize(
    ("samples", "severity", "verdict", "gates_as"),
    [
        ((sample(1.0),), MUST, Verdict.EQUIVALENT, MUST),
        ((sample(2.0),), MUST, Verdict.DIVERGES, MUST),
        ((sample(3.0),), SHOULD, Verdict.DIVERGES, SHOULD),
        ((sample(3.0),), INFO, Verdict.INCONCLUSIVE, INFO),
        ((sample(1.0, n=3),), MUST, Verdict.INCONCLUSIVE, SHOULD),
        ((sample(1.0), sample(3.0)), MUST, Verdict.DIVERGES, MUST),
        ((SCATTERED,), SHOULD, Verdict.INCONCLUSIVE, SHOULD),
        ((SCATTERED,), INFO, Verdict.INCONCLUSIVE, INFO),
        ((SCATTERED, SCATTERED), MUST, Verdict.INCONCLUSIVE, SHOULD),
        ((SCATTERED, FAR), MUST, Verdict.INCONCLUSIVE, MUST),
    ],
)
def test_verdict_and_severity_of_statistical_checks(
    samples: tuple[PairedSample, ...], severity: Severity, verdict: Verdict, gates_as: Severity
) -> None:
    """
    The worst sample determines the verdict, and a statistical difference keeps the check's severity.

    An INFO sample, one case's share of the pool, never diverges. An open MUST check becomes SHOULD unless an estimate lies
    beyond the margin.
    """
    result = answered(evidence(samples=samples, severity=severity))
    assert (result.verdict, result.severity) == (verdict, gates_as)
    assert len(result.divergences) == (verdict is Verdict.DIVERGES)


def test_samples_of_indecisive_evidence_are_not_evaluated() -> None:
    """Samples of indecisive evidence are not evaluated."""
    assert answered(evidence(Standing.INDECISIVE, samples=(sample(3.0),))).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("standing", "reason"),
    [(Standing.DECISIVE, "as measured"), (Standing.INDECISIVE, "as measured"), (Standing.NOT_APPLICABLE, "")],
)
def test_the_reason_of_a_check_stays_beside_a_divergence(standing: Standing, reason: str) -> None:
    """The check's reason is kept beside a divergence, except for not being applicable."""
    assert answered(evidence(standing, divergence())).reason == reason


@pytest.mark.parametrize(
    ("signature", "subject", "is_suspected"),
    [("rules/queue.x", OLD, True), ("rules/queue.x", NEW, False), ("queue.x", OLD, False), ("queue.x", NEW, False)],
)
def test_the_dialect_is_suspected_for_the_baseline_against_its_rules_only(
    signature: str, subject: str, is_suspected: bool
) -> None:
    """Only a ``rules/`` divergence of the baseline makes the reason suspect the dialect."""
    found = divergence(signature, subject), divergence("retry/stays", NEW)
    reason = answered(evidence(Standing.DECISIVE, *found)).reason
    assert (f"do not explain the baseline {OLD} itself" in reason) is is_suspected


def test_every_sample_is_a_measure_with_its_interval() -> None:
    """Each sample has a measure: ratio, pairs, and the 90 % interval."""
    measures = answered(evidence(samples=(sample(1.0), sample(3.0)))).measures
    assert [(one.unit, one.n, one.confidence) for one in measures] == [("ratio", 12, 0.9)] * 2
    assert [one.value for one in measures] == [pytest.approx(1.0, abs=0.01), pytest.approx(3.0, abs=0.03)]


@pytest.mark.parametrize(
    ("value", "low", "high", "is_kept"),
    [
        (1.0, 0.5, 2.0, True),
        (1.0, None, None, True),
        (0.0, 0.0, 0.0, True),
        (inf, 0.5, 2.0, False),
        (nan, 0.5, 2.0, False),
        (1.0, -inf, 2.0, False),
        (1.0, 0.5, inf, False),
    ],
)
def test_measures_have_finite_figures_only(value: float, low: float | None, high: float | None, is_kept: bool) -> None:
    """Measures with infinity or NaN are omitted, because JSON has neither."""
    measure = Measure("wait", value, "ms", 3, low, high, 0.9)
    assert answered(evidence(measures=(measure,))).measures == ((measure,) if is_kept else ())


def test_the_legal_share_is_a_measure_of_its_own() -> None:
    """The legal share is a measure with its number of decisions."""
    item = Evidence(("r",), "c", "queue-choice", Standing.DECISIVE, decisions=40, legal_share=0.25)
    assert answered(item).measures == (Measure("legal-share", 0.25, "share", 40),)


def test_a_difference_of_durations_has_ratio_interval_and_margin() -> None:
    """
    Twelve episodes around ×3 have ratio, interval and margin; the farthest that both arms met has 2 % more.
    """
    lone = OutagePair("r", "c", 98, 5e8, None), OutagePair("r", "c", 99, None, 5e8)
    (found,) = answered(evidence(samples=(sample_of(*lone, *sample(3.0).pairs),))).divergences
    assert (found.signature, found.subject, found.count) == ("failover-time.failover-differs", NEW, 12)
    assert (found.example.where, found.example.phase) == (NOWHERE, "episodes")
    assert found.example.expected == "failover within ×1.2 of the baseline's (a fifth of a timeout)"
    assert found.example.observed == "×3 of the baseline's over 12 spells (90% interval ×2.97 to ×3.03)"
    assert found.example.figures["farthest_episode"] == {
        "case": "c",
        "episode": 2,
        "baseline_ns": 5e8,
        "candidate_ns": pytest.approx(5e8 * 3.0 * 1.02),
        "baseline_ended": "failover",
        "candidate_ended": "failover",
    }


def test_a_difference_of_causes_counts_both_directions() -> None:
    """Causes are counted in both directions: 17 episodes to one are 18."""
    only_baseline = [OutagePair("r", "c", n, 5e8, 5e8, Ending.FAILOVER, Ending.RESUMED) for n in range(17)]
    only_candidate = OutagePair("r", "c", 17, 5e8, 5e8, Ending.RESUMED, Ending.FAILOVER)
    (found,) = answered(evidence(samples=(sample_of(*only_baseline, only_candidate),))).divergences
    assert (found.signature, found.count) == ("failover-time.failover-cause-differs", 18)
    assert found.example.observed == f"only {OLD} failed over in 17 spells, only {NEW} in 1"
    assert found.example.figures["p_mcnemar"] == pytest.approx(2 * (1 + 18) / 2**18)
    one = found.example.figures["one_episode"]
    assert isinstance(one, dict)
    assert (one["episode"], one["baseline_ended"], one["candidate_ended"]) == (0, "failover", "resumed")


def test_examples_of_statistics_have_no_thread_and_no_send() -> None:
    """Statistical examples have no send or thread; the phase names the kind, the figures the p-value."""
    (duration,) = answered(evidence(samples=(sample(3.0),))).divergences
    (cause,) = answered(evidence(samples=(sample(1.0, ended=Ending.RESUMED),))).divergences
    (both,) = differing(counted(paired(0, 20), drawn(20)))
    examples = [one.example for one in (duration, cause, *both.divergences)]
    assert [example.where for example in examples] == [NOWHERE] * 4
    assert [one.phase for one in examples] == ["episodes", "episodes", "counts", "counts"]
    assert [next(iter(one.figures)) for one in examples] == ["p_difference", "p_mcnemar", "p", "p"]
