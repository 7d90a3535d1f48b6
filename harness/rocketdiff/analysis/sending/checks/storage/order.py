"""
Are messages of one key stored in their queue in the order in which they were sent?

Examines acknowledged synchronous sends that name their queue, by number or by a selector's argument (the key). Such a
send begins after the previous one of its thread was acknowledged, so for one thread, key and queue the offset must rise
with the send. An unacknowledged send is left out, because a paused broker may store it later. Messages of a group (gRPC
clients) must also lie in one queue. Exact, never statistical; the brokers are the witness.
"""

from dataclasses import dataclass

from rocketdiff.analysis.checks.case_facts import CaseFacts, counted, standing_with
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.sending.checks.calm_counts import CalmCount
from rocketdiff.analysis.sending.checks.context import CalmBefore, CaseContext, CaseObserver, SendCheck
from rocketdiff.analysis.sending.checks.storage.loss import unread
from rocketdiff.analysis.sending.send_view import Copy, SendView
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.arm import Arm
from rocketdiff.core.sends.outcome import Outcome
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.fault import KILLS
from rocketdiff.core.tables.signatures import GROUP_IN_TWO_QUEUES, STORED_BEFORE_AN_EARLIER_MESSAGE

NAME = "order"
Lane = tuple[str, int, int, str, int]
"""Arm, thread, key, broker, queue."""


@dataclass(frozen=True, slots=True)
class _Last:
    send: int
    queue_offset: int


class Order(CaseObserver):
    """Follows each lane; notes a message stored before one acknowledged before it was sent."""

    def __init__(self, context: CaseContext) -> None:
        super().__init__(context)
        self._last: dict[Lane, _Last] = {}
        self._queue_of_group: dict[tuple[Arm, int], tuple[str, int]] = {}
        self._is_route_whole = not any(fault.kind in KILLS for fault in context.times.faults)

    def observe(self, send: AlignedSend) -> None:
        for side in send.sides:
            row = side.row
            if row is None or row.mode is not SendMode.SYNC or row.outcome is not Outcome.OK or row.delay_level:
                continue
            if row.kind in (SendKind.QUEUE, SendKind.SELECTOR, SendKind.GROUP):
                for copy in _first_in_each_queue(side):
                    self._compare(send, side, row.argument, copy)
            if row.kind is SendKind.GROUP and self._is_route_whole:
                self._require_one_queue(send, side, row.argument)

    def calm_before(self, send: AlignedSend, calm: CalmBefore) -> None:
        for side in send.sides if calm.has_lanes else ():
            for copy in side.copies or () if side.row is not None else ():
                last = calm.last_in_lane(side, copy)
                if last is not None and side.row is not None:
                    self._keep_highest(_lane(side, side.row.argument, copy), _Last(*last))

    def _require_one_queue(self, send: AlignedSend, side: SendView, group: int) -> None:
        """A proxy gives a group one queue while its route stays; a second queue means a message without its group."""
        for copy in (side.copies or ())[:1]:
            first = self._queue_of_group.setdefault((side.arm, group), (copy.broker, copy.queue_id))
            if first != (copy.broker, copy.queue_id):
                expected = f"group {group} in {first[0]} queue {first[1]}, as its first message"
                observed = f"{copy.broker} queue {copy.queue_id}"
                self._collector.differ(GROUP_IN_TWO_QUEUES, send, side, expected=expected, observed=observed)

    def _compare(self, send: AlignedSend, side: SendView, key: int, copy: Copy) -> None:
        lane = _lane(side, key, copy)
        last = self._last.get(lane)
        if last is not None:
            self._collector.count(NAME, str(side.arm), str(side.phase), "pair")
            if copy.queue_offset <= last.queue_offset:
                place = f"{copy.broker} queue {copy.queue_id}"
                self._collector.differ(
                    STORED_BEFORE_AN_EARLIER_MESSAGE,
                    send,
                    side,
                    expected=f"key {key} in {place} after offset {last.queue_offset}, which send {last.send} has",
                    observed=f"send {side.send} at offset {copy.queue_offset}",
                )
        self._keep_highest(lane, _Last(side.send, copy.queue_offset))

    def _keep_highest(self, lane: Lane, one: _Last) -> None:
        last = self._last.get(lane)
        if last is None or one.queue_offset > last.queue_offset:
            self._last[lane] = one


def evaluate(facts: CaseFacts) -> Evidence:
    """Return evidence with the number of compared neighbours of one key."""
    pairs = {arm: facts.n(NAME, "pair", arm=str(arm)) for arm in Arm}
    standing, reason = unread(facts) or standing_with(facts, pairs, "no two messages of one key of {} share a queue")
    measures = counted(facts, "neighbours-compared", NAME, "pair")
    return facts.evidence(NAME, standing, reason, decisions=sum(pairs.values()), measures=measures)


def _lane(side: SendView, key: int, copy: Copy) -> Lane:
    return str(side.arm), side.thread, key, copy.broker, copy.queue_id


def _first_in_each_queue(side: SendView) -> tuple[Copy, ...]:
    """The first copy in each queue; further ones are left to ``duplication``."""
    first: dict[tuple[str, int], Copy] = {}
    for copy in side.copies or ():
        first.setdefault((copy.broker, copy.queue_id), copy)
    return tuple(first.values())


CODE: SendCheck = CheckCode(
    NAME,
    observers=(Order,),
    evaluate=evaluate,
    calm=(CalmCount(NAME, "pair", lambda sends: sends.follows),),
)
