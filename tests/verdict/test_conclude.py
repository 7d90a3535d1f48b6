"""Verdict and exit code of a run from its answers."""

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
    """Each combination of gating verdicts has one word and one exit code."""
    assert concluded([result(verdict) for verdict in verdicts]) == (word, code)


@pytest.mark.parametrize("policy", [WARN, PASS])
def test_an_inconclusive_check_does_not_fail_a_pull_request(policy: Policy) -> None:
    """Under warn and pass, an inconclusive check beside a decisive one exits with 0."""
    assert concluded([result("CONFORMS"), result("INCONCLUSIVE")], policy) == ("conforms", 0)


@pytest.mark.parametrize("policy", [WARN, PASS])
def test_inconclusive_checks_alone_are_never_a_pass(policy: Policy) -> None:
    """Under warn and pass, inconclusive checks alone exit with 5, because nothing decisive ran."""
    assert concluded([result("INCONCLUSIVE")], policy) == ("nothing-decisive", 5)


@pytest.mark.parametrize("policy", [FAIL, WARN, PASS, STRICT])
def test_an_invalid_check_is_never_excused(policy: Policy) -> None:
    """An INVALID check exits with 2 under every policy."""
    assert concluded([result("CONFORMS"), result("INVALID")], policy) == ("invalid", 2)


def test_a_should_check_without_enough_episodes_leaves_a_run_conforming() -> None:
    """Inconclusive SHOULD and INFO checks leave a run conforming."""
    answers = [result("CONFORMS"), result("INCONCLUSIVE", Severity.SHOULD), result("INCONCLUSIVE", Severity.INFO)]
    assert concluded(answers) == ("conforms", 0)


def test_strict_lets_should_checks_gate_and_info_ones_never() -> None:
    """``--strict`` lets SHOULD checks gate, but not INFO."""
    should, info = result("DIVERGES", Severity.SHOULD), result("DIVERGES", Severity.INFO)
    assert concluded([result("CONFORMS"), should]) == ("conforms", 0)
    assert concluded([result("CONFORMS"), should], STRICT) == ("diverges", 1)
    assert concluded([result("CONFORMS"), info], STRICT) == ("conforms", 0)


def test_an_error_of_ours_fails_whatever_its_check_is_worth() -> None:
    """An ERROR exits with 70 even in an INFO check."""
    assert concluded([result("CONFORMS"), result("ERROR", Severity.INFO)]) == ("error", 70)


@pytest.mark.parametrize("check", ["validity", "protocol"])
def test_a_valid_run_that_asked_nothing_is_not_a_pass(check: str) -> None:
    """Passed validity and protocol checks alone are nothing decisive."""
    assert concluded([result("CONFORMS", check=check)]) == ("nothing-decisive", 5)


def test_a_divergence_of_the_protocol_gates() -> None:
    """A protocol divergence gates."""
    assert concluded([result("DIVERGES", check="protocol")]) == ("diverges", 1)


def test_counts_are_of_gating_checks_and_checks_is_of_all() -> None:
    """``checks`` counts all checks, the other counts only gating ones; INVALID counts as inconclusive."""
    results = [result(verdict) for verdict in ("DIVERGES", "DECLARED", "STALE", "INCONCLUSIVE", "INVALID", "CONFORMS")]
    results += [result("DIVERGES", Severity.SHOULD), result("INCONCLUSIVE", Severity.SHOULD)]
    results += [result("INCONCLUSIVE", Severity.INFO), result("NOT_APPLICABLE")]
    _, counts = conclude(results, FAIL, planned=9, unanswered=1)
    assert (counts.new, counts.declared, counts.stale, counts.inconclusive) == (1, 1, 1, 2)
    assert (counts.checks, counts.planned, counts.unanswered) == (9, 9, 1)
    assert (counts.answered, counts.gating, counts.ungated) == (5, 9, 1)


def test_every_word_has_an_exit_code() -> None:
    """Every verdict of a run has an exit code."""
    assert set(EXIT_CODE) == set(RunVerdict)
