"""An inconclusive statistical check gates unless its estimate lies inside the margin."""

import pytest

from rocketdiff.core.answers.evidence import Ending, EpisodePair, Evidence, Margin, PairedSample, Standing
from rocketdiff.core.answers.verdict import CheckResult, Severity, Verdict
from rocketdiff.core.errors import ExitCode
from rocketdiff.verdict.judge import answers, judge
from tests.verdict.test_judge import COMPLETE, RUN

MARGIN = Margin(1.2, "a fifth of a timeout")
POOL = "pooled/pause/fault-latency-on"


def sample(*ratios: float, ended: Ending = Ending.FAILOVER) -> PairedSample:
    """Pairs in which the candidate took ``ratio`` times the baseline's 500 ms."""
    pairs = (EpisodePair("r1", "c", n, 5e8, 5e8 * ratio, Ending.FAILOVER, ended) for n, ratio in enumerate(ratios))
    return PairedSample("wait", MARGIN, tuple(pairs), 4, "too few for an interval")


def pool(item: PairedSample, place: int = 1) -> Evidence:
    return Evidence(("r1",), f"{POOL}-{place}", "timing", Standing.DECISIVE, samples=(item,))


def answered(*items: PairedSample) -> CheckResult:
    return answers([pool(item, place) for place, item in enumerate(items)], RUN)[0]


EQUAL = sample(1.0, 1.01, 0.99, 1.0, 1.0, 1.01)
CROWDED = sample(1.21, 1.3, 1.25, 1.22, 1.3)
"""Mean ×1.255; the 90 % interval, ×1.215 to ×1.297, lies beyond ×1.2."""


def test_an_interval_beyond_the_margin_that_holm_does_not_believe_is_exit_2() -> None:
    """An interval beyond the margin that Holm rejects is exit 2: p is 0.021, four checks share 1 %."""
    judgement = judge([*COMPLETE, pool(CROWDED), *(pool(EQUAL, n) for n in (2, 3, 4))], RUN)
    open_one = judgement.results[3]
    assert (open_one.verdict, open_one.severity) == (Verdict.INCONCLUSIVE, Severity.MUST)
    assert judgement.exit_code is ExitCode.INCONCLUSIVE
    assert (judgement.counts.new, judgement.counts.inconclusive) == (0, 1)
    assert "would show the clients different" in open_one.reason


@pytest.mark.parametrize("turned", [False, True])
def test_an_estimate_beyond_the_margin_gates_whichever_arm_is_quicker(turned: bool) -> None:
    """An estimate beyond the margin (×1.32 or its inverse) gates even if its interval reaches inside."""
    ratios = (0.9, 2.0, 1.0, 1.7)
    result = answered(sample(*(1 / ratio if turned else ratio for ratio in ratios)))
    assert (result.verdict, result.severity) == (Verdict.INCONCLUSIVE, Severity.MUST)


def test_an_estimate_inside_the_margin_is_excused() -> None:
    """An inconclusive estimate inside the margin (×1.07) is SHOULD."""
    result = answered(sample(0.8, 1.5, 0.9, 1.2))
    assert (result.verdict, result.severity) == (Verdict.INCONCLUSIVE, Severity.SHOULD)
    assert "would show the clients equivalent at this ratio" in result.reason


def test_a_candidate_that_is_quicker_beyond_the_margin_diverges() -> None:
    """A candidate that waits a third of the baseline's time diverges: it gives up early."""
    result = answered(sample(*[0.33, 0.34] * 5))
    assert (result.verdict, result.severity) == (Verdict.DIVERGES, Severity.MUST)
    assert "×0.335 of the baseline's" in result.divergences[0].example.observed


def test_equivalence_is_corrected_for_many_questions() -> None:
    """Equivalence is corrected: p = 0.021 is below 5 % but above a quarter of it."""
    borderline = sample(1.03, 1.13, 1.0, 1.17, 1.12)
    alike = [sample(0.8, 1.5, 0.9, 1.2)] * 3
    assert answered(borderline).verdict is Verdict.EQUIVALENT
    assert answered(borderline, *alike).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(("episodes", "severity"), [(5, Severity.SHOULD), (7, Severity.MUST)])
def test_causes_that_differ_keep_a_question_open(episodes: int, severity: Severity) -> None:
    """Causes that differ at p ≤ 0.05 make an open check gate: five episodes are 0.06, seven 0.016."""
    result = answered(sample(*[1.0] * episodes, ended=Ending.RESUMED))
    assert (result.verdict, result.severity) == (Verdict.INCONCLUSIVE, severity)


@pytest.mark.parametrize(
    ("ratios", "beyond"),
    [
        ((2.0,), False),
        ((2.0, 1.3), True),
        ((0.5, 0.6, 0.7), True),
        ((2.0, 1.1), False),
        ((2.0, 0.5), False),
        ((2.0, 1.0, 1.0, 1.9), True),
    ],
)
def test_few_pairs_point_beyond_the_margin_only_together(ratios: tuple[float, ...], beyond: bool) -> None:
    """Two or three pairs point beyond the margin only together, from four on by their mean."""
    assert sample(*ratios).points_beyond() is beyond


def test_a_check_that_could_not_decide_gates() -> None:
    """An inconclusive check without samples keeps its severity and gates with exit 2."""
    undecided = Evidence(("r1",), "a", "loss", Standing.INDECISIVE, "not read back")
    judgement = judge([undecided, *COMPLETE[1:]], RUN)
    assert (judgement.results[0].verdict, judgement.results[0].severity) == (Verdict.INCONCLUSIVE, Severity.MUST)
    assert judgement.exit_code is ExitCode.INCONCLUSIVE
