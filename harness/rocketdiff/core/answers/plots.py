"""
Data of a report's plots: aggregates and samples only, to keep the page small.

Times are milliseconds since the first due send of the case; ``arm`` is ``baseline`` or ``candidate``.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.core.units import NS_PER_MS


@dataclass(frozen=True, slots=True)
class FaultWindow:
    """A shaded time span of a plot; end_ms is None if the fault was never healed. during: the node's state in words."""

    episode: int
    kind: str
    node: str
    start_ms: float
    end_ms: float | None
    during: str = ""

    @classmethod
    def of(cls, fault: FaultRecord, origin_ns: int) -> Self:
        healed_ms = None if fault.healed_ns is None else (fault.healed_ns - origin_ns) / NS_PER_MS
        start_ms = (fault.inject_ns - origin_ns) / NS_PER_MS
        return cls(fault.episode, str(fault.kind), fault.node, start_ms, healed_ms, fault.during)


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
    """An example's send in a swim lane window, and its signature."""

    arm: str
    thread: int
    send: int
    signature: str


@dataclass(frozen=True, slots=True)
class SwimLanes:
    """
    The attempts around an example, or around the first episode if nothing was found.

    left_out: number of attempts of the case outside this window.
    """

    run: str
    case: str
    attempts: tuple[LaneAttempt, ...]
    faults: tuple[FaultWindow, ...]
    left_out: int
    marks: tuple[LaneMark, ...] = ()


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """Attempts of one arm on one broker per time step, stored and others."""

    arm: str
    broker: str
    stored: tuple[int, ...]
    other: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """A whole case in steps of ``step_ms``, starting at the first due send."""

    run: str
    case: str
    step_ms: float
    rows: tuple[OverviewRow, ...]
    faults: tuple[FaultWindow, ...]


@dataclass(frozen=True, slots=True)
class FailoverCurve:
    """
    Share of episodes that had failed over after a time (Kaplan–Meier; a censored episode counts while observed).

    judged: the verdict is based on it.
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
    """Failovers per arm over the episodes that both arms met, and episodes in which only one failed over."""

    pool: str
    check: str
    episodes: int
    baseline: int
    candidate: int
    baseline_only: int
    candidate_only: int


@dataclass(frozen=True, slots=True)
class BrokerShare:
    """One arm's attempts on one broker in one phase (calm, paused, after)."""

    run: str
    case: str
    arm: str
    phase: str
    broker: str
    attempts: int
    share: float


@dataclass(frozen=True, slots=True)
class AmbiguityCurve:
    """Mean share of queues that the rules allowed, over time."""

    run: str
    case: str
    arm: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class ElapsedQuantiles:
    """Duration of one arm's sends in one phase; p99_ms is None under 100 sends, too few to estimate it."""

    run: str
    case: str
    arm: str
    phase: str
    sends: int
    p50_ms: float
    p95_ms: float
    p99_ms: float | None
    max_ms: float


class Work(StrEnum):
    """
    What a bar of a group's timeline shows: a tenure of a queue, or calls that ended alike.

    AGAIN: a message that this group had been given before, in a call that did not fail. OPEN: a call that never ended.
    """

    OWNED = "owned"
    OK = "ok"
    AGAIN = "again"
    FAILED = "failed"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class WorkBar:
    """
    One bar of a group's timeline. topic: ``fed`` or ``retry``, what its queue belongs to.

    calls: number of calls in it, 0 of a tenure; send: the first call's message, -1 if unknown.
    """

    arm: str
    member: int
    topic: str
    broker: str
    queue_id: int
    start_ms: float
    end_ms: float
    work: Work
    calls: int
    send: int


@dataclass(frozen=True, slots=True)
class MemberMark:
    """A member joins, leaves or goes on, or is killed or paused (``what``)."""

    arm: str
    member: int
    at_ms: float
    what: str


@dataclass(frozen=True, slots=True)
class LagCurve:
    """
    Messages that were stored and not finished by one arm's group.

    lag: the highest number in each step of ``step_ms``, then the one in the end.
    """

    arm: str
    step_ms: float
    lag: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GroupTimeline:
    """
    One case of both groups over time. merged_ms: calls of a queue that end alike and are no further apart are one bar.
    """

    run: str
    case: str
    end_ms: float
    merged_ms: float
    lags: tuple[LagCurve, ...]
    bars: tuple[WorkBar, ...]
    marks: tuple[MemberMark, ...]
    faults: tuple[FaultWindow, ...]


@dataclass(frozen=True, slots=True)
class AfterFault:
    """
    What one group's user saw of a fault. during: the node's state in words.

    silent_ms: longest time without a delivery, from the fault to the next one or the last new message. resumed_ms: from the heal to
    the first delivery from a queue of the faulty broker; None if there was none, or no broker's fault.
    """

    kind: str
    node: str
    start_ms: float
    silent_ms: float
    resumed_ms: float | None
    during: str = ""


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """
    What one arm's group did in a case.

    stored: messages. delivered: those that its listeners were given. again: further deliveries although the call before had not
    failed; retried: those after one that had. in_calm: messages stored in calm; p50_ms, p99_ms: their time from storing to
    delivery; None without any, p99_ms also under 100.
    """

    run: str
    case: str
    arm: str
    stored: int
    delivered: int
    again: int
    retried: int
    in_calm: int
    p50_ms: float | None
    p99_ms: float | None
    faults: tuple[AfterFault, ...] = ()


@dataclass(frozen=True, slots=True)
class Plots:
    """All data of a report's plots."""

    lanes: tuple[SwimLanes, ...] = ()
    failover: tuple[FailoverCurve, ...] = ()
    shares: tuple[BrokerShare, ...] = ()
    ambiguity: tuple[AmbiguityCurve, ...] = ()
    elapsed: tuple[ElapsedQuantiles, ...] = ()
    overviews: tuple[Overview, ...] = ()
    endings: tuple[FailoverEndings, ...] = ()
    groups: tuple[GroupTimeline, ...] = ()
    figures: tuple[GroupFigures, ...] = ()
