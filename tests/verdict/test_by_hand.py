"""Figures of the judge worked out by hand, to the last place: what a changed sign, bound or degree of freedom would change."""

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
    """Of Student's t with two degrees of freedom, which has a closed form."""
    return 0.5 - t / (2 * sqrt(2 + t * t))


def test_both_p_values_and_the_interval_of_three_pairs() -> None:
    """Log-ratios 0, 0.1, 0.2: mean 0.1, standard error 0.1/√3, two degrees of freedom; t(0.95, 2) is 2.919986."""
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
    """The same log-ratios with the other sign; at half and a third of the baseline's time it differs."""
    slower = paired_ratio([(1.0, exp(x)) for x in (0.0, 0.1, 0.2)], margin_ratio=1.2)
    quicker = paired_ratio([(1.0, exp(-x)) for x in (0.0, 0.1, 0.2)], margin_ratio=1.2)
    assert (quicker.p_equivalence, quicker.p_difference) == pytest.approx((slower.p_equivalence, slower.p_difference))
    assert (quicker.low, quicker.high) == pytest.approx((1 / slower.high, 1 / slower.low))
    assert paired_ratio([(6, 3), (6, 3), (6, 2.9)], margin_ratio=1.2).decision is IntervalDecision.DIFFERENT
    assert paired_ratio([(3, 6), (3, 6), (2.9, 6)], margin_ratio=1.2).decision is IntervalDecision.DIFFERENT


@pytest.mark.parametrize("candidate", [2.0, 0.5])
def test_at_the_margin_itself_nothing_is_shown(candidate: float) -> None:
    """Without spread, at twice or half of a margin of two: neither inside nor beyond."""
    found = paired_ratio([(1.0, candidate), (1.0, candidate)], margin_ratio=2.0)
    assert (found.decision, found.p_equivalence, found.p_difference) == (IntervalDecision.INCONCLUSIVE, 1.0, 1.0)


def test_without_spread_a_point_inside_is_certain() -> None:
    """And its difference is not."""
    found = paired_ratio([(5.0, 5.0), (7.0, 7.0)], margin_ratio=1.2)
    assert (found.p_equivalence, found.p_difference, found.low, found.high) == (0.0, 1.0, 1.0, 1.0)


def test_one_pair_and_none_have_a_ratio_and_no_bound() -> None:
    """Half as long again, or nothing: one."""
    one, none = paired_ratio([(100, 150)], margin_ratio=1.2), paired_ratio([], margin_ratio=1.2)
    assert (one.ratio, one.low, one.high, one.n) == (pytest.approx(1.5), 0.0, inf, 1)
    assert (none.ratio, none.p_equivalence, none.p_difference, none.n) == (1.0, 1.0, 1.0, 0)


def test_a_margin_of_one_is_none() -> None:
    """Nothing could lie inside it; and a duration of nothing has no ratio, in either arm."""
    with pytest.raises(ValueError, match="above 1"):
        paired_ratio([(1, 1), (1, 1)], margin_ratio=1.0)
    for pair in ((0.0, 1.0), (1.0, 0.0)):
        with pytest.raises(ValueError, match="durations must be positive"):
            paired_ratio([pair, (1.0, 1.0)], margin_ratio=1.2)


def by_integration(n: int, margin: float, mean: float, sd: float, alpha: float) -> float:
    """Power for a known spread of the sample, averaged over the spreads that chance gives: no noncentral t in it."""
    shares = (np.arange(200_000) + 0.5) / 200_000
    spread = np.sqrt(stats.chi2.ppf(shares, n - 1) / (n - 1))
    critical = stats.t.ppf(1 - alpha, n - 1) * spread
    if mean > margin:
        return float(np.mean(stats.norm.sf(critical - (mean - margin) * sqrt(n) / sd)))
    above = stats.norm.cdf((margin - mean) * sqrt(n) / sd - critical)
    return float(np.mean(np.maximum(0, above - stats.norm.cdf(critical - (margin + mean) * sqrt(n) / sd))))


@pytest.mark.parametrize(("ratio", "sd", "n"), [(1.35, 0.05, 5), (1.0, 0.2, 16), (1.05, 0.15, 9), (0.8, 0.02, 4)])
def test_so_many_pairs_have_the_power_and_one_less_has_not(ratio: float, sd: float, n: int) -> None:
    """Asked for just less than the power of n pairs it takes n; for just more, another one."""
    power = by_integration(n, log(1.2), abs(log(ratio)), sd, 0.05)
    assert pairs_needed(sd, 1.2, ratio=ratio, power=power - 1e-3) == n
    assert pairs_needed(sd, 1.2, ratio=ratio, power=power + 1e-3) == n + 1


def test_without_spread_two_pairs_are_enough() -> None:
    """And where nothing decides, the most is said, not more."""
    assert pairs_needed(0.0, 1.2) == 2
    assert pairs_needed(9.0, 1.2) == MOST_PAIRS


def test_no_clean_repeat_excludes_nothing() -> None:
    """One excludes 95 %."""
    assert (excluded_rate(0), excluded_rate(1)) == (1.0, pytest.approx(0.95))


def test_fishers_test_of_six_sends() -> None:
    """Three of three against none of three: two of the twenty ways to choose three of six are as far apart."""
    assert p_of(shares((3, 3), (0, 3))) == pytest.approx(2 / 20)
    assert p_of(shares((4, 2), (1, 1))) == pytest.approx(1.0)


def test_a_comparison_that_could_not_be_told_takes_nothing_of_the_budget() -> None:
    """
    Ten of 23 sends failed: at the farthest apart, all ten of one arm's twenty or three of the other's three and seven.

    That is a matter of one in eleven, or of one in ten: no budget of a thousandth sees it, so eleven to none is told beside it.
    """
    alone = counted(paired(0, 11))
    assert told(alone, counted(shares((20, 3), (7, 3)))) == [{"outcomes.more-often/failed/calm"}, set()]


@pytest.mark.parametrize(("met", "ended", "word"), [((112, 110), (5, 110), "more"), ((110, 112), (110, 5), "less")])
def test_shares_are_told_with_all_four_figures(met: tuple[int, int], ended: tuple[int, int], word: str) -> None:
    """The candidate's first; the count is the larger of the two."""
    (item,) = with_counts_told([counted(shares(met, ended))], baseline=OLD, candidate=NEW)
    (found,) = item.divergences
    assert found.signature == f"outcomes.{word}-often/failed/after-a-failed-attempt/kill"
    assert (found.subject, found.count, found.example.send, found.example.phase) == (NEW, 110, -1, "counts")
    assert found.example.expected == "where it failed first, both clients' sends failed as often"
    observed = f"{ended[1]} of {met[1]} of {NEW}, {ended[0]} of {met[0]} of {OLD} failed (p = "
    assert found.example.observed.startswith(observed)
    assert found.example.figures == {"p": p_of(shares(met, ended))}


def test_a_difference_of_pairs_counts_both_directions() -> None:
    """One against sixteen are seventeen discordant pairs."""
    (item,) = with_counts_told([counted(paired(16, 1))], baseline=OLD, candidate=NEW)
    (found,) = item.divergences
    assert (found.signature, found.count) == ("outcomes.less-often/failed/calm", 17)
    assert found.example.expected == "failed/calm: equally often for both clients in the shared situations"


def test_what_a_kind_of_count_is_asked() -> None:
    """McNemar for pairs: 36 / 2^17."""
    assert p_of(PairedCounts("x", "y", 1, 16)) == pytest.approx(36 / 2**17)
    assert p_of(ComparedShares("x", "y", "z", (0, 0), (0, 0))) == 1.0


def run_of(*answers: TalliedAnswer, cases_alarmed: bool = False) -> ControlOutcome:
    return ControlOutcome(1, "control", "java:5.3.3", answers, cases_alarmed=cases_alarmed)


def test_only_gating_answers_make_a_control_case_invalid() -> None:
    """One that is only measured does not."""
    measured = TalliedAnswer("timing", Verdict.INVALID, Severity.INFO)
    gating = TalliedAnswer("loss", Verdict.INVALID, Severity.MUST)
    assert summed([run_of(measured), run_of(gating)], []).invalid == 1


def test_a_gate_run_whose_cases_alarmed_is_a_trial() -> None:
    """Though no pooled check of it was decided."""
    open_question = TalliedAnswer("timing", Verdict.INCONCLUSIVE, Severity.SHOULD)
    assert summed([], [run_of(open_question, cases_alarmed=True), run_of(open_question)]).alarms_per_run == Rate.of(
        1, 1
    )


def test_a_check_of_several_pools_is_one_trial_if_one_of_them_was() -> None:
    """A gating pass beside an open question; and what diverges without gating is a warning, not an alarm."""
    passed = TalliedAnswer("timing", Verdict.EQUIVALENT, Severity.MUST)
    open_question = TalliedAnswer("timing", Verdict.INCONCLUSIVE, Severity.SHOULD)
    warning = TalliedAnswer("loss", Verdict.DIVERGES, Severity.SHOULD)
    alarm = TalliedAnswer("order", Verdict.DIVERGES, Severity.MUST)
    rows = {row.check: row for row in summed([], [run_of(passed, open_question, warning, alarm)]).checks}
    assert (rows["timing"].alarms, rows["timing"].without_answer) == (Rate.of(0, 1), 0)
    assert (rows["loss"].alarms, rows["loss"].warnings) == (Rate.of(0, 0), 1)
    assert (rows["order"].alarms, rows["order"].warnings) == (Rate.of(1, 1), 0)


def test_an_entry_of_both_kinds_is_expected_of_the_candidate() -> None:
    """One signature of its own is enough; with those of the rules alone it is not."""
    assert is_expected(entry(signatures=("rules/queue.x", "avoidance.used/first")), RUN)
    assert not is_expected(entry(signatures=("rules/queue.x",)), RUN)


def test_what_a_case_does_not_state_is_not_met() -> None:
    """Neither a fault nor a setting; a count that is wanted is."""
    faulty = entry().when.__class__(ENTRY.when.subject, faults=(("paused_brokers", Range.parse("1")),))
    assert not meets(faulty, settings={}, fault_counts={})
    assert meets(faulty, settings={}, fault_counts={"paused_brokers": 1})
    assert not meets(faulty, settings={}, fault_counts={"paused_brokers": 2})


def test_an_entry_seen_too_often_is_exceeded_though_nobody_expected_it() -> None:
    """Two of two, 95 % interval 16 % to 100 %, of at most a tenth; expected is nothing of a baseline that is no party."""
    rules = entry(signatures=("rules/queue.x",), rate=DeclaredRate(0.0, 0.1))
    found = divergence("rules/queue.x")
    examined = examine(rules, [result(ONE, found), result(BOTH, found)], RUN, Policy(), ENTRY.added)
    assert examined is not None
    assert (examined.state, examined.seen, examined.missing) == (EntryState.EXCEEDED, (0, 1), ())


def test_an_entry_that_is_always_there_is_stale_at_once() -> None:
    """One check without it is enough; at a half it takes six: 0.025^(1/5) is 0.478, 0.025^(1/6) 0.541."""
    assert checks_until_stale(DeclaredRate(1.0, 1.0)) == 1
    assert checks_until_stale(DeclaredRate(0.5, 1.0)) == 6
    assert checks_until_stale(DeclaredRate(0.0, 1.0)) is None


def test_a_statistical_difference_of_a_should_check_stays_one() -> None:
    """Only what is exact is must whatever its check says."""
    found = answered(evidence(Standing.DECISIVE, samples=(sample(3.0),), severity=Severity.SHOULD))
    assert (found.verdict, found.severity) == (Verdict.DIVERGES, Severity.SHOULD)


def test_an_equivalence_of_a_must_check_gates() -> None:
    """It is answered, so nothing is excused."""
    found = answered(evidence(Standing.DECISIVE, samples=(sample(1.0),)))
    assert (found.verdict, found.severity) == (Verdict.EQUIVALENT, Severity.MUST)


def test_a_difference_of_durations_is_told_in_full() -> None:
    """Twelve spells around three times the baseline's; the farthest apart is the one with 2 % more."""
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
    """Durations alike."""
    said = SampleAnswer(sample(1.0), None, p_cause, equivalent=False, differs=False, cause_differs=False, questions=1)
    assert said.points_beyond is beyond


def test_a_long_sentence_is_kept_to_its_four_hundredth_character() -> None:
    """Of the first divergence, and the reason."""
    long = replace(divergence(), example=replace(divergence().example, expected="e" * 401, observed="o" * 400))
    kept = TalliedAnswer.of(result(ONE, long, divergence("second"), reason="r" * 401))
    assert (kept.expected, kept.observed, kept.reason) == ("e" * 400, "o" * 400, "r" * 400)
    assert kept.signatures == ("avoidance.used/first", "second")
    assert TalliedAnswer.of(result(ONE)).expected == ""
