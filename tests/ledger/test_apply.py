"""The ledger applied to answers: what is declared, stale or not excused."""

from dataclasses import replace
from datetime import date

import pytest

from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import CheckResult, Severity, Verdict
from rocketdiff.ledger.apply import Applied, apply_ledger, examine
from rocketdiff.ledger.model import Conditions, Entry, EntryState, ExpectedRate, Ledger, Party
from tests.ledger.ledger_entries import BOTH, ENTRY, OLD, ONE, PAIR, RUN, divergence, entry, result

BOTH_DIVERGE = [result(ONE, divergence()), result(BOTH, divergence())]


def applied(results: list[CheckResult], *entries: Entry, policy: Policy | None = None) -> Applied:
    return apply_ledger(Ledger(entries), results, RUN, policy or Policy())


def verdicts(outcome: Applied) -> list[str]:
    return [one.verdict.value for one in outcome.results]


def test_a_declared_divergence_is_declared_with_reason_and_reference() -> None:
    """The answer names the declaring entry, its reason and reference."""
    done = applied(BOTH_DIVERGE, ENTRY)
    assert verdicts(done) == ["DECLARED", "DECLARED"]
    first = done.results[0]
    assert first.reason == "declared by K16: Ten seconds instead of ten minutes. (apache/rocketmq#6567)"
    assert [found.declared_by for found in first.divergences] == ["K16"]
    (outcome,) = done.outcomes
    assert (outcome.state, outcome.seen, outcome.decisive) == (EntryState.DECLARED, 2, 2)
    assert (outcome.seen_text, outcome.occurrence) == ("seen in 2 of 2 decisive checks", "always")


def test_another_signature_is_a_new_divergence() -> None:
    """Another signature is not declared: a retry is not the first attempt."""
    found = [result(ONE, divergence("avoidance.used/retry")), result(BOTH, divergence())]
    done = applied(found, ENTRY)
    assert verdicts(done) == ["DIVERGES", "DECLARED"]
    assert done.results[0].divergences[0].declared_by == ""


def test_a_declared_divergence_does_not_hide_another_in_the_same_check() -> None:
    """A check with another divergence beside the declared one diverges."""
    done = applied([result(ONE, divergence(), divergence("avoidance.other")), result(BOTH, divergence())], ENTRY)
    assert verdicts(done) == ["DIVERGES", "DECLARED"]
    assert [found.declared_by for found in done.results[0].divergences] == ["K16", ""]


def test_a_difference_of_the_other_subject_is_not_declared() -> None:
    """An entry about the candidate does not declare a difference of the baseline."""
    assert verdicts(applied([result(ONE, divergence(subject=OLD))], ENTRY)) == ["DIVERGES"]


def test_an_absent_divergence_is_stale_where_its_check_was_decisive() -> None:
    """An entry is stale where its divergence is absent from a decisive check."""
    done = applied([result(ONE), result(BOTH, divergence()), result(ONE, check="loss")], ENTRY)
    assert verdicts(done) == ["STALE", "DECLARED", "CONFORMS"]
    assert done.results[0].reason == (
        "stale: K16 (own.yaml line 4) declares avoidance.used/first here always, and it did not occur"
    )
    (outcome,) = done.outcomes
    assert (outcome.state, outcome.missing) == (EntryState.STALE, (f"{ONE}/avoidance",))


def test_an_equivalent_check_can_be_stale_too() -> None:
    """An EQUIVALENT check, a duration that no longer differs, can be stale too."""
    pooled = CheckResult(f"pooled/x/{PAIR}", "timing", Verdict.EQUIVALENT)
    done = applied([pooled], entry(check="pooled/**", signatures=("timing.calm-differs",)))
    assert verdicts(done) == ["STALE"]


@pytest.mark.parametrize("verdict", [Verdict.INCONCLUSIVE, Verdict.NOT_APPLICABLE, Verdict.INVALID, Verdict.ERROR])
def test_an_undecided_check_is_neither_declared_nor_stale(verdict: Verdict) -> None:
    """An undecided check is neither declared nor stale: absence of evidence is not evidence of absence."""
    before = [result(ONE, divergence(), verdict=verdict), result(BOTH, verdict=verdict)]
    done = applied(before, ENTRY)
    assert list(done.results) == before
    assert done.outcomes[0].state is EntryState.UNTESTED
    assert done.outcomes[0].seen_text == "no check it covers was decisive"


def test_validity_is_never_declared_whatever_the_glob() -> None:
    """No glob declares ``validity``."""
    before = [result(ONE, divergence(), check="validity")]
    assert list(applied(before, entry(check="**")).results) == before


def test_a_stale_entry_does_not_hide_a_new_divergence_of_its_check() -> None:
    """DIVERGES dominates STALE, and the reason names both."""
    done = applied([result(ONE, divergence("avoidance.other"))], ENTRY)
    assert verdicts(done) == ["DIVERGES"]
    assert "stale: K16" in done.results[0].reason


def test_a_check_with_one_entry_seen_and_another_gone_is_stale() -> None:
    """STALE dominates DECLARED."""
    gone = entry(id="K99", signatures=("avoidance.gone",))
    assert verdicts(applied([result(ONE, divergence())], ENTRY, gone)) == ["STALE"]


def test_an_entry_of_other_clients_or_checks_is_silent() -> None:
    """An entry of other clients or checks cannot be stale."""
    other = entry(when=Conditions(Party("cpp")))
    elsewhere = entry(id="K2", check="round-robin/**")
    done = applied([result(ONE)], other, elsewhere)
    assert (verdicts(done), done.outcomes) == (["CONFORMS"], ())


def test_an_entry_without_a_baseline_never_goes_stale_where_its_client_is_the_baseline() -> None:
    """An entry without ``against`` is not stale where its client is the baseline."""
    old = entry(when=replace(ENTRY.when, subject=Party("java", ENTRY.when.against.version), against=None))  # type: ignore[union-attr]  # it has one
    assert verdicts(applied([result(ONE)], old)) == ["CONFORMS"]
    assert verdicts(applied([result(ONE, divergence(subject=OLD)), result(BOTH)], old)) == ["DECLARED", "CONFORMS"]


def test_an_expired_entry_warns_and_then_declares_nothing() -> None:
    """An expired entry first warns, then declares nothing, by the day of the run."""
    warned = entry(expires=date(2026, 11, 1))
    done = applied(BOTH_DIVERGE, warned)
    assert verdicts(done) == ["DECLARED", "DECLARED"]
    assert done.outcomes[0].warning.startswith("expired on 2026-11-01")
    lapsed = applied(BOTH_DIVERGE, entry(expires=date(2026, 10, 1)))
    assert verdicts(lapsed) == ["DIVERGES", "DIVERGES"]
    assert lapsed.outcomes[0].state is EntryState.LAPSED
    assert "no longer declares it: it expired on 2026-10-01" in lapsed.results[0].reason


def test_a_lapsed_entry_is_not_stale() -> None:
    """A lapsed entry is not stale, because it declares nothing."""
    assert verdicts(applied([result(ONE)], entry(expires=date(2026, 10, 1)))) == ["CONFORMS"]


def test_a_proposed_entry_declares_nothing() -> None:
    """A proposed entry declares nothing until it is edited, and is not stale."""
    proposed = entry(proposed=True)
    done = applied([result(ONE, divergence()), result(BOTH)], proposed)
    assert verdicts(done) == ["DIVERGES", "CONFORMS"]
    assert "only proposed" in done.results[0].reason
    assert done.outcomes[0].state is EntryState.PROPOSED


def many(diverging: int, of: int) -> list[CheckResult]:
    return [result(ONE, *([divergence()] if number < diverging else [])) for number in range(of)]


RARE = entry(rate=ExpectedRate(0.02, 0.20))


def test_a_rate_within_its_band_is_declared() -> None:
    """A rate of two in twenty, within its limits, is declared."""
    done = applied(many(2, 20), RARE)
    assert [verdicts(done).count(word) for word in ("DECLARED", "CONFORMS")] == [2, 18]
    assert done.outcomes[0].seen_text == "seen in 2 of 20 decisive checks (95% interval 1% to 32%)"


def test_a_rate_above_its_band_diverges() -> None:
    """A rate above its limits diverges: the interval of ten in twenty begins at 27 %, above 20 %."""
    done = applied(many(10, 20), RARE)
    assert [verdicts(done).count(word) for word in ("DIVERGES", "CONFORMS")] == [10, 10]
    assert done.outcomes[0].state is EntryState.EXCEEDED
    assert "declares it in at most 20% of checks, and it was seen in 10 of 20 (95% interval 27% to 73%)" in (
        done.results[0].reason
    )


def test_a_rate_below_its_band_is_stale_once() -> None:
    """A rate below its limits makes one answer stale: the interval of none in 200 ends at 1.8 %, below 2 %."""
    done = applied(many(0, 200), RARE)
    assert verdicts(done).count("STALE") == 1
    assert "in at least 2% of checks, and it was seen in 0 of 200 (95% interval 0% to 2%)" in done.results[0].reason


def test_a_rate_that_few_checks_cannot_contradict_is_not_stale() -> None:
    """Few checks cannot make a rate stale: none in three excludes only rates above 71 %."""
    done = applied(many(0, 3), RARE)
    assert (set(verdicts(done)), done.outcomes[0].state) == ({"CONFORMS"}, EntryState.DECLARED)


def test_an_absence_that_does_not_matter_much_gates_only_under_strict() -> None:
    """A missing divergence of severity ``should`` gates only under ``strict``."""
    mild = entry(severity=Severity.SHOULD)
    relaxed = applied([result(ONE)], mild)
    assert (verdicts(relaxed), relaxed.outcomes[0].state) == (["CONFORMS"], EntryState.STALE)
    assert verdicts(applied([result(ONE)], mild, policy=Policy(strict=True))) == ["STALE"]


def test_an_unexpected_entry_seen_too_often_is_exceeded() -> None:
    """Two of two checks (95 %: 16 % to 100 %) exceed a declared tenth, though the entry is not expected."""
    rules = entry(signatures=("rules/queue.x",), rate=ExpectedRate(0.0, 0.1))
    found = divergence("rules/queue.x")
    examined = examine(rules, [result(ONE, found), result(BOTH, found)], RUN, Policy(), ENTRY.added)
    assert examined is not None
    assert (examined.state, examined.seen, examined.missing) == (EntryState.EXCEEDED, (0, 1), ())


@pytest.mark.parametrize(
    ("severity", "strict", "gates"),
    [
        (Severity.MUST, False, True),
        (Severity.SHOULD, False, False),
        (Severity.SHOULD, True, True),
        (Severity.INFO, True, False),
    ],
)
def test_a_stale_entry_gates_by_its_severity(severity: Severity, strict: bool, gates: bool) -> None:
    """A stale entry gates by its severity, like any answer."""
    policy = Policy(strict=strict)
    examined = examine(entry(severity=severity), [result(ONE, divergence())], RUN, policy, ENTRY.added)
    assert examined is not None
    assert examined.gates is gates
