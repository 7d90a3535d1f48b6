"""
What a subject tells: one frozen record a line of its output, in one closed union.

An attempt and a send stay the same values from that line, over the tables of a run, to the oracle. All times are nanoseconds
of the host's monotonic clock (Java ``nanoTime``, Python ``monotonic_ns``), which the processes of one host share.
"""

from dataclasses import dataclass, field

from rocketdiff.core.sends.outcome import Outcome, Reason, outcome_of_attempt, outcome_of_send, reason_of
from rocketdiff.core.sends.plan import SendKind, SendMode

PROTOCOL = 1

NS_PER_MS = 1_000_000
"""Times of records are in ns; limits and reports are in ms."""

UNSEEN_ROUTE = -1
"""
In the place of a route's number, for a send some of whose attempts its witness cannot have seen (a subject never says it):
the rules have nothing to judge then.
"""

UNSEEN_END = "UnseenEnd"
"""Error of an asynchronous attempt that was followed by another: hooks are told of the last one's end only."""

NEVER_CALLED_BACK = "NeverCalledBack"
"""Error of an asynchronous send whose callback was not called within the setup's ``callback_limit_ms``."""


ATTEMPTS = "attempts"
"""Capability: the subject reports every attempt. If it does not claim this, the recording relay reports them."""

CAUSES = "causes"
"""Capability of a client whose exceptions have causes."""

ATTEMPT_STARTS = "attempt-starts"
"""Capability: the subject reports when each attempt begins, and not its end, which the recording relay reports."""


@dataclass(frozen=True, slots=True)
class Hello:
    """
    First line of a subject: who it is and what it can do.

    attempt_timeout_ms: how long an attempt lasts at the most, of a client that does not obey ``send_msg_timeout_ms``.
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
        """Whether it reports its attempts to their ends, so that no other witness is needed."""
        return ATTEMPTS in self.capabilities

    @property
    def tells_starts(self) -> bool:
        """Whether it reports only the beginnings of its attempts."""
        return ATTEMPT_STARTS in self.capabilities and not self.tells_ends


@dataclass(frozen=True, slots=True)
class Ready:
    """The producer is started, its connections and code are warm, the topic's route is known."""

    clock_ns: int


@dataclass(frozen=True, slots=True)
class RouteSeen:
    """The client's publish list for the topic as it stood when first noticed; ``route`` counts from 1."""

    route: int
    at_ns: int
    queues: tuple[tuple[str, int], ...]


NOT_TOLD = {"not told": True}
"""Marks a field that no subject tells: it comes from the plan, or from the arm's other records, when the arm is sealed."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """
    One request of a send to one broker, as seen by a hook inside the client or by the wire; ``attempt`` counts from 0.

    chooser: of an asynchronous send, which thread of the client chose the broker, counted from 0 as they are met (each has
    a counter of its own); None for the calling thread. UNSEEN_END as error: the client went on without saying why.
    oneway: its call waits for no answer.
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
        """What is known about the message after this attempt; of a one-way request nothing unless it failed."""
        if self.error is None:
            return Outcome.UNKNOWN if self.oneway else Outcome.OK
        return outcome_of_attempt(self.error, self.code)

    @property
    def reason(self) -> Reason:
        """Cause of the outcome."""
        return reason_of(self.error, self.code, self.status)


@dataclass(frozen=True, slots=True)
class Send:
    """
    One call by the application, from entry to return; of an asynchronous one to the first call of its callback.

    returned_ns: when an asynchronous call returned. NEVER_CALLED_BACK as error: the subject has given up waiting.

    error: simple class name of what was thrown; cause: simple class name of its cause. broker, queue_id and
    queue_offset are what the result said. route and route_after: version of the publish list before and after the call
    (0: not known to this subject).

    Not told by a subject: attempts, in their order; callbacks: how often an asynchronous call was called back. Of the plan:
    due_ns (here on the monotonic clock) and whatever else was asked for; properties: what the message is to carry besides
    our id, as canonical text (``core.sends.message``), None for nothing.
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
        """What is known about the message after the call."""
        attempts = () if self.error is None else tuple(attempt.outcome for attempt in self.attempts)
        return outcome_of_send(self.error, self.code, attempts, is_acknowledged=self.mode is not SendMode.ONEWAY)

    @property
    def reason(self) -> Reason:
        """Cause of the outcome."""
        return reason_of(self.error, self.code, self.status)


@dataclass(frozen=True, slots=True)
class CalledBackAgain:
    """The callback of an asynchronous send has been called once more, after its ``send`` was told."""

    send: int
    thread: int
    at_ns: int
    error: str | None = None
    status: str | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """Every send of the plan has been answered."""

    sends: int


@dataclass(frozen=True, slots=True)
class SubjectFailed:
    """The subject could not go on and says why."""

    stage: str
    message: str


Record = Hello | Ready | RouteSeen | Attempt | Send | CalledBackAgain | Done | SubjectFailed


@dataclass(frozen=True, slots=True)
class ReceivedLine:
    """A record with the fields this version does not know, kept as they came."""

    record: Record
    extra: dict[str, object] = field(default_factory=dict)
