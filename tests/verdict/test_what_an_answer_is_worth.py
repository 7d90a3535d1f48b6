"""Severity and content of answers in combined situations."""

from dataclasses import astuple, replace
from math import inf, nan

import pytest

from rocketdiff.core.answers.evidence import Ending, EpisodePair, PairedCounts, PairedSample, Standing
from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import CheckResult, Measure, Severity, Verdict
from rocketdiff.verdict.counts import with_counts_told
from rocketdiff.verdict.judge import Counts, conclude, judge
from tests.verdict.test_answer import NEW, OLD, answered, divergence, evidence, sample
from tests.verdict.test_counts import drawn, shares
from tests.verdict.test_counts import evidence as counted
from tests.verdict.test_judge import COMPLETE, RUN

MUST, SHOULD, INFO = Severity.MUST, Severity.SHOULD, Severity.INFO
SCATTERED, FAR = (0.8, 1.5, 0.9, 1.2, 0.7, 1.3), (0.9, 2.0, 1.0, 1.7, 1.8, 0.95)
"""Ratios with means ×1.03 and ×1.32; neither decides at a margin of ×1.2."""


def of_ratios(ratios: tuple[float, ...]) -> PairedSample:
    pairs = tuple(EpisodePair("r", "c", n, 5e8, 5e8 * ratio) for n, ratio in enumerate(ratios))
    return replace(sample(1.0), pairs=pairs)


@pytest.mark.parametrize("severity", [SHOULD, INFO])
def test_a_divergence_under_a_broken_set_up_does_not_raise_what_its_check_is_worth(severity: Severity) -> None:
    """A divergence under a broken set-up is INVALID with its check's severity."""
    result = answered(evidence(Standing.INVALID, divergence(), severity=severity))
    assert (result.verdict, result.severity) == (Verdict.INVALID, severity)


@pytest.mark.parametrize("severity", [SHOULD, INFO])
def test_an_open_question_of_a_check_that_does_not_gate_keeps_its_worth(severity: Severity) -> None:
    """An inconclusive check keeps a severity that does not gate; only MUST is lowered."""
    result = answered(evidence(Standing.DECISIVE, samples=(of_ratios(SCATTERED),), severity=severity))
    assert (result.verdict, result.severity) == (Verdict.INCONCLUSIVE, severity)


def test_one_estimate_beyond_the_margin_is_enough_for_an_open_question_to_gate() -> None:
    """One sample with an estimate beyond the margin makes an inconclusive check gate."""
    inside, beyond = of_ratios(SCATTERED), of_ratios(FAR)
    both = answered(evidence(Standing.DECISIVE, samples=(inside, beyond)))
    alone = answered(evidence(Standing.DECISIVE, samples=(inside, inside)))
    assert (both.verdict, both.severity, alone.severity) == (Verdict.INCONCLUSIVE, MUST, SHOULD)


def test_an_answer_of_two_samples_is_the_worse_of_theirs() -> None:
    """Of two samples the worse determines the verdict, and both are measured."""
    result = answered(evidence(Standing.DECISIVE, samples=(sample(1.0), sample(3.0))))
    assert (result.verdict, len(result.divergences)) == (Verdict.DIVERGES, 1)
    assert [round(measure.value, 1) for measure in result.measures] == [1.0, 3.0]


@pytest.mark.parametrize(
    ("standing", "reason"),
    [(Standing.DECISIVE, "as measured"), (Standing.INDECISIVE, "as measured"), (Standing.NOT_APPLICABLE, "")],
)
def test_the_reason_of_a_check_stays_beside_what_was_found(standing: Standing, reason: str) -> None:
    """The check's reason is kept beside a divergence, except for not being applicable."""
    assert answered(evidence(standing, divergence())).reason == reason
    assert answered(evidence(standing)).reason == "as measured"


@pytest.mark.parametrize(
    ("signature", "subject", "is_said"),
    [("rules/queue.x", OLD, True), ("rules/queue.x", NEW, False), ("queue.x", OLD, False), ("queue.x", NEW, False)],
)
def test_the_dialect_is_suspected_for_the_baseline_against_its_rules_only(
    signature: str, subject: str, is_said: bool
) -> None:
    """Only a ``rules/`` divergence of the baseline makes the reason suspect the dialect."""
    found = divergence(signature, subject), divergence("retry/stays", NEW)
    reason = answered(evidence(Standing.DECISIVE, *found)).reason
    assert ("do not explain the baseline" in reason) is is_said


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
def test_a_measure_is_told_with_finite_figures_only(
    value: float, low: float | None, high: float | None, is_kept: bool
) -> None:
    """Measures with infinity or NaN are omitted, because JSON has neither."""
    measure = Measure("wait", value, "ms", 3, low, high, 0.9)
    assert answered(evidence(Standing.DECISIVE, measures=(measure,))).measures == ((measure,) if is_kept else ())


def test_a_spell_that_one_arm_never_met_is_no_example_of_a_duration() -> None:
    """The example of a duration is never an episode that only one arm met."""
    met = sample(3.0)
    lone = EpisodePair("r", "c", 98, 5e8, None), EpisodePair("r", "c", 99, None, 5e8)
    (found,) = answered(evidence(Standing.DECISIVE, samples=(replace(met, pairs=(*lone, *met.pairs)),))).divergences
    farthest = found.example.figures["farthest_episode"]
    assert isinstance(farthest, dict)
    assert farthest["episode"] == 2


def test_an_example_of_statistics_is_of_no_thread_and_no_send() -> None:
    """Statistical examples have no send or thread; the phase names the kind, the figures the p-value."""
    (duration,) = answered(evidence(Standing.DECISIVE, samples=(sample(3.0),))).divergences
    (cause,) = answered(evidence(Standing.DECISIVE, samples=(sample(1.0, ended=Ending.RESUMED),))).divergences
    (both,) = with_counts_told(
        [counted(PairedCounts("failed/calm", "half seconds", 0, 20), drawn(20))], baseline=OLD, candidate=NEW
    )
    examples = [one.example for one in (duration, cause, *both.divergences)]
    assert [(one.send, one.thread, one.attempt) for one in examples] == [(-1, 0, None)] * 4
    assert [one.phase for one in examples] == ["episodes", "episodes", "counts", "counts"]
    assert [next(iter(one.figures)) for one in examples] == ["p_difference", "p_mcnemar", "p", "p"]


def test_choices_that_pile_up_are_told_in_full() -> None:
    """Starts on one queue are reported in full: 20 of 20 is 8 × (1/8)^20 = 8^-19."""
    (item,) = with_counts_told([counted(drawn(20))], baseline=OLD, candidate=NEW)
    (found,) = item.divergences
    assert (found.signature, found.subject, found.count) == ("queue.begins-alike/queue", NEW, 20)
    assert found.example.expected == "choices drawn at random: of 20 about 2.5 there"
    assert found.example.observed == f"20 of 20 of {NEW} at broker-a/0 (p = 6.9e-18)"
    assert found.example.figures == {"p": pytest.approx(8.0**-19)}


def test_a_situation_that_one_arm_met_seldom_is_asked_for_what_it_could_show() -> None:
    """Six of six differ from none of 100 (p = 6e-10); the reverse, six of 100 and none, would not."""
    (item,) = with_counts_told([counted(shares((100, 6), (0, 6)))], baseline=OLD, candidate=NEW)
    assert [one.count for one in item.divergences] == [6]


def result(verdict: Verdict, severity: Severity) -> CheckResult:
    return CheckResult("case", "loss", verdict, severity)


@pytest.mark.parametrize(
    ("verdict", "severity", "gating", "answered_ones", "ungated"),
    [
        (Verdict.ERROR, INFO, 1, 0, 0),
        (Verdict.DIVERGES, INFO, 0, 0, 0),
        (Verdict.INVALID, SHOULD, 1, 0, 1),
        (Verdict.INCONCLUSIVE, SHOULD, 1, 0, 1),
        (Verdict.NOT_APPLICABLE, SHOULD, 1, 0, 0),
        (Verdict.EQUIVALENT, SHOULD, 1, 1, 0),
        (Verdict.INVALID, MUST, 1, 0, 0),
    ],
)
def test_one_answer_is_counted_by_whether_it_can_gate_and_did_answer(
    verdict: Verdict, severity: Severity, gating: int, answered_ones: int, ungated: int
) -> None:
    """An ERROR always gates; INFO answers are not counted."""
    _, counts = conclude([result(verdict, severity)], Policy())
    assert (counts.gating, counts.answered, counts.ungated) == (gating, answered_ones, ungated)


def test_without_a_plan_nothing_is_planned_or_left_unanswered() -> None:
    """Without a plan no check is planned or unanswered."""
    _, counts = conclude([result(Verdict.CONFORMS, MUST)], Policy())
    assert (counts.checks, counts.planned, counts.unanswered) == (1, 0, 0)
    assert astuple(Counts()) == (0,) * 10


def test_the_policy_of_a_judgement_is_the_one_that_was_asked_for() -> None:
    """Under a strict policy an inconclusive SHOULD check fails the run."""
    open_one = replace(COMPLETE[0], standing=Standing.INDECISIVE, severity=SHOULD)
    strict = judge([open_one, *COMPLETE[1:]], RUN, Policy(strict=True))
    relaxed = judge([open_one, *COMPLETE[1:]], RUN)
    assert (strict.policy.strict, int(strict.exit_code)) == (True, 2)
    assert (relaxed.policy, int(relaxed.exit_code)) == (Policy(), 0)
