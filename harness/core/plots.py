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
class SwimLanes:
    """Attempts of one case around its first episode; ``left_out`` attempts of the case are not drawn."""

    run: str
    case: str
    attempts: tuple[LaneAttempt, ...]
    faults: tuple[FaultWindow, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class FailoverCurve:
    """Share of episodes that had failed over after a time (Kaplan–Meier, so censored episodes count while seen)."""

    pool: str
    arm: str
    points: tuple[tuple[float, float], ...]
    episodes: int
    censored: int


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
