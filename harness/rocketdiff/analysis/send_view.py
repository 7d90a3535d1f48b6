"""
One send of one arm as the checks see it: what was traced, and what each step has found out about it.

Every step takes a stream of views and gives the same views with its own fields filled in (``steps``).
"""

import json
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from rocketdiff.core.events import Arm
from rocketdiff.core.sends.records import Attempt, Send
from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.oracle.producer.judgement import SendJudgement


class Phase(StrEnum):
    """Where the case stood when something began; PAUSED covers every kind of fault, from its first doubtful instant."""

    CALM = "calm"
    PAUSED = "paused"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class FaultContext:
    """
    Fault context of one attempt.

    hit: the fault of its own broker that may have been in force during part of it. blocked: it was hit and got no answer
    before that fault was being healed (an answer already under way may still arrive in the first instant).
    """

    phase: Phase
    hit: FaultRecord | None = None
    blocked: bool = False


class Fate(StrEnum):
    """What became of a message; GHOST is one that is there although its send did not succeed."""

    STORED = "stored"
    LOST = "lost"
    GHOST = "ghost"
    ABSENT = "absent"


@lru_cache(maxsize=16)
def named(properties: str | None) -> dict[str, str]:
    """Properties by name, of canonical text; not to be changed, because several callers are given the same."""
    return dict(json.loads(properties or "{}"))


@dataclass(frozen=True, slots=True)
class Copy:
    """
    One stored message of a send, in queue order.

    properties: all of them as text, body_digest of its body, sys_flag; None in traces before schema 1.2.
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
        """Its properties by name; none in traces that do not tell them."""
        return named(self.properties)


@dataclass(frozen=True, slots=True)
class SendView:
    """
    One planned send of one arm.

    Traced: row, None when the call never returned (the subject died in it), though it had begun attempts; attempts in
    order. In context: phase in which it began, and the fault context of each attempt. Replayed: judgement, None where
    there are no rules to judge by, or it never returned. Reconciled: copies and fate, None where the queues of its arm were
    not read back; kept: copies of a delayed message that its brokers keep back, or kept until they delivered it, whose queue_id
    is the delay level less one.
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
        """Place of the send in a file."""
        return self.thread, self.send

    @property
    def began_ns(self) -> int:
        """When the call began, or its first attempt if it never returned."""
        return self.attempts[0].start_ns if self.row is None else self.row.start_ns

    def judged(self, judgement: SendJudgement | None) -> "SendView":
        """The same send with a judgement."""
        return SendView(
            *(self.arm, self.thread, self.send, self.row, self.attempts, self.phase, self.contexts, judgement),
            copies=self.copies,
            fate=self.fate,
            kept=self.kept,
        )

    def phase_of(self, attempt: int | None) -> Phase:
        """Phase of one attempt, of the send where there is no such attempt."""
        known = attempt is not None and attempt < len(self.contexts)
        return self.contexts[attempt].phase if known and attempt is not None else self.phase
