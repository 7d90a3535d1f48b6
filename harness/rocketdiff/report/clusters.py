"""
Groups the divergences of a run by signature, so that a report's length does not depend on the trace's.

A cluster's example is one in which the arms differ visibly, with the fewest attempts of both together, then the earliest send.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from rocketdiff.core.answers.plots import LaneAttempt
from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import CheckResult, Divergence, Example, Severity, Verdict, difficulty
from rocketdiff.core.tables.signatures import gravity


class Weight(StrEnum):
    """
    A cluster's effect on the verdict, most serious first.

    WARNING: its check does not gate. DECLARED: a ledger declares it. VOID: its check is INVALID.
    """

    NEW = "new"
    WARNING = "warning"
    DECLARED = "declared"
    VOID = "void"


@dataclass(frozen=True, slots=True)
class DivergenceCluster:
    """
    All divergences of one check and subject that share a signature.

    fingerprint: equal in every run. count: over all cases. decisions: both arms' attempts at the example's send; empty for a
    statistic. declared_by: ids of ledger entries.
    """

    fingerprint: str
    check: str
    signature: str
    subject: str
    weight: Weight
    severity: Severity
    count: int
    cases: tuple[str, ...]
    example_case: str
    example: Example
    decisions: tuple[LaneAttempt, ...] = ()
    declared_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownEntry:
    """An entry of the shipped ledgers that matches a divergence, in a run judged without them."""

    id: str
    reason: str
    ref: str


@dataclass(frozen=True, slots=True)
class ExampleContext:
    """
    Information beside the example of one cluster.

    explanation: lines of ``rocketdiff explain``. around: both arms' attempts at the example's send and its neighbours. since:
    first release whose rules explain the candidate there; ``before``: the release before it; both empty if not computed or
    not found.
    """

    fingerprint: str
    weight: str
    explanation: tuple[str, ...] = ()
    around: tuple[LaneAttempt, ...] = ()
    known: tuple[KnownEntry, ...] = ()
    since: str = ""
    before: str = ""


def clusters_of(results: Sequence[CheckResult], policy: Policy) -> tuple[DivergenceCluster, ...]:
    """
    Return the clusters: gating ones first, then by importance to a producer's owner, then causes before consequences.

    Only the first difference of a subject in a case is certainly a cause: afterwards the rules follow the subject only
    approximately.
    """
    gathered: defaultdict[tuple[Weight, str, str, str], list[tuple[CheckResult, Divergence]]] = defaultdict(list)
    for result in results:
        for divergence in result.divergences:
            key = (weight_of(result, divergence, policy), result.check, divergence.signature, divergence.subject)
            gathered[key].append((result, divergence))
    order = list(Weight)
    clusters = [_cluster(key[0], members) for key, members in gathered.items()]
    causes = _first_in_their_case(results)

    def place(cluster: DivergenceCluster) -> tuple[int, int, bool, int, str, str, str]:
        is_cause = (cluster.check, cluster.signature, cluster.subject) in causes
        return (
            order.index(cluster.weight),
            gravity(cluster.signature),
            not is_cause,
            -cluster.count,
            cluster.check,
            cluster.signature,
            cluster.subject,
        )

    return tuple(sorted(clusters, key=place))


def _first_in_their_case(results: Sequence[CheckResult]) -> set[tuple[str, str, str]]:
    """(check, signature, subject) of each subject's earliest example in each case."""
    first: dict[tuple[str, str], tuple[int, tuple[str, str, str]]] = {}
    for result in results:
        for shown in result.divergences:
            if not shown.example.where.is_known:
                continue
            where, found = (result.case, shown.subject), (result.check, shown.signature, shown.subject)
            number = shown.example.where.number
            first[where] = min(first.get(where, (number, found)), (number, found))
    return {found for _, found in first.values()}


def weight_of(result: CheckResult, divergence: Divergence, policy: Policy) -> Weight:
    """Return a divergence's effect on the verdict."""
    if result.verdict is Verdict.INVALID:
        return Weight.VOID
    if divergence.declared_by or result.verdict is Verdict.DECLARED:
        return Weight.DECLARED
    return Weight.NEW if policy.gates(result) else Weight.WARNING


def _cluster(weight: Weight, members: Sequence[tuple[CheckResult, Divergence]]) -> DivergenceCluster:
    candidates = [(result, shown, _decisions(shown.example)) for result, shown in members]
    result, shown, decisions = min(
        candidates, key=lambda c: (not c[2], difficulty(c[1].example.sides), c[1].example.where.number, c[0].case)
    )
    return DivergenceCluster(
        fingerprint=fingerprint(result.check, shown.signature, shown.subject),
        check=result.check,
        signature=shown.signature,
        subject=shown.subject,
        weight=weight,
        severity=result.severity,
        count=sum(divergence.count for _, divergence in members),
        cases=tuple(dict.fromkeys(member.case for member, _ in members)),
        example_case=result.case,
        example=shown.example,
        decisions=decisions,
        declared_by=tuple(dict.fromkeys(member.declared_by for _, member in members if member.declared_by)),
    )


def fingerprint(check: str, signature: str, subject: str) -> str:
    """Return twelve hexadecimal digits that identify a cluster in every run."""
    return sha256(f"{check}\n{signature}\n{subject}".encode()).hexdigest()[:12]


def _decisions(example: Example) -> tuple[LaneAttempt, ...]:
    made = (attempt for side in example.sides for attempt in side.attempts)
    return tuple(sorted(made, key=lambda attempt: (attempt.arm, attempt.attempt)))
