"""
Is every acknowledged message in the queues, undamaged, after everything was healed, and nothing else?

Examines all queues, read to their end, and whether a message was stored when its call returned. A message that is
stored although its send did not succeed (a ghost) is only counted: a paused broker stores what was buffered. A one-way
message is not acknowledged; it must be stored only if the cluster had no fault until well after its call, or if only
other brokers were paused. A delayed message counts as stored once a broker keeps it back. The topic belongs to the arm
alone, so its client causes everything else in it.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Self

import numpy as np

from rocketdiff.analysis.checks.case_facts import CaseFacts, counted
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.fault_windows import first_fault_ns
from rocketdiff.analysis.sending.checks.calm_counts import CalmCount, CalmSends, Mask
from rocketdiff.analysis.sending.checks.context import CalmBefore, CaseContext, CaseObserver, SendCheck
from rocketdiff.analysis.sending.checks.storage.acknowledged import Acknowledged
from rocketdiff.analysis.sending.send_view import Fate, Phase, SendView
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.analysis.sending.steps.reconciled import Stray
from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import Send
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.core.tables.signatures import (
    ACKNOWLEDGED_NOT_STORED,
    BODY_DAMAGED,
    ONE_WAY_NOT_STORED,
    STORED_AFTER_ITS_ACKNOWLEDGEMENT,
    STRAY_MESSAGE,
    Signature,
)
from rocketdiff.core.units import NS_PER_MS

NAME = "loss"
ONEWAY_STORED, ONEWAY_ABSENT, ONEWAY_JUDGED = "one-way stored", "one-way absent", "one-way judged"
STORED_LATE = "stored-late"
UNDER_WAY_NS = 1_000_000_000
"""How long after its call a one-way message may be in transit on a busy machine, and be lost by a fault."""

STORED_LATE_MS = 20.0
"""
A copy stored more than this after its call ended is late. The one instant known on both clocks is read to 1 ms, and
wall clocks are slewed during a case; a copy that waited for a resumed broker is hundreds of ms late.
"""


@dataclass(frozen=True, slots=True)
class _Expected:
    """
    Which one-way messages must be stored: those whose call ended before until_ns, and those at none of the paused brokers.

    A paused broker leaves its CPU time to the others. A killed one takes it when it restarts, and the others may drop
    messages. paused: None if there was a fault of another kind.
    """

    until_ns: float
    paused: frozenset[str] | None

    @classmethod
    def under(cls, faults: Sequence[FaultRecord]) -> Self:
        first_ns = first_fault_ns(faults)
        are_pauses = all(fault.kind is FaultKind.PAUSE for fault in faults)
        return cls(
            inf if first_ns is None else first_ns - UNDER_WAY_NS,
            frozenset(fault.node for fault in faults) if are_pauses else None,
        )

    def holds(self, ended_ns: int, brokers: Collection[str]) -> bool:
        """brokers: at which the message was tried."""
        is_elsewhere = self.paused is not None and bool(brokers) and self.paused.isdisjoint(brokers)
        return ended_ns < self.until_ns or is_elsewhere

    def hold(self, sends: CalmSends) -> Mask:
        """Return the same for each of many sends."""
        is_elsewhere = False if self.paused is None else ~sends.tried_at(self.paused)
        return np.asarray((sends.ended_ns < self.until_ns) | is_elsewhere)


class Loss(CaseObserver):
    """Counts the fate of every message; notes lost, damaged and prematurely acknowledged ones."""

    def __init__(self, context: CaseContext) -> None:
        super().__init__(context)
        self._clock = context.entry.clock
        self._acknowledged = Acknowledged(context.entry.clock)
        self._confuses = context.confuses_answers
        self._expected = _Expected.under(context.times.faults)

    def observe(self, send: AlignedSend) -> None:
        for side in send.sides:
            if side.copies is None or side.fate is None:
                continue
            if side.row is not None and side.row.mode is SendMode.ONEWAY:
                self._observe_oneway(send, side, side.row)
            else:
                self._collector.count(NAME, str(side.arm), str(side.phase), str(side.fate))
            self._collector.count(NAME, str(side.arm), str(side.phase), STORED_LATE, n=self._late(side))
            if side.fate is Fate.LOST:
                self._note(
                    ACKNOWLEDGED_NOT_STORED,
                    send,
                    side,
                    "an acknowledged message in its queue",
                    "no queue of the topic holds it",
                )
            self._observe_acknowledgement(send, side)
            damaged = [copy for copy in side.copies if not copy.body_ok]
            if damaged:
                places = ", ".join(f"{copy.broker} queue {copy.queue_id}" for copy in damaged)
                self._note(BODY_DAMAGED, send, side, "the body that was sent", f"another body at {places}")

    def calm_before(self, send: AlignedSend, calm: CalmBefore) -> None:  # noqa: ARG002 - as for every send
        for broker, ahead_ms in calm.clock_leads():
            self._acknowledged.bound_clock(broker, ahead_ms)

    def _observe_acknowledgement(self, send: AlignedSend, side: SendView) -> None:
        for copy, late_ms in () if self._confuses(side) else self._acknowledged.of(side):
            place = f"{copy.broker} queue {copy.queue_id} offset {copy.queue_offset}"
            expected = "a message in its queue when its call says so"
            self._note(
                STORED_AFTER_ITS_ACKNOWLEDGEMENT,
                send,
                side,
                expected,
                f"stored at {place} {late_ms:.0f} ms after the call had ended",
            )

    def _observe_oneway(self, send: AlignedSend, side: SendView, row: Send) -> None:
        is_stored = side.fate is Fate.GHOST
        self._collector.count(NAME, str(side.arm), str(side.phase), ONEWAY_STORED if is_stored else ONEWAY_ABSENT)
        if row.error is not None or not self._expected.holds(row.end_ns, {attempt.broker for attempt in side.attempts}):
            return
        self._collector.count(NAME, str(side.arm), str(side.phase), ONEWAY_JUDGED)
        if not is_stored:
            self._note(
                ONE_WAY_NOT_STORED, send, side, "a one-way message in its queue", "no queue of the topic holds it"
            )

    def _late(self, side: SendView) -> int:
        if self._clock is None or side.row is None or side.row.delay_level:
            return 0
        _, ended_ms = self._clock.range_ms(side.row.start_ns, side.row.end_ns)
        return sum(copy.store_timestamp_ms > ended_ms + STORED_LATE_MS for copy in side.copies or ())

    def _note(self, signature: Signature, send: AlignedSend, side: SendView, expected: str, observed: str) -> None:
        self._collector.differ(signature, send, side, expected=expected, observed=observed)


def note_strays(arm: Arm, strays: Iterable[Stray], context: CaseContext) -> None:
    """Note every message in an arm's topic without the id of a planned send."""
    clock = context.entry.clock
    for stray in strays:
        since_ms = 0 if clock is None else stray.store_timestamp_ms - clock.wall_ms
        context.collector.differ_at(
            STRAY_MESSAGE,
            arm,
            phase=str(Phase.CALM),
            at_ns=context.collector.origin_ns if clock is None else clock.monotonic_ns + since_ms * NS_PER_MS,
            expected="only messages of the plan in a topic used by this arm only",
            observed=f"a message with another id, or none, at {stray.broker} queue {stray.queue_id} offset {stray.queue_offset}",
        )


def evaluate(facts: CaseFacts) -> Evidence:
    """Return evidence with ghosts, late copies and foreign messages of each arm."""
    acknowledged = {arm: facts.n(NAME, Fate.STORED, Fate.LOST, arm=str(arm)) for arm in Arm}
    standing, reason = unread(facts) or (Standing.DECISIVE, "")
    one_way = {arm: facts.n(NAME, ONEWAY_STORED, ONEWAY_ABSENT, arm=str(arm)) for arm in Arm}
    judged = {arm: facts.n(NAME, ONEWAY_JUDGED, arm=str(arm)) for arm in Arm}
    unjudged = any(one_way.values()) and not all(judged.values())
    if unjudged and facts.faults and standing is Standing.DECISIVE:
        standing, reason = (
            Standing.NOT_APPLICABLE,
            "one-way messages to a broker at fault have no guarantee, and none was sent well before a fault",
        )
    silent = [facts.subjects[arm] for arm in Arm if not acknowledged[arm] and not one_way[arm]]
    if standing is Standing.DECISIVE and silent:
        standing, reason = Standing.INDECISIVE, f"no send of {silent[0]} was acknowledged"
    measures = (
        *counted(facts, "ghosts", NAME, Fate.GHOST),
        *counted(facts, STORED_LATE, NAME, STORED_LATE),
        *counted(facts, "foreign-messages", "foreign"),
        *(counted(facts, "one-way-stored", NAME, ONEWAY_STORED) if any(one_way.values()) else ()),
    )
    decisions = sum(acknowledged.values()) + sum(judged.values())
    return facts.evidence(NAME, standing, reason, decisions=decisions, measures=measures)


def unread(facts: CaseFacts) -> tuple[Standing, str] | None:
    """INDECISIVE if an arm's queues were not read back, else None."""
    for arm in Arm:
        if facts.n("unread", arm=str(arm)):
            return Standing.INDECISIVE, f"what the brokers hold of {facts.subjects[arm]} was not read back"
    return None


def _stored_late(sends: CalmSends) -> Mask:
    return np.asarray(sends.stored_ms > sends.ended_ms + STORED_LATE_MS)


CODE: SendCheck = CheckCode(
    NAME,
    observers=(Loss,),
    evaluate=evaluate,
    calm=(
        CalmCount(NAME, str(Fate.STORED), lambda sends: ~sends.is_one_way),
        CalmCount(NAME, ONEWAY_STORED, lambda sends: sends.is_one_way),
        CalmCount(NAME, ONEWAY_JUDGED, lambda sends: sends.is_one_way & _Expected.under(sends.faults).hold(sends)),
        CalmCount(NAME, STORED_LATE, times=_stored_late),
    ),
)
