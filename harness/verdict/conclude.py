"""Many answers, one verdict: which of them gate, what dominates, and when there was nothing to go by."""

from collections import Counter
from collections.abc import Sequence

from harness.core.verdict import DECISIVE, CheckResult, Verdict
from harness.verdict.judgement import Counts, RunVerdict
from harness.verdict.policy import Inconclusive, Policy

ABOUT_THE_RUN = frozenset({"protocol", "validity"})
"""Checks that say a run can be judged; their passing shows nothing about how a client behaves."""


def conclude(
    results: Sequence[CheckResult], policy: Policy, *, executed: int, planned: int
) -> tuple[RunVerdict, Counts]:
    """
    Verdict and counts of a run.

    ERROR, then DIVERGES, dominate. STALE names the run only when nothing gating is left without an answer: its exit
    code promises that repairing the ledger is enough.
    """
    gating = [result for result in results if policy.gates(result)]
    seen = Counter(result.verdict for result in gating)
    counts = Counts(
        new=seen[Verdict.DIVERGES],
        declared=seen[Verdict.DECLARED],
        stale=seen[Verdict.STALE],
        inconclusive=seen[Verdict.INCONCLUSIVE] + seen[Verdict.INVALID],
        checks=executed,
        planned=planned,
    )
    return _word(gating, seen, policy), counts


def _word(gating: Sequence[CheckResult], seen: Counter[Verdict], policy: Policy) -> RunVerdict:
    if seen[Verdict.ERROR]:
        return RunVerdict.ERROR
    if seen[Verdict.DIVERGES]:
        return RunVerdict.DIVERGES
    if seen[Verdict.INVALID]:
        return RunVerdict.INVALID
    if seen[Verdict.INCONCLUSIVE] and policy.inconclusive is Inconclusive.FAIL:
        return RunVerdict.INCONCLUSIVE
    if seen[Verdict.STALE]:
        return RunVerdict.STALE
    if not any(result.verdict in DECISIVE and result.check not in ABOUT_THE_RUN for result in gating):
        return RunVerdict.NOTHING_DECISIVE
    return RunVerdict.CONFORMS
