"""The ledger applied to answers: what is declared, stale or not excused."""

from collections import Counter
from datetime import date

import pytest

from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import CheckResult, Severity, Verdict
from rocketdiff.ledger.apply import Applied, apply_ledger, examine
from rocketdiff.ledger.model import Conditions, Entry, EntryState, ExpectedRate, Ledger, Party
from tests.ledger.ledger_entries import BOTH, ENTRY, ONE, PAIR, RUN, divergence, entry, result

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


def test_a_declared_divergence_does_not_hide_another_in_the_same_check() -> None:
    """A check with another divergence beside the declared one diverges."""
    done = applied([result(ONE, divergence(), divergence("avoidance.other")), result(BOTH, divergence())], ENTRY)
    assert verdicts(done) == ["DIVERGES", "DECLARED"]
    assert [found.declared_by for found in done.results[0].divergences] == ["K16", ""]


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


@pytest.mark.parametrize(
    ("diverging", "of", "counted", "state", "text"),
    [
        (2, 20, {"DECLARED": 2, "CONFORMS": 18}, EntryState.DECLARED, "seen in 2 of 20 decisive checks (95% interval 1% to 32%)"),
        (10, 20, {"DIVERGES": 10, "CONFORMS": 10}, EntryState.EXCEEDED, "at most 20% of checks, and it was seen in 10 of 20 (95% interval 27% to 73%)"),
        (0, 200, {"STALE": 1, "CONFORMS": 199}, EntryState.STALE, "at least 2% of checks, and it was seen in 0 of 200 (95% interval 0% to 2%)"),
        (0, 3, {"CONFORMS": 3}, EntryState.DECLARED, ""),
    ],
)  # fmt: skip
def test_a_rate_is_compared_with_its_limits(
    diverging: int, of: int, counted: dict[str, int], state: EntryState, text: str
) -> None:
    """
    A rate above 20 % diverges, one below 2 % makes a single answer stale, if its interval excludes the limit.

    None in 200 is at most 1.8 %; none in three excludes only rates above 71 %.
    """
    done = applied(many(diverging, of), entry(rate=ExpectedRate(0.02, 0.20)))
    assert (Counter(verdicts(done)), done.outcomes[0].state) == (counted, state)
    assert text in f"{done.results[0].reason} {done.outcomes[0].seen_text}"


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
