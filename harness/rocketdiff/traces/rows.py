"""Typed rows of a sealed case, grouped as the oracle reads them: every send of one thread with its attempts."""

from dataclasses import dataclass

from rocketdiff.core.outcome import Outcome, Reason
from rocketdiff.core.plan import SendKind, SendMode


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One request to one broker; times in ns of the monotonic clock."""

    attempt: int
    broker: str
    queue_id: int
    start_ns: int
    end_ns: int
    outcome: Outcome
    reason: Reason
    error: str | None
    code: int | None
    status: str | None
    chooser: int | None = None


@dataclass(frozen=True, slots=True)
class SendRow:
    """
    One call by the application with its attempts in order; times in ns of the monotonic clock.

    mode None: synchronous, as every send before schema 1.2. returned_ns and callbacks are those of an asynchronous call.
    properties: what the plan wants the message to carry besides our id, as canonical text (``core.message``); None: nothing.
    """

    send: int
    due_ns: int
    start_ns: int
    end_ns: int
    outcome: Outcome
    reason: Reason
    error: str | None
    cause: str | None
    code: int | None
    status: str | None
    broker: str | None
    queue_id: int | None
    queue_offset: int | None
    route: int
    route_after: int
    kind: SendKind
    argument: int
    body_bytes: int
    attempts: tuple[AttemptRow, ...]
    mode: SendMode = SendMode.SYNC
    returned_ns: int | None = None
    callbacks: int | None = None
    delay_level: int | None = None
    properties: str | None = None
