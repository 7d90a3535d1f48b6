"""
Records that a subject reports: one frozen dataclass per output line, in one closed union.

The run's tables and the oracle use the same Attempt and Send objects. Times are nanoseconds of the host's monotonic
clock (Java ``nanoTime``, Python ``monotonic_ns``), which all processes of a host share.
"""

from dataclasses import dataclass, field

from rocketdiff.core.sends.outcome import Outcome, Reason, outcome_of_attempt, outcome_of_send, reason_of
from rocketdiff.core.sends.plan import SendKind, SendMode

PROTOCOL = 1

NS_PER_MS = 1_000_000
"""Times of records are in ns; limits and reports are in ms."""

UNSEEN_ROUTE = -1
"""Route number of a send whose witness may have missed attempts: the rules judge nothing. Never reported by subjects."""

UNSEEN_END = "UnseenEnd"
"""Error of an asynchronous attempt that was followed by another: hooks see the end of the last attempt only."""

NEVER_CALLED_BACK = "NeverCalledBack"
"""Error of an asynchronous send whose callback was not called within the setup's ``callback_limit_ms``."""


ATTEMPTS = "attempts"
"""Capability: the subject reports every attempt. Without it the recording relay reports them."""

CAUSES = "causes"
"""Capability: the client's exceptions have causes."""

ATTEMPT_STARTS = "attempt-starts"
"""Capability: the subject reports the start of each attempt; the recording relay reports its end."""


@dataclass(frozen=True, slots=True)
class Hello:
    """
    First line of a subject.

    attempt_timeout_ms: longest attempt of a client that does not obey ``send_msg_timeout_ms``.
    """

    protocol: int
    client: str
    version: str
    capabilities: tuple[str, ...]
    pid: int
    clock_ns: int
    attempt_timeout_ms: int | None = None

    @property
    def tells_ends(self) -> bool:
        """True if no other witness of attempts is needed."""
        return ATTEMPTS in self.capabilities

    @property
    def tells_starts(self) -> bool:
        return ATTEMPT_STARTS in self.capabilities and not self.tells_ends


@dataclass(frozen=True, slots=True)
class Ready:
    """The producer is started, connections and code are warm, the route is known."""

    clock_ns: int


@dataclass(frozen=True, slots=True)
class RouteSeen:
    """The client's publish list for the topic when first noticed; ``route`` counts from 1."""

    route: int
    at_ns: int
    queues: tuple[tuple[str, int], ...]


NOT_TOLD = {"not told": True}
"""Marks a field that no subject reports; it is filled from the plan or other records when the arm is sealed."""


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

    send: int
    thread: int
    attempt: int
    broker: str
    queue_id: int
    start_ns: int
    end_ns: int
    error: str | None = None
    code: int | None = None
    status: str | None = None
    chooser: int | None = None
    oneway: bool = field(default=False, metadata=NOT_TOLD)

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

    send: int
    thread: int
    start_ns: int
    end_ns: int
    error: str | None = None
    cause: str | None = None
    code: int | None = None
    message: str | None = None
    status: str | None = None
    broker: str | None = None
    queue_id: int | None = None
    queue_offset: int | None = None
    route: int = 0
    route_after: int = 0
    returned_ns: int | None = None
    due_ns: int = field(default=0, metadata=NOT_TOLD)
    kind: SendKind = field(default=SendKind.PLAIN, metadata=NOT_TOLD)
    argument: int = field(default=0, metadata=NOT_TOLD)
    body_bytes: int = field(default=0, metadata=NOT_TOLD)
    mode: SendMode = field(default=SendMode.SYNC, metadata=NOT_TOLD)
    callbacks: int | None = field(default=None, metadata=NOT_TOLD)
    delay_level: int | None = field(default=None, metadata=NOT_TOLD)
    properties: str | None = field(default=None, metadata=NOT_TOLD)
    attempts: tuple[Attempt, ...] = field(default=(), metadata=NOT_TOLD)

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

    send: int
    thread: int
    at_ns: int
    error: str | None = None
    status: str | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """Every send of the plan has ended."""

    sends: int


@dataclass(frozen=True, slots=True)
class SubjectFailed:
    """The subject cannot continue; stage and message in its own words."""

    stage: str
    message: str


Record = Hello | Ready | RouteSeen | Attempt | Send | CalledBackAgain | Done | SubjectFailed


@dataclass(frozen=True, slots=True)
class ReceivedLine:
    """A record, with the fields unknown to this version kept unchanged."""

    record: Record
    extra: dict[str, object] = field(default_factory=dict)
