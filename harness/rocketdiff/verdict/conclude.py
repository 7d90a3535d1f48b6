"""Many answers, one verdict: which of them gate, what dominates, and when there was nothing to go by."""

from collections import Counter
from collections.abc import Sequence

from rocketdiff.core.checks import ABOUT_THE_RUN
from rocketdiff.core.policy import Inconclusive, Policy
from rocketdiff.core.verdict import DECISIVE, CheckResult, Severity, Verdict
from rocketdiff.verdict.judgement import Counts, RunVerdict

WITHOUT_ANSWER = frozenset({Verdict.INCONCLUSIVE, Verdict.INVALID})
"""Verdicts that leave a question open."""


def conclude(
    results: Sequence[CheckResult], policy: Policy, *, planned: int = 0, unanswered: int = 0
) -> tuple[RunVerdict, Counts]:
    """
    Verdict and counts of a run; ``unanswered`` of the results stand for planned checks that never ran.

    ERROR, then DIVERGES, dominate. STALE names the run only when nothing gating is left without an answer: its exit
    code promises that repairing the ledger is enough.
    """
    gating = [result for result in results if policy.gates(result)]
    seen = Counter(result.verdict for result in gating)
    asked = [result for result in results if result.severity is not Severity.INFO or policy.gates(result)]
    counts = Counts(
        new=seen[Verdict.DIVERGES],
        declared=seen[Verdict.DECLARED],
        stale=seen[Verdict.STALE],
        inconclusive=seen[Verdict.INCONCLUSIVE] + seen[Verdict.INVALID],
        checks=len(results) - unanswered,
        planned=planned,
        unanswered=unanswered,
        answered=sum(result.verdict in DECISIVE for result in asked),
        gating=len(asked),
        ungated=sum(result.verdict in WITHOUT_ANSWER and not policy.gates(result) for result in asked),
    )
    return _word(gating, seen, policy), counts


def _word(gating: Sequence[CheckResult], seen: Counter[Verdict], policy: Policy) -> RunVerdict:
    inconclusive_fails = policy.inconclusive is Inconclusive.FAIL
    decisive = any(result.verdict in DECISIVE and result.check not in ABOUT_THE_RUN for result in gating)
    reasons = (
        (bool(seen[Verdict.ERROR]), RunVerdict.ERROR),
        (bool(seen[Verdict.DIVERGES]), RunVerdict.DIVERGES),
        (bool(seen[Verdict.INVALID]), RunVerdict.INVALID),
        (bool(seen[Verdict.INCONCLUSIVE]) and inconclusive_fails, RunVerdict.INCONCLUSIVE),
        (bool(seen[Verdict.STALE]), RunVerdict.STALE),
        (not decisive, RunVerdict.NOTHING_DECISIVE),
    )
    return next((word for holds, word in reasons if holds), RunVerdict.CONFORMS)
