"""
Small, finished tables for the pictures of a report: aggregates and samples only, so that a page stays a page.

Times on an axis are milliseconds since the first due send of the case; ``arm`` is ``baseline`` or ``candidate``.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FaultWindow:
    """A shaded stretch of a picture; end_ms is None when the fault was never healed."""

    episode: int
    kind: str
    node: str
    start_ms: float
    end_ms: float | None


@dataclass(frozen=True, slots=True)
class LaneAttempt:
    """One bar of a swim lane."""

    arm: str
    thread: int
    send: int
    attempt: int
    broker: str
    queue_id: int
    start_ms: float
    end_ms: float
    outcome: str
    reason: str


@dataclass(frozen=True, slots=True)
class LaneMark:
    """An example's send inside a window of a swim lane: whose send it is, and what was found there."""

    arm: str
    thread: int
    send: int
    signature: str


@dataclass(frozen=True, slots=True)
class SwimLanes:
    """
    One window of one case: the attempts around an example, or around the first episode where nothing was found.

    marks: the examples it shows; none where nothing was found. left_out: attempts of the case that are outside it.
    """

    run: str
    case: str
    attempts: tuple[LaneAttempt, ...]
    faults: tuple[FaultWindow, ...]
    left_out: int
    marks: tuple[LaneMark, ...] = ()


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """Attempts of one arm on one broker by step of time: those that were stored, and all others."""

    arm: str
    broker: str
    stored: tuple[int, ...]
    other: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """A whole case in small, in steps of ``step_ms`` from the first due send on."""

    run: str
    case: str
    step_ms: float
    rows: tuple[OverviewRow, ...]
    faults: tuple[FaultWindow, ...]


@dataclass(frozen=True, slots=True)
class FailoverCurve:
    """
    Share of episodes that had failed over after a time (Kaplan–Meier, so censored episodes count while seen).

    sample: which of the check's samples this is. judged: whether the verdict rests on it.
    """

    pool: str
    arm: str
    points: tuple[tuple[float, float], ...]
    episodes: int
    censored: int
    sample: str = ""
    judged: bool = True


@dataclass(frozen=True, slots=True)
class FailoverEndings:
    """
    How the episodes that both arms met ended: how many each left for another broker, and in how many only one did.

    pool, check: the row of answers it belongs to.
    """

    pool: str
    check: str
    episodes: int
    baseline: int
    candidate: int
    baseline_only: int
    candidate_only: int


@dataclass(frozen=True, slots=True)
class BrokerShare:
    """Attempts that went to one broker in one phase (calm, paused, after) of one arm."""

    run: str
    case: str
    arm: str
    phase: str
    broker: str
    attempts: int
    share: float


@dataclass(frozen=True, slots=True)
class AmbiguityCurve:
    """Mean share of queues the rules allowed, over time: how much the oracle knew."""

    run: str
    case: str
    arm: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class ElapsedQuantiles:
    """Duration of sends of one phase of one arm; p99_ms is None under 100 sends, where it would be an invention."""

    run: str
    case: str
    arm: str
    phase: str
    sends: int
    p50_ms: float
    p95_ms: float
    p99_ms: float | None
    max_ms: float


@dataclass(frozen=True, slots=True)
class Plots:
    """Everything a report draws."""

    lanes: tuple[SwimLanes, ...] = ()
    failover: tuple[FailoverCurve, ...] = ()
    shares: tuple[BrokerShare, ...] = ()
    ambiguity: tuple[AmbiguityCurve, ...] = ()
    elapsed: tuple[ElapsedQuantiles, ...] = ()
    overviews: tuple[Overview, ...] = ()
    endings: tuple[FailoverEndings, ...] = ()
