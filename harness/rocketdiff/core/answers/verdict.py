"""Checks and verdicts: one question asked of a case, and its answer."""

from dataclasses import dataclass, field
from enum import StrEnum

from rocketdiff.core.answers.plots import LaneAttempt


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
class StoredAt:
    """Where one copy of a message lies."""

    broker: str
    queue_id: int
    queue_offset: int


@dataclass(frozen=True, slots=True)
class CallEnd:
    """How the call of the application ended in one arm; None where that was not told."""

    outcome: str | None = None
    reason: str | None = None
    error: str | None = None
    cause: str | None = None
    code: int | None = None
    status: str | None = None
    broker: str | None = None
    queue_id: int | None = None
    queue_offset: int | None = None
    elapsed_ms: float | None = None


@dataclass(frozen=True, slots=True)
class SideExample:
    """What one arm did at an example's send; call: None if it never returned. stored: None if nobody can tell."""

    arm: str
    attempts: tuple[LaneAttempt, ...] = ()
    call: CallEnd | None = None
    stored: tuple[StoredAt, ...] | None = None


NO_SEND = -1
"""``send`` of an example that is about no single send."""


@dataclass(frozen=True, slots=True)
class Example:
    """
    One concrete place where a signature was seen.

    expected and observed are sentences for people. run, sides: the run it is of and what each arm did at the send,
    baseline first; none where it is a statistic. figures: what else the check has to say, for machines (queues, states,
    times in ns); any JSON values.
    """

    send: int
    thread: int
    attempt: int | None
    phase: str
    expected: str
    observed: str
    figures: dict[str, object] = field(default_factory=dict)
    run: str = ""
    sides: tuple[SideExample, ...] = ()


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
