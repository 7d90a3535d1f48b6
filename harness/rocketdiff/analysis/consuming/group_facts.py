"""Collects the facts of one case about consumers; a difference shows its message in both groups."""

from collections.abc import Mapping

from rocketdiff.analysis.consuming.story import CaseStory, Delivery, GroupStory
from rocketdiff.analysis.fact_collector import FactCollector
from rocketdiff.analysis.facts import DifferenceFact
from rocketdiff.core.answers.plots import LaneAttempt
from rocketdiff.core.answers.verdict import SideExample, StoredAt, difficulty
from rocketdiff.core.answers.where import NO_NUMBER
from rocketdiff.core.arm import Arm, Member
from rocketdiff.core.consuming.watched import TopicKind
from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.core.tables.signatures import Signature
from rocketdiff.core.units import NS_PER_MS

ALPHA = 0.001
"""Chance of an accusation of two equal clients in one case."""

CALM, PAUSED, AFTER = "calm", "paused", "after"


class GroupFacts(FactCollector):
    """Facts of one case whose differences are of messages."""

    def __init__(self, story: CaseStory) -> None:
        trace = story.trace
        super().__init__(trace.run, trace.entry.number, trace.origin_ns)
        self._story = story
        self._broken_off = {Member.parse(name).arm for name in trace.entry.breaches}
        self._sides: dict[tuple[Arm, int], SideExample] = {}

    def differ(
        self,
        signature: Signature,
        group: GroupStory,
        *,
        at_ns: int,
        expected: str,
        observed: str,
        send: int | None = None,
        delivery: Delivery | None = None,
        member: int | None = None,
        place: str = "",
        figures: Mapping[str, object] | None = None,
    ) -> None:
        """
        Note a difference, if no member of the group broke the protocol: it was ended, and its last records and commits are missing.

        send: the message it is about, None for none; delivery: the one it was seen at; member: its own if None.
        """
        if group.arm in self._broken_off:
            return
        number = _member_of(delivery) if member is None else member
        sides = () if send is None else tuple(self._shown(self._story.groups[arm], send) for arm in Arm)
        self.note(
            DifferenceFact(
                check=signature.check,
                signature=signature.text(place),
                arm=str(self._charged(group, number)),
                thread=number or 0,
                send=NO_NUMBER if send is None else send,
                attempt=None if delivery is None else delivery.number,
                phase=phase_of(self._story.trace.faults, at_ns),
                at_ns=at_ns,
                weight=difficulty(sides),
                expected=expected,
                observed=observed,
                sides=sides,
                figures=dict(figures or {}),
            )
        )

    def differ_at(
        self,
        signature: Signature,
        group: GroupStory,
        delivery: Delivery,
        expected: str,
        observed: str,
        *,
        at_ns: int | None = None,
    ) -> None:
        """Note a difference that a delivery shows. at_ns: when it was seen, its beginning if None."""
        self.differ(
            signature,
            group,
            at_ns=delivery.start_ns if at_ns is None else at_ns,
            expected=expected,
            observed=observed,
            send=delivery.send,
            delivery=delivery,
        )

    def _charged(self, group: GroupStory, member: int | None) -> Arm:
        """Return the arm whose subject a member runs: one of a mixed group may run the baseline."""
        entry = self._story.trace.entry.groups.get(group.arm)
        return group.arm if entry is None else entry.subject_arm(group.arm, member)

    def _shown(self, group: GroupStory, send: int) -> SideExample:
        """Return a message in a group; made once, since a message that is delivered n times may differ n times."""
        if (group.arm, send) not in self._sides:
            self._sides[group.arm, send] = self._side(group, send)
        return self._sides[group.arm, send]

    def _side(self, group: GroupStory, send: int) -> SideExample:
        held = self._story.held_by_send.get(send)
        stored = () if held is None else (StoredAt(held.queue.broker, held.queue.queue_id, held.queue_offset),)
        bars = tuple(self._bar(group, send, each) for each in group.by_send.get(send, ()))
        return SideExample(str(group.arm), bars, stored=stored)

    def _bar(self, group: GroupStory, send: int, each: Delivery) -> LaneAttempt:
        end_ns = each.start_ns if each.end_ns is None else each.end_ns
        return LaneAttempt(
            arm=str(group.arm),
            thread=each.member,
            send=send,
            attempt=each.number,
            broker=each.queue.broker,
            queue_id=each.queue.queue_id,
            start_ms=(each.start_ns - self.origin_ns) / NS_PER_MS,
            end_ms=(end_ns - self.origin_ns) / NS_PER_MS,
            outcome="ok" if each.result is not None and not each.has_failed else "failed",
            reason="" if each.result is None else str(each.result) + " (retry)" * (each.queue.kind is TopicKind.RETRY),
        )


def _member_of(delivery: Delivery | None) -> int | None:
    return None if delivery is None else delivery.member


def phase_of(faults: tuple[FaultRecord, ...], at_ns: int) -> str:
    """Return whether an instant lies before, within or after the faults of a case."""
    if not faults or at_ns < min(fault.inject_ns for fault in faults):
        return CALM
    over = [fault.heal_ns for fault in faults]
    return AFTER if all(heal_ns is not None and heal_ns <= at_ns for heal_ns in over) else PAUSED
