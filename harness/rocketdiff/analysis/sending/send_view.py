"""
One send of one arm as the checks see it: the trace and the results of each step.

Each step (``steps``) sets its own fields of the views that pass through it.
"""

import json
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.oracle.producer.judgement import SendJudgement


class Phase(StrEnum):
    """State of the case at an instant; PAUSED covers every kind of fault, from the first instant it may be in force."""

    CALM = "calm"
    PAUSED = "paused"
    AFTER = "after"


PHASES = tuple(Phase)
"""Phases by their code in columns."""


@dataclass(frozen=True, slots=True)
class FaultContext:
    """
    Fault context of one attempt.

    hit: the fault of its broker that may have been in force during part of the attempt. blocked: hit, and no answer arrived
    before the heal began (an answer in flight may still arrive in the first instant of a fault).
    """

    phase: Phase
    hit: FaultRecord | None = None
    blocked: bool = False


class Fate(StrEnum):
    """Fate of a message; GHOST: it is stored although its send did not succeed."""

    STORED = "stored"
    LOST = "lost"
    GHOST = "ghost"
    ABSENT = "absent"


@lru_cache(maxsize=16)
def named(properties: str | None) -> dict[str, str]:
    """Return the properties of a canonical JSON text by name. The result is cached: do not change it."""
    return dict(json.loads(properties or "{}"))


@dataclass(frozen=True, slots=True)
class Copy:
    """
    One stored message of a send.

    flag, properties (all of them, as JSON), body_digest and sys_flag are None in traces before schema 1.2.
    """

    broker: str
    queue_id: int
    queue_offset: int
    store_timestamp_ms: int
    body_ok: bool
    flag: int | None = None
    properties: str | None = None
    body_digest: str | None = None
    sys_flag: int | None = None
    born_timestamp_ms: int | None = None

    def carried(self) -> dict[str, str]:
        return named(self.properties)


@dataclass(slots=True)
class SendView:
    """
    One planned send of one arm.

    row: None if the call never returned (the subject died). phase: when the send began. contexts: of each attempt. judgement:
    None without rules, or without a row. copies, fate: None if the queues were not read back. kept: copies of a delayed
    message that brokers hold or held back; their queue_id is the delay level minus one.
    """

    arm: Arm
    thread: int
    send: int
    row: Send | None
    attempts: tuple[Attempt, ...] = ()
    phase: Phase = Phase.CALM
    contexts: tuple[FaultContext, ...] = ()
    judgement: SendJudgement | None = None
    copies: tuple[Copy, ...] | None = None
    fate: Fate | None = None
    kept: tuple[Copy, ...] = ()

    @property
    def order(self) -> tuple[int, int]:
        return self.thread, self.send

    @property
    def began_ns(self) -> int:
        """Start of the call; of its first attempt if the call never returned."""
        return self.attempts[0].start_ns if self.row is None else self.row.start_ns

    def phase_of(self, attempt: int | None) -> Phase:
        """Phase of one attempt; of the send if there is no such attempt."""
        known = attempt is not None and attempt < len(self.contexts)
        return self.contexts[attempt].phase if known and attempt is not None else self.phase
