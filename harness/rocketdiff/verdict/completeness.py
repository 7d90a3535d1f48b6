"""Executed checks must equal planned checks: what was planned and never answered is INVALID, by name."""

from collections import Counter
from collections.abc import Iterable, Sequence

from rocketdiff.core.verdict import CheckResult, Severity, Verdict


def unanswered(planned: Iterable[tuple[str, str]], results: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
    """One INVALID ``must`` result for every planned (case, check) without a result, in the order of the plan."""
    answered = Counter((result.case, result.check) for result in results)
    missing = Counter(planned) - answered
    return tuple(
        CheckResult(
            case=case,
            check=check,
            verdict=Verdict.INVALID,
            severity=Severity.MUST,
            reason="planned but never answered: the run or its analysis ended before this check",
        )
        for (case, check), times in missing.items()
        for _ in range(times)
    )
