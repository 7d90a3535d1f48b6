"""How strict the gate is: what to do about checks without an answer, and whether ``should`` checks gate."""

from dataclasses import dataclass
from enum import StrEnum

from rocketdiff.core.answers.verdict import CheckResult, Severity, Verdict


class Inconclusive(StrEnum):
    """
    What an INCONCLUSIVE gating check does to the exit code.

    FAIL: exit 2 (a protected branch). WARN: no effect, but the report says so in the open (a pull request). PASS: no
    effect. An INVALID check is exit 2 under all three: a broken set-up is never excused.
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
        """Whether the result may fail the run; an ERROR always does, whatever its check is worth."""
        if result.verdict is Verdict.ERROR or result.severity is Severity.MUST:
            return True
        return self.strict and result.severity is Severity.SHOULD
