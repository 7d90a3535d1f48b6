"""
Events that the rules report to an observer while they decide.

An observer is a plain callable; without one no event is built. Used by ``explain``, never by the rules themselves.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from rocketmq_reference.rules.client.publish import Queue


class Skip(StrEnum):
    """Reason why an examined queue was not selected."""

    LAST_BROKER = "last-broker"
    NOT_LAST_BROKER = "not-last-broker"
    AVOIDED = "avoided"
    UNREACHABLE = "unreachable"


class Tier(StrEnum):
    """Part of the rule that supplied the queue."""

    ROTATION = "rotation"
    OTHER_BROKER = "other-broker"
    AVAILABLE = "available"
    REACHABLE = "reachable"
    BEST_KNOWN = "best-known"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class IndexRead:
    """Value of the thread's counter before a selection; None: not yet used."""

    value: int | None


@dataclass(frozen=True, slots=True)
class IndexReset:
    """A retry restarted the thread's counter."""

    value: int | None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A queue was examined and skipped; remaining_ms: rest of the broker's avoidance, None without a fault item."""

    queue: Queue
    reason: Skip
    remaining_ms: int | None


@dataclass(frozen=True, slots=True)
class Chosen:
    """A queue was selected; mutated: the shared publish list was rewritten for it."""

    queue: Queue
    tier: Tier
    mutated: bool = False


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The fault item of a broker without write queues was removed."""

    broker: str


@dataclass(frozen=True, slots=True)
class Swallowed:
    """An exception in the selection was caught and plain rotation used instead; exception: what Java throws."""

    exception: str


@dataclass(frozen=True, slots=True)
class Charged:
    """An attempt was recorded in the fault table."""

    broker: str
    latency_ms: int
    avoid_ms: int
    isolated: bool
    reachable: bool


@dataclass(frozen=True, slots=True)
class BudgetChecked:
    """Time spent since the call began, and the timeout that all attempts share (None: each attempt has its own)."""

    spent_ms: int
    timeout_ms: int | None


Event = IndexRead | IndexReset | Skipped | Chosen | Forgotten | Swallowed | Charged | BudgetChecked
Observer = Callable[[Event], None]
