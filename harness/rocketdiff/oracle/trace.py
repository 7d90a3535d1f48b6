"""
What the oracle reads: the sends of one arm of one case, each with the attempts a witness inside the client saw.

Times are nanoseconds of the host's monotonic clock.
"""

from dataclasses import dataclass

from rocketdiff.core.plan import SendKind, SendMode


@dataclass(frozen=True, slots=True)
class AttemptTrace:
    """One request to one broker; error is the simple name of what was thrown, code its response code."""

    attempt: int
    broker: str
    queue_id: int
    start_ns: int
    end_ns: int
    error: str | None = None
    code: int | None = None
    status: str | None = None
    chooser: int | None = None


@dataclass(frozen=True, slots=True)
class SendTrace:
    """
    One call by the application; of an asynchronous one, up to the call of its callback.

    route and route_after: version of the publish list before and after the call, 0 if the subject does not know, and
    UNSEEN_ROUTE if the witness cannot have seen all attempts. tells_cause: whether its client can tell the cause of an exception.
    """

    send: int
    thread: int
    kind: SendKind
    argument: int
    start_ns: int
    end_ns: int
    error: str | None = None
    cause: str | None = None
    code: int | None = None
    status: str | None = None
    broker: str | None = None
    queue_id: int | None = None
    route: int = 0
    route_after: int = 0
    attempts: tuple[AttemptTrace, ...] = ()
    mode: SendMode = SendMode.SYNC
    tells_cause: bool = True
