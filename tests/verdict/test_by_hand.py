"""Exact figures of the judge, calculated manually."""

from dataclasses import replace
from math import exp, inf, log, sqrt

import numpy as np
import pytest
from scipy import stats

from rocketdiff.core.answers.evidence import ComparedShares, PairedCounts, Standing
from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import Severity, Verdict
from rocketdiff.ledger.apply import examine
from rocketdiff.ledger.matching import checks_until_stale, is_expected, meets
from rocketdiff.ledger.model import EntryState, Range
from rocketdiff.ledger.model import ExpectedRate as DeclaredRate
from rocketdiff.statistics.significance import MOST_PAIRS, IntervalDecision, excluded_rate, paired_ratio, pairs_needed
from rocketdiff.verdict.calibration import Rate
from rocketdiff.verdict.counts import p_of, with_counts_told
from rocketdiff.verdict.decide_samples import SampleAnswer
from rocketdiff.verdict.gate_rate_tally import ControlOutcome, TalliedAnswer, summed
from tests.ledger.ledger_entries import BOTH, ENTRY, ONE, RUN, divergence, entry, result
from tests.verdict.test_answer import answered, evidence, sample
from tests.verdict.test_counts import NEW, OLD, paired, shares, told
from tests.verdict.test_counts import evidence as counted


def tail_of_two(t: float) -> float:
    """Tail of Student's t with two degrees of freedom, in closed form."""
    return 0.5 - t / (2 * sqrt(2 + t * t))


def test_both_p_values_and_the_interval_of_three_pairs() -> None:
    """Log-ratios 0, 0.1, 0.2: standard error 0.1/√3, two degrees of freedom, t(0.95, 2) = 2.919986."""
    found = paired_ratio([(1.0, exp(x)) for x in (0.0, 0.1, 0.2)], margin_ratio=1.2)
    error = 0.1 / sqrt(3)
    assert found.p_equivalence == pytest.approx(tail_of_two((log(1.2) - 0.1) / error))
    assert found.p_difference == pytest.approx(tail_of_two((0.1 - log(1.2)) / error))
    assert (found.low, found.high) == pytest.approx(
        (exp(0.1 - 2.919986 * error), exp(0.1 + 2.919986 * error)), rel=1e-6
    )
    assert (found.ratio, found.log_sd, found.n) == (pytest.approx(exp(0.1)), pytest.approx(0.1), 3)
    assert found.decision is IntervalDecision.INCONCLUSIVE


def test_a_quicker_candidate_has_the_same_p_values() -> None:
    """Negated log-ratios give the same p-values; half and twice the baseline's time differ."""
    slower = paired_ratio([(1.0, exp(x)) for x in (0.0, 0.1, 0.2)], margin_ratio=1.2)
    quicker = paired_ratio([(1.0, exp(-x)) for x in (0.0, 0.1, 0.2)], margin_ratio=1.2)
    assert (quicker.p_equivalence, quicker.p_difference) == pytest.approx((slower.p_equivalence, slower.p_difference))
    assert (quicker.low, quicker.high) == pytest.approx((1 / slower.high, 1 / slower.low))
    assert paired_ratio([(6, 3), (6, 3), (6, 2.9)], margin_ratio=1.2).decision is IntervalDecision.DIFFERENT
    assert paired_ratio([(3, 6), (3, 6), (2.9, 6)], margin_ratio=1.2).decision is IntervalDecision.DIFFERENT


@pytest.mark.parametrize("candidate", [2.0, 0.5])
def test_at_the_margin_itself_nothing_is_shown(candidate: float) -> None:
    """A ratio exactly at the margin, without spread, shows neither equivalence nor difference."""
    found = paired_ratio([(1.0, candidate), (1.0, candidate)], margin_ratio=2.0)
    assert (found.decision, found.p_equivalence, found.p_difference) == (IntervalDecision.INCONCLUSIVE, 1.0, 1.0)


def test_without_spread_a_point_inside_is_certain() -> None:
    """Without spread, a ratio inside the margin is certainly equivalent and not different."""
    found = paired_ratio([(5.0, 5.0), (7.0, 7.0)], margin_ratio=1.2)
    assert (found.p_equivalence, found.p_difference, found.low, found.high) == (0.0, 1.0, 1.0, 1.0)


def test_one_pair_and_none_have_a_ratio_and_no_bound() -> None:
    """One pair has a ratio without a bound; no pair has ratio 1."""
    one, none = paired_ratio([(100, 150)], margin_ratio=1.2), paired_ratio([], margin_ratio=1.2)
    assert (one.ratio, one.low, one.high, one.n) == (pytest.approx(1.5), 0.0, inf, 1)
    assert (none.ratio, none.p_equivalence, none.p_difference, none.n) == (1.0, 1.0, 1.0, 0)


def test_a_margin_of_one_is_none() -> None:
    """A margin of 1 and a duration of 0 are refused."""
    with pytest.raises(ValueError, match="above 1"):
        paired_ratio([(1, 1), (1, 1)], margin_ratio=1.0)
    for pair in ((0.0, 1.0), (1.0, 0.0)):
        with pytest.raises(ValueError, match="durations must be positive"):
            paired_ratio([pair, (1.0, 1.0)], margin_ratio=1.2)


def by_integration(n: int, margin: float, mean: float, sd: float, alpha: float) -> float:
    """Power averaged over the spreads of samples, without the noncentral t."""
    shares = (np.arange(200_000) + 0.5) / 200_000
    spread = np.sqrt(stats.chi2.ppf(shares, n - 1) / (n - 1))
    critical = stats.t.ppf(1 - alpha, n - 1) * spread
    if mean > margin:
        return float(np.mean(stats.norm.sf(critical - (mean - margin) * sqrt(n) / sd)))
    above = stats.norm.cdf((margin - mean) * sqrt(n) / sd - critical)
    return float(np.mean(np.maximum(0, above - stats.norm.cdf(critical - (margin + mean) * sqrt(n) / sd))))


@pytest.mark.parametrize(("ratio", "sd", "n"), [(1.35, 0.05, 5), (1.0, 0.2, 16), (1.05, 0.15, 9), (0.8, 0.02, 4)])
def test_so_many_pairs_have_the_power_and_one_less_has_not(ratio: float, sd: float, n: int) -> None:
    """For slightly less than the power of n pairs n are needed, for more n + 1."""
    power = by_integration(n, log(1.2), abs(log(ratio)), sd, 0.05)
    assert pairs_needed(sd, 1.2, ratio=ratio, power=power - 1e-3) == n
    assert pairs_needed(sd, 1.2, ratio=ratio, power=power + 1e-3) == n + 1


def test_without_spread_two_pairs_are_enough() -> None:
    """Without spread two pairs are enough, and the number never exceeds MOST_PAIRS."""
    assert pairs_needed(0.0, 1.2) == 2
    assert pairs_needed(9.0, 1.2) == MOST_PAIRS


def test_no_clean_repeat_excludes_nothing() -> None:
    """No clean repeat excludes no rate; one excludes 95 %."""
    assert (excluded_rate(0), excluded_rate(1)) == (1.0, pytest.approx(0.95))


def test_fishers_test_of_six_sends() -> None:
    """Three of three against none of three: two of the twenty tables are as extreme."""
    assert p_of(shares((3, 3), (0, 3))) == pytest.approx(2 / 20)
    assert p_of(shares((4, 2), (1, 1))) == pytest.approx(1.0)


def test_a_comparison_that_could_not_be_told_takes_nothing_of_the_budget() -> None:
    """
    A comparison that cannot be significant uses no budget, so eleven to none differs beside it.

    Ten of 23 sends failed. At the most extreme, all ten are of one arm's twenty (p = 0.23), or seven of them and all three of
    the other arm's (p = 0.07); both exceed 0.001.
    """
    alone = counted(paired(0, 11))
    assert told(alone, counted(shares((20, 3), (7, 3)))) == [{"outcomes.more-often/failed/calm"}, set()]


@pytest.mark.parametrize(("met", "ended", "word"), [((112, 110), (5, 110), "more"), ((110, 112), (110, 5), "less")])
def test_shares_are_told_with_all_four_figures(met: tuple[int, int], ended: tuple[int, int], word: str) -> None:
    """Shares are reported with all four figures, the candidate's first; the count is the larger one."""
    (item,) = with_counts_told([counted(shares(met, ended))], baseline=OLD, candidate=NEW)
    (found,) = item.divergences
    assert found.signature == f"outcomes.{word}-often/failed/after-a-failed-attempt/kill"
    assert (found.subject, found.count, found.example.send, found.example.phase) == (NEW, 110, -1, "counts")
    assert found.example.expected == "where it failed first, both clients' sends failed as often"
    observed = f"{ended[1]} of {met[1]} of {NEW}, {ended[0]} of {met[0]} of {OLD} failed (p = "
    assert found.example.observed.startswith(observed)
    assert found.example.figures == {"p": p_of(shares(met, ended))}


def test_a_difference_of_pairs_counts_both_directions() -> None:
    """The count of a paired difference adds both directions: 16 + 1 = 17."""
    (item,) = with_counts_told([counted(paired(16, 1))], baseline=OLD, candidate=NEW)
    (found,) = item.divergences
    assert (found.signature, found.count) == ("outcomes.less-often/failed/calm", 17)
    assert found.example.expected == "failed/calm: equally often for both clients in the shared situations"


def test_what_a_kind_of_count_is_asked() -> None:
    """Pairs are tested by McNemar: 36 / 2^17; empty shares have p = 1."""
    assert p_of(PairedCounts("x", "y", 1, 16)) == pytest.approx(36 / 2**17)
    assert p_of(ComparedShares("x", "y", "z", (0, 0), (0, 0))) == 1.0


def run_of(*answers: TalliedAnswer, cases_alarmed: bool = False) -> ControlOutcome:
    return ControlOutcome(1, "control", "java:5.3.3", answers, cases_alarmed=cases_alarmed)


def test_only_gating_answers_make_a_control_case_invalid() -> None:
    """Only an INVALID gating answer makes a control case invalid."""
    measured = TalliedAnswer("timing", Verdict.INVALID, Severity.INFO)
    gating = TalliedAnswer("loss", Verdict.INVALID, Severity.MUST)
    assert summed([run_of(measured), run_of(gating)], []).invalid == 1


def test_a_gate_run_whose_cases_alarmed_is_a_trial() -> None:
    """A gate run whose cases alarmed is a trial, even without a decided pooled check."""
    open_question = TalliedAnswer("timing", Verdict.INCONCLUSIVE, Severity.SHOULD)
    assert summed([], [run_of(open_question, cases_alarmed=True), run_of(open_question)]).alarms_per_run == Rate.of(
        1, 1
    )


def test_a_check_of_several_pools_is_one_trial_if_one_of_them_was() -> None:
    """Pools of a check are one trial if one was decided; a SHOULD divergence is a warning."""
    passed = TalliedAnswer("timing", Verdict.EQUIVALENT, Severity.MUST)
    open_question = TalliedAnswer("timing", Verdict.INCONCLUSIVE, Severity.SHOULD)
    warning = TalliedAnswer("loss", Verdict.DIVERGES, Severity.SHOULD)
    alarm = TalliedAnswer("order", Verdict.DIVERGES, Severity.MUST)
    rows = {row.check: row for row in summed([], [run_of(passed, open_question, warning, alarm)]).checks}
    assert (rows["timing"].alarms, rows["timing"].without_answer) == (Rate.of(0, 1), 0)
    assert (rows["loss"].alarms, rows["loss"].warnings) == (Rate.of(0, 0), 1)
    assert (rows["order"].alarms, rows["order"].warnings) == (Rate.of(1, 1), 0)


def test_an_entry_of_both_kinds_is_expected_of_the_candidate() -> None:
    """An entry with a signature of the candidate is expected of it; ``rules/`` alone is not."""
    assert is_expected(entry(signatures=("rules/queue.x", "avoidance.used/first")), RUN)
    assert not is_expected(entry(signatures=("rules/queue.x",)), RUN)


def test_what_a_case_does_not_state_is_not_met() -> None:
    """A condition on a fault count needs a case that states that count."""
    faulty = entry().when.__class__(ENTRY.when.subject, faults=(("paused_brokers", Range.parse("1")),))
    assert not meets(faulty, settings={}, fault_counts={})
    assert meets(faulty, settings={}, fault_counts={"paused_brokers": 1})
    assert not meets(faulty, settings={}, fault_counts={"paused_brokers": 2})


def test_an_entry_seen_too_often_is_exceeded_though_nobody_expected_it() -> None:
    """Two of two checks (95 %: 16 % to 100 %) exceed a declared tenth, though the entry is not expected."""
    rules = entry(signatures=("rules/queue.x",), rate=DeclaredRate(0.0, 0.1))
    found = divergence("rules/queue.x")
    examined = examine(rules, [result(ONE, found), result(BOTH, found)], RUN, Policy(), ENTRY.added)
    assert examined is not None
    assert (examined.state, examined.seen, examined.missing) == (EntryState.EXCEEDED, (0, 1), ())


def test_an_entry_that_is_always_there_is_stale_at_once() -> None:
    """An entry declared always is stale after one check; at a half after six (0.025^(1/6) is 0.541)."""
    assert checks_until_stale(DeclaredRate(1.0, 1.0)) == 1
    assert checks_until_stale(DeclaredRate(0.5, 1.0)) == 6
    assert checks_until_stale(DeclaredRate(0.0, 1.0)) is None


def test_a_statistical_difference_of_a_should_check_stays_one() -> None:
    """A statistical difference of a SHOULD check stays SHOULD; only exact ones become MUST."""
    found = answered(evidence(Standing.DECISIVE, samples=(sample(3.0),), severity=Severity.SHOULD))
    assert (found.verdict, found.severity) == (Verdict.DIVERGES, Severity.SHOULD)


def test_an_equivalence_of_a_must_check_gates() -> None:
    """An EQUIVALENT MUST check stays MUST."""
    found = answered(evidence(Standing.DECISIVE, samples=(sample(1.0),)))
    assert (found.verdict, found.severity) == (Verdict.EQUIVALENT, Severity.MUST)


def test_a_difference_of_durations_is_told_in_full() -> None:
    """Twelve episodes around ×3 are reported with ratio, interval and margin; the farthest has 2 % more."""
    (found,) = answered(evidence(Standing.DECISIVE, samples=(sample(3.0),))).divergences
    assert (found.signature, found.subject, found.count) == ("failover-time.failover-differs", "java:5.3.3", 12)
    assert (found.example.send, found.example.phase) == (-1, "episodes")
    assert found.example.expected == "failover within ×1.2 of the baseline's (a fifth of a timeout)"
    assert found.example.observed == "×3 of the baseline's over 12 spells (90% interval ×2.97 to ×3.03)"
    farthest = found.example.figures["farthest_episode"]
    assert isinstance(farthest, dict)
    assert farthest["candidate_ns"] == pytest.approx(5e8 * 3.0 * 1.02)


@pytest.mark.parametrize(("p_cause", "beyond"), [(0.05, True), (0.0501, False)])
def test_causes_that_differ_at_five_per_cent_keep_a_question_open(p_cause: float, beyond: bool) -> None:
    """Causes that differ at p ≤ 0.05 keep a sample open although durations are alike."""
    said = SampleAnswer(sample(1.0), None, p_cause, equivalent=False, differs=False, cause_differs=False, questions=1)
    assert said.points_beyond is beyond


def test_a_long_sentence_is_kept_to_its_four_hundredth_character() -> None:
    """Expected, observed and reason are cut to 400 characters, from the first divergence."""
    long = replace(divergence(), example=replace(divergence().example, expected="e" * 401, observed="o" * 400))
    kept = TalliedAnswer.of(result(ONE, long, divergence("second"), reason="r" * 401))
    assert (kept.expected, kept.observed, kept.reason) == ("e" * 400, "o" * 400, "r" * 400)
    assert kept.signatures == ("avoidance.used/first", "second")
    assert TalliedAnswer.of(result(ONE)).expected == ""
