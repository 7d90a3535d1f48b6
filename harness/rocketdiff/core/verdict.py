"""Checks and verdicts: one question asked of a case, and its answer."""

from dataclasses import dataclass, field
from enum import StrEnum


class Verdict(StrEnum):
    """Answer to a check, in order of dominance: the first of several wins."""

    ERROR = "ERROR"
    DIVERGES = "DIVERGES"
    STALE = "STALE"
    INVALID = "INVALID"
    INCONCLUSIVE = "INCONCLUSIVE"
    NOT_APPLICABLE = "NOT_APPLICABLE"
    DECLARED = "DECLARED"
    EQUIVALENT = "EQUIVALENT"
    CONFORMS = "CONFORMS"


DECISIVE = frozenset({Verdict.DIVERGES, Verdict.DECLARED, Verdict.STALE, Verdict.EQUIVALENT, Verdict.CONFORMS})
"""Verdicts that say something about the subjects rather than about the run."""


def dominant(verdicts: "list[Verdict]") -> Verdict:
    """Merge verdicts; none at all is INCONCLUSIVE, never a pass."""
    order = list(Verdict)
    return min(verdicts, key=order.index, default=Verdict.INCONCLUSIVE)


class Severity(StrEnum):
    """Only ``must`` gates by default; ``--strict`` adds ``should``."""

    MUST = "must"
    SHOULD = "should"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Example:
    """
    One concrete place where a signature was seen.

    expected and observed are sentences for people; detail is for machines (queues, states, times in ns).
    """

    send: int
    thread: int
    attempt: int | None
    phase: str
    expected: str
    observed: str
    detail: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Divergence:
    """
    All differences of one check and one subject that share a signature, with one minimal example.

    declared_by: id of the ledger's entry that declares it; empty when none does.
    """

    signature: str
    subject: str
    count: int
    example: Example
    declared_by: str = ""


@dataclass(frozen=True, slots=True)
class Measure:
    """A number with its unit, sample size and, where it has one, its interval at the stated confidence."""

    name: str
    value: float
    unit: str
    n: int
    low: float | None = None
    high: float | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The answer to one check of one case."""

    case: str
    check: str
    verdict: Verdict
    severity: Severity = Severity.MUST
    reason: str = ""
    divergences: tuple[Divergence, ...] = ()
    measures: tuple[Measure, ...] = ()
