"""Statistical samples share one error budget."""

from harness.core.evidence import EpisodePair, Evidence, Margin, PairedSample, Standing
from harness.core.verdict import Severity, Verdict
from harness.verdict.samples import decide_samples


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
