"""Checks and verdicts: a question about a case, and its answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from rocketdiff.core.answers.plots import LaneAttempt
from rocketdiff.core.answers.where import Where


class Verdict(StrEnum):
    """Answer to a check, in order of dominance."""

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
"""Verdicts about the subjects rather than about the run."""


def dominant(verdicts: "list[Verdict]") -> Verdict:
    """Return the dominant verdict; INCONCLUSIVE for an empty list."""
    order = list(Verdict)
    return min(verdicts, key=order.index, default=Verdict.INCONCLUSIVE)


class Severity(StrEnum):
    """``must`` gates by default; ``--strict`` adds ``should``."""

    MUST = "must"
    SHOULD = "should"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class StoredAt:
    """Position of one stored copy of a message."""

    broker: str
    queue_id: int
    queue_offset: int


@dataclass(frozen=True, slots=True)
class CallEnd:
    """End of the application's call in one arm; None for what was not reported."""

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
    """One arm at an example's send. call: None if it never returned. stored: None if unknown."""

    arm: str
    attempts: tuple[LaneAttempt, ...] = ()
    call: CallEnd | None = None
    stored: tuple[StoredAt, ...] | None = None

    @property
    def choices(self) -> tuple[object, ...]:
        """What a reader sees: the queue and outcome of each attempt, how the call ended, and where it is stored. No times."""
        call = self.call or CallEnd()
        attempts = tuple((made.broker, made.queue_id, made.outcome) for made in self.attempts)
        stored = None if self.stored is None else tuple((copy.broker, copy.queue_id) for copy in self.stored)
        return attempts, call.outcome, call.error, call.status, stored


def are_alike(sides: Sequence[SideExample]) -> bool:
    """Whether the arms of an example decided alike, so that only what went before tells them apart."""
    return len(sides) > 1 and len({side.choices for side in sides}) == 1


def difficulty(sides: Sequence[SideExample]) -> int:
    """
    Return how hard an example is to follow, less is easier: its attempts.

    One in which the arms decide alike comes after all others.
    """
    return sum(len(side.attempts) for side in sides) + (_ALIKE if are_alike(sides) else 0)


_ALIKE = 1_000
"""More than the attempts of any send."""


@dataclass(frozen=True, slots=True)
class Example:
    """
    One concrete occurrence of a signature.

    where: its place in the case.
    expected, observed: sentences for people.
    figures: further facts for machines (queues, states, times in ns); any JSON values.
    sides: each arm there, baseline first; empty for a statistic.
    """

    where: Where
    phase: str
    expected: str
    observed: str
    figures: dict[str, object] = field(default_factory=dict)
    run: str = ""
    sides: tuple[SideExample, ...] = ()


@dataclass(frozen=True, slots=True)
class Divergence:
    """
    All differences of one check and one subject with the same signature, and one minimal example.

    declared_by: id of the declaring ledger entry, or empty.
    """

    signature: str
    subject: str
    count: int
    example: Example
    declared_by: str = ""


@dataclass(frozen=True, slots=True)
class Measure:
    """A number with unit, sample size and optional interval."""

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
