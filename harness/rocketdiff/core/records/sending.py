"""
Records of a producer: one frozen dataclass per output line.

The run's tables and the oracle use the same Attempt and Send objects.
"""

from dataclasses import dataclass, field

from rocketdiff.core.records.field_types import (
    UNREPORTED,
    BrokerName,
    ErrorName,
    Int32,
    Int64,
    Name,
    Natural32,
    Natural64,
    Queue,
)
from rocketdiff.core.records.session import Hello
from rocketdiff.core.sends.outcome import Outcome, Reason, outcome_of_attempt, outcome_of_send, reason_of
from rocketdiff.core.sends.plan import SendKind, SendMode

ATTEMPTS = "attempts"
"""Capability: the subject reports every attempt. Without it the recording relay reports them."""

CAUSES = "causes"
"""Capability: the client's exceptions have causes."""

ATTEMPT_STARTS = "attempt-starts"
"""Capability: the subject reports the start of each attempt; the recording relay reports its end."""

ROUTES = "routes"
"""Capability: the subject reports its client's publish lists."""

SENDING_CLAIMS = frozenset({*SendKind, *SendMode, ATTEMPTS, ATTEMPT_STARTS, ROUTES, CAUSES})
"""Capabilities of producers besides settings and security."""

UNSEEN_ROUTE = -1
"""Route number of a send whose witness may have missed attempts: the rules judge nothing. Never reported by subjects."""

UNSEEN_END = "UnseenEnd"
"""Error of an asynchronous attempt that was followed by another: hooks see the end of the last attempt only."""

NEVER_CALLED_BACK = "NeverCalledBack"
"""Error of an asynchronous send whose callback was not called within the setup's ``callback_limit_ms``."""


@dataclass(frozen=True, slots=True)
class RouteSeen:
    """The client's publish list for the topic when first noticed; ``route`` counts from 1."""

    route: Int32
    at_ns: Int64
    queues: tuple[Queue, ...]


@dataclass(frozen=True, slots=True)
class Attempt:
    """
    One request of a send to one broker, seen by a hook inside the client or on the wire.

    attempt: counts from 0.
    error: UNSEEN_END if the client continued without a reported cause.
    chooser: client thread that chose the broker of an asynchronous send, numbered in order of appearance (each has
        its own counter); None: the calling thread.
    oneway: no response is awaited.
    """

    send: Int64
    thread: Int32
    attempt: Natural32
    broker: BrokerName
    queue_id: Natural32
    start_ns: Int64
    end_ns: Int64
    error: ErrorName | None = None
    code: Int32 | None = None
    status: Name | None = None
    chooser: Natural32 | None = None
    oneway: bool = field(default=False, metadata=UNREPORTED)

    @property
    def outcome(self) -> Outcome:
        """UNKNOWN for a one-way request that did not fail."""
        if self.error is None:
            return Outcome.UNKNOWN if self.oneway else Outcome.OK
        return outcome_of_attempt(self.error, self.code)

    @property
    def reason(self) -> Reason:
        return reason_of(self.error, self.code, self.status)


@dataclass(frozen=True, slots=True)
class Send:
    """
    One call by the application, from entry to return; for an asynchronous call, to its first callback.

    error: simple class name or error word; NEVER_CALLED_BACK if the subject stopped waiting for the callback.
    cause: simple class name of the exception's cause.
    broker, queue_id, queue_offset: from the send result.
    route, route_after: version of the publish list before and after the call; 0 if unknown to the subject.
    returned_ns: return of an asynchronous call.

    Not reported by subjects:
    callbacks: number of callback calls of an asynchronous send.
    due_ns (here on the monotonic clock), kind, argument, body_bytes, mode, delay_level: from the plan.
    properties: planned contents besides our id, as canonical text (``core.sends.message``); None for nothing.
    """

    send: Int64
    thread: Int32
    start_ns: Int64
    end_ns: Int64
    error: ErrorName | None = None
    cause: Name | None = None
    code: Int32 | None = None
    message: str | None = None
    status: Name | None = None
    broker: BrokerName | None = None
    queue_id: Natural32 | None = None
    queue_offset: Natural64 | None = None
    route: Int32 = 0
    route_after: Int32 = 0
    returned_ns: Int64 | None = None
    due_ns: int = field(default=0, metadata=UNREPORTED)
    kind: SendKind = field(default=SendKind.PLAIN, metadata=UNREPORTED)
    argument: int = field(default=0, metadata=UNREPORTED)
    body_bytes: int = field(default=0, metadata=UNREPORTED)
    mode: SendMode = field(default=SendMode.SYNC, metadata=UNREPORTED)
    callbacks: int | None = field(default=None, metadata=UNREPORTED)
    delay_level: int | None = field(default=None, metadata=UNREPORTED)
    properties: str | None = field(default=None, metadata=UNREPORTED)
    attempts: tuple[Attempt, ...] = field(default=(), metadata=UNREPORTED)

    @property
    def outcome(self) -> Outcome:
        attempts = () if self.error is None else tuple(attempt.outcome for attempt in self.attempts)
        return outcome_of_send(self.error, self.code, attempts, is_acknowledged=self.mode is not SendMode.ONEWAY)

    @property
    def reason(self) -> Reason:
        return reason_of(self.error, self.code, self.status)


@dataclass(frozen=True, slots=True)
class CalledBackAgain:
    """The callback of an asynchronous send was called again after its ``send`` record."""

    send: Int64
    thread: Int32
    at_ns: Int64
    error: ErrorName | None = None
    status: Name | None = None


SendingRecord = RouteSeen | Attempt | Send | CalledBackAgain

SENDING_RECORDS: dict[str, type[SendingRecord]] = {
    "route": RouteSeen,
    "attempt": Attempt,
    "send": Send,
    "callback": CalledBackAgain,
}
"""By the ``type`` of a line."""


def reports_ends(hello: Hello | None) -> bool:
    """Return True if the producer reports its attempts, so that no other witness of them is needed."""
    return hello is not None and ATTEMPTS in hello.capabilities


def reports_starts(hello: Hello | None) -> bool:
    """Return True if the producer reports only the starts of its attempts."""
    return hello is not None and ATTEMPT_STARTS in hello.capabilities and not reports_ends(hello)
