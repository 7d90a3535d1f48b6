"""Verdict and exit code of a run from its answers."""

from dataclasses import astuple

import pytest

from rocketdiff.core.answers.policy import Inconclusive, Policy
from rocketdiff.core.answers.verdict import CheckResult, Severity, Verdict
from rocketdiff.verdict.judge import EXIT_CODE, Counts, RunVerdict, conclude

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


@pytest.mark.parametrize(
    ("answers", "policies", "word", "code"),
    [
        (["CONFORMS", "INCONCLUSIVE"], [WARN, PASS], "conforms", 0),
        (["INCONCLUSIVE"], [WARN, PASS], "nothing-decisive", 5),
        (["CONFORMS", "INVALID"], [FAIL, WARN, PASS, STRICT], "invalid", 2),
        (["CONFORMS", "INCONCLUSIVE should", "INCONCLUSIVE info"], [FAIL], "conforms", 0),
        (["CONFORMS", "DIVERGES should"], [FAIL], "conforms", 0),
        (["CONFORMS", "DIVERGES should"], [STRICT], "diverges", 1),
        (["CONFORMS", "DIVERGES info"], [STRICT], "conforms", 0),
        (["CONFORMS", "ERROR info"], [FAIL], "error", 70),
    ],
)
def test_policy_and_severity_decide_word_and_exit_code(
    answers: list[str], policies: list[Policy], word: str, code: int
) -> None:
    """
    Under warn and pass inconclusive checks do not fail a run, but are never a pass alone; INVALID fails under every policy.

    ``--strict`` lets SHOULD checks gate, but not INFO; an ERROR fails whatever its check's severity.
    """
    results = [
        result(verdict, Severity(severity or "must"))
        for verdict, _, severity in (one.partition(" ") for one in answers)
    ]
    for policy in policies:
        assert concluded(results, policy) == (word, code)


@pytest.mark.parametrize(
    ("verdict", "check", "word", "code"),
    [
        ("CONFORMS", "validity", "nothing-decisive", 5),
        ("CONFORMS", "protocol", "nothing-decisive", 5),
        ("DIVERGES", "protocol", "diverges", 1),
    ],
)
def test_checks_of_the_run_decide_nothing(verdict: str, check: str, word: str, code: int) -> None:
    """Passed validity and protocol checks alone are nothing decisive; a protocol divergence gates."""
    assert concluded([result(verdict, check=check)]) == (word, code)


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


@pytest.mark.parametrize(
    ("verdict", "severity", "gating", "answered", "ungated"),
    [
        ("ERROR", Severity.INFO, 1, 0, 0),
        ("DIVERGES", Severity.INFO, 0, 0, 0),
        ("INVALID", Severity.SHOULD, 1, 0, 1),
        ("INCONCLUSIVE", Severity.SHOULD, 1, 0, 1),
        ("NOT_APPLICABLE", Severity.SHOULD, 1, 0, 0),
        ("EQUIVALENT", Severity.SHOULD, 1, 1, 0),
        ("INVALID", Severity.MUST, 1, 0, 0),
    ],
)
def test_gating_answered_and_ungated_checks_are_counted(
    verdict: str, severity: Severity, gating: int, answered: int, ungated: int
) -> None:
    """An ERROR always gates; INFO answers are not counted."""
    _, counts = conclude([result(verdict, severity)], Policy())
    assert (counts.gating, counts.answered, counts.ungated) == (gating, answered, ungated)


def test_without_a_plan_no_check_is_unanswered() -> None:
    """Without a plan no check is planned or unanswered."""
    _, counts = conclude([result("CONFORMS")], Policy())
    assert (counts.checks, counts.planned, counts.unanswered) == (1, 0, 0)
    assert astuple(Counts()) == (0,) * 10
