"""Which word and exit code a set of answers adds up to: section 2.1 and 2.2 of the verdict specification."""

import pytest

from rocketdiff.core.answers.policy import Inconclusive, Policy
from rocketdiff.core.answers.verdict import CheckResult, Severity, Verdict
from rocketdiff.verdict.judge import EXIT_CODE, RunVerdict, conclude

FAIL, WARN, PASS = (Policy(inconclusive) for inconclusive in Inconclusive)
STRICT = Policy(strict=True)


def result(verdict: str, severity: Severity = Severity.MUST, check: str = "queue-choice") -> CheckResult:
    return CheckResult("case", check, Verdict(verdict), severity)


def concluded(results: list[CheckResult], policy: Policy = FAIL) -> tuple[str, int]:
    word, _ = conclude(results, policy)
    return str(word), int(EXIT_CODE[word])


@pytest.mark.parametrize(
    ("verdicts", "word", "code"),
    [
        (["CONFORMS"], "conforms", 0),
        (["EQUIVALENT"], "conforms", 0),
        (["DECLARED", "NOT_APPLICABLE"], "conforms", 0),
        (["CONFORMS", "DIVERGES"], "diverges", 1),
        (["DIVERGES", "INVALID", "STALE", "INCONCLUSIVE"], "diverges", 1),
        (["CONFORMS", "INCONCLUSIVE"], "inconclusive", 2),
        (["CONFORMS", "INVALID", "INCONCLUSIVE"], "invalid", 2),
        (["CONFORMS", "STALE"], "stale", 3),
        (["STALE", "INCONCLUSIVE"], "inconclusive", 2),
        (["STALE", "INVALID"], "invalid", 2),
        (["NOT_APPLICABLE"], "nothing-decisive", 5),
        ([], "nothing-decisive", 5),
        (["INCONCLUSIVE"], "inconclusive", 2),
        (["DIVERGES", "ERROR"], "error", 70),
    ],
)
def test_word_and_exit_code_of_gating_answers(verdicts: list[str], word: str, code: int) -> None:
    """Every combination of section 2.2 has one word and one code."""
    assert concluded([result(verdict) for verdict in verdicts]) == (word, code)


@pytest.mark.parametrize("policy", [WARN, PASS])
def test_an_inconclusive_check_does_not_fail_a_pull_request(policy: Policy) -> None:
    """Under warn and pass a decisive check beside it is enough for 0."""
    assert concluded([result("CONFORMS"), result("INCONCLUSIVE")], policy) == ("conforms", 0)


@pytest.mark.parametrize("policy", [WARN, PASS])
def test_inconclusive_checks_alone_are_never_a_pass(policy: Policy) -> None:
    """Nothing decisive ran is 5, however lenient the policy."""
    assert concluded([result("INCONCLUSIVE")], policy) == ("nothing-decisive", 5)


@pytest.mark.parametrize("policy", [FAIL, WARN, PASS, STRICT])
def test_an_invalid_check_is_never_excused(policy: Policy) -> None:
    """A broken set-up is exit 2 under every policy."""
    assert concluded([result("CONFORMS"), result("INVALID")], policy) == ("invalid", 2)


def test_a_should_check_without_enough_episodes_leaves_a_run_conforming() -> None:
    """The pooled must check gates; a case's own statistics do not."""
    answers = [result("CONFORMS"), result("INCONCLUSIVE", Severity.SHOULD), result("INCONCLUSIVE", Severity.INFO)]
    assert concluded(answers) == ("conforms", 0)


def test_strict_lets_should_checks_gate_and_info_ones_never() -> None:
    """--strict adds should, not info."""
    should, info = result("DIVERGES", Severity.SHOULD), result("DIVERGES", Severity.INFO)
    assert concluded([result("CONFORMS"), should]) == ("conforms", 0)
    assert concluded([result("CONFORMS"), should], STRICT) == ("diverges", 1)
    assert concluded([result("CONFORMS"), info], STRICT) == ("conforms", 0)


def test_an_error_of_ours_fails_whatever_its_check_is_worth() -> None:
    """ERROR in an info check is still our own fault."""
    assert concluded([result("CONFORMS"), result("ERROR", Severity.INFO)]) == ("error", 70)


@pytest.mark.parametrize("check", ["validity", "protocol"])
def test_a_valid_run_that_asked_nothing_is_not_a_pass(check: str) -> None:
    """Validity and protocol say that a run can be judged, not how a client behaves."""
    assert concluded([result("CONFORMS", check=check)]) == ("nothing-decisive", 5)


def test_a_divergence_of_the_protocol_gates() -> None:
    """A subject that answers twice diverges."""
    assert concluded([result("DIVERGES", check="protocol")]) == ("diverges", 1)


def test_counts_are_of_gating_checks_and_checks_is_of_all() -> None:
    """A should divergence is not new=1; an INVALID check has no answer either; info checks are no part of the gate."""
    results = [result(verdict) for verdict in ("DIVERGES", "DECLARED", "STALE", "INCONCLUSIVE", "INVALID", "CONFORMS")]
    results += [result("DIVERGES", Severity.SHOULD), result("INCONCLUSIVE", Severity.SHOULD)]
    results += [result("INCONCLUSIVE", Severity.INFO), result("NOT_APPLICABLE")]
    _, counts = conclude(results, FAIL, planned=9, unanswered=1)
    assert (counts.new, counts.declared, counts.stale, counts.inconclusive) == (1, 1, 1, 2)
    assert (counts.checks, counts.planned, counts.unanswered) == (9, 9, 1)
    assert (counts.answered, counts.gating, counts.ungated) == (5, 9, 1)


def test_every_word_has_an_exit_code() -> None:
    """No verdict of a run is without one."""
    assert set(EXIT_CODE) == set(RunVerdict)
