"""
What the rules tell an observer while they decide: one frozen event each, in one closed union.

An observer is a plain callable; without one nothing is built. Used by ``explain``, never by the rules themselves.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from rocketmq_reference.rules.client.publish import Queue


class Skip(StrEnum):
    """Why a queue that was looked at was not taken."""

    LAST_BROKER = "last-broker"
    NOT_LAST_BROKER = "not-last-broker"
    AVOIDED = "avoided"
    UNREACHABLE = "unreachable"


class Tier(StrEnum):
    """Which part of the rule supplied the queue."""

    ROTATION = "rotation"
    OTHER_BROKER = "other-broker"
    AVAILABLE = "available"
    REACHABLE = "reachable"
    BEST_KNOWN = "best-known"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class IndexRead:
    """The thread's counter stood here (None: not yet used) before a selection."""

    value: int | None


@dataclass(frozen=True, slots=True)
class IndexReset:
    """A retry restarted the thread's counter."""

    value: int | None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A queue was looked at and left; remaining_ms is what is left of the broker's avoidance, if it has a fault item."""

    queue: Queue
    reason: Skip
    remaining_ms: int | None


@dataclass(frozen=True, slots=True)
class Chosen:
    """A queue was taken; mutated: the shared publish list was rewritten for it."""

    queue: Queue
    tier: Tier
    mutated: bool = False


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The fault item of a broker without write queues was dropped."""

    broker: str


@dataclass(frozen=True, slots=True)
class Swallowed:
    """An exception inside the selection was caught, and the plain rotation was used instead; what Java throws."""

    exception: str


@dataclass(frozen=True, slots=True)
class Charged:
    """An attempt was noted in the fault table."""

    broker: str
    latency_ms: int
    avoid_ms: int
    isolated: bool
    reachable: bool


@dataclass(frozen=True, slots=True)
class BudgetChecked:
    """Time spent since the call began, against the timeout all attempts share (None: each attempt has its own)."""

    spent_ms: int
    timeout_ms: int | None


Event = IndexRead | IndexReset | Skipped | Chosen | Forgotten | Swallowed | Charged | BudgetChecked
Observer = Callable[[Event], None]
