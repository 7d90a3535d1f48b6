"""Strictness of the gate: what an inconclusive check does, and whether ``should`` checks gate."""

from dataclasses import dataclass
from enum import StrEnum

from rocketdiff.core.answers.verdict import CheckResult, Severity, Verdict
from rocketdiff.core.errors import UsageError


class Inconclusive(StrEnum):
    """
    Effect of an INCONCLUSIVE gating check.

    FAIL: exit 2 (a protected branch). WARN: the report shows it prominently (a pull request). PASS: none. INVALID is
        exit 2 under all three: a broken set-up is never excused.
    """

    FAIL = "fail"
    WARN = "warn"
    PASS = "pass"  # noqa: S105 - a way to gate, not a password


@dataclass(frozen=True, slots=True)
class Policy:
    """The user's choice, recorded in the report because the verdict depends on it."""

    inconclusive: Inconclusive = Inconclusive.FAIL
    strict: bool = False

    def gates(self, result: CheckResult) -> bool:
        """True if the result may fail the run; an ERROR always does."""
        if result.verdict is Verdict.ERROR or result.severity is Severity.MUST:
            return True
        return self.strict and result.severity is Severity.SHOULD


def policy_of(inconclusive: str, *, strict: bool) -> Policy:
    """The gating policy from the options."""
    try:
        return Policy(inconclusive=Inconclusive(inconclusive), strict=strict)
    except ValueError as error:
        raise UsageError("--inconclusive fail, warn or pass", seen=inconclusive) from error
