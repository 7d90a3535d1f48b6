"""
Is every stored message that it subscribes to handed to the group, or to each member of a broadcasting one, and as it was stored?

A message is lost for certain if a later one of its queue was delivered in a tenure that began at or below it, and went on: a member
pulls a queue in order and leaves nothing out. At the end of a queue it is only not yet delivered, unless the case was watched until every
window of ``oracle.consumer.windows`` that was open for its queue had run out (``waiting``). Each delivery shows the body that was fed,
the properties that its sender gave it, and the topic it was sent to (of a retry: resetRetryAndNamespace; in every release). Of first
deliveries this is judged if the client claims to report it.

Of a queue that its application has paused, a lite pull consumer still hands out what waits for a poll, and what the pull under way brings
(DefaultLitePullConsumerImpl, 4.6.1 to 5.3.3): nothing that is stored after the first message since the pause, and SPREAD_NS. What lies
below an offset to which the application has gone need not be delivered.
"""

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.consuming.checks.group_check import JUDGED, UNDECIDED, GroupCheck, evidence_of
from rocketdiff.analysis.consuming.group_facts import GroupFacts
from rocketdiff.analysis.consuming.story import (
    BEGUN_BY_ALL_NS,
    CaseStory,
    Delivery,
    GroupStory,
    Held,
    QueueOf,
    QueuePause,
    Tenure,
)
from rocketdiff.analysis.consuming.waiting import Waiting
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.consuming.watched import TopicKind
from rocketdiff.core.records.consuming import CONTENT
from rocketdiff.core.sends.message import OF_EVERY_MESSAGE
from rocketdiff.core.tables.signatures import (
    CALL_FAILS,
    DAMAGED,
    NEVER_DELIVERED,
    NOT_SUBSCRIBED,
    NOT_YET_DELIVERED,
    OTHER_MESSAGE,
    OTHER_PROPERTIES,
    OTHER_TOPIC,
    WHILE_PAUSED,
    Signature,
)
from rocketdiff.core.units import NS_PER_S

NAME = "delivered"

UNIQUE_KEY = "UNIQ_KEY"

SPREAD_NS = NS_PER_S
"""Clocks, and a thread that has looked whether its queue is paused and then waits for a core, besides two stalls of the case's longest."""

_NOT_SHOWN = OF_EVERY_MESSAGE - {UNIQUE_KEY}

CHANGED_ON_THE_WAY = frozenset({"CLUSTER", "DELAY", "MSG_REGION", "TRACE_ON", "WAIT"})
"""Properties that brokers and clients set anew when a message is stored, handed back or sent again."""


def observe(story: CaseStory, facts: GroupFacts) -> None:
    """Note what this check finds in a case."""
    if story.held is None:
        return
    shown = _Shown(story)
    for group in (reader for each in story.groups.values() for reader in each.readers):
        waiting = Waiting(story, group)
        summary = story.trace.entry.arms.get(group.arm)
        if summary is not None and CONTENT in summary.capabilities:
            _observe_first(shown, facts, group)
        for queue, held in story.held.items():
            _observe_queue(facts, group, queue, held, waiting)
        _observe_calls(story, facts, group)
        for each in group.unsubscribed:
            facts.differ_at(NOT_SUBSCRIBED, group, each, "no message with a tag of others", f"message {each.send}")
        for each in group.deliveries:
            stored = None if each.send is None else story.held_by_send.get(each.send)
            if each.queue.kind is TopicKind.RETRY and stored is not None and stored.body_ok and not each.body_ok:
                _note_damaged(facts, group, each)
            _observe_head(facts, group, each, shown)


class _Shown:
    """What listeners must see of messages, each of which is read once for all its deliveries."""

    def __init__(self, story: CaseStory) -> None:
        self._held = story.held_by_send
        self._sent: dict[int, dict[str, str]] = {}

    def sent(self, send: int | None) -> Mapping[str, str] | None:
        """Return the properties of a message as it is stored; None if they are not known."""
        if send is None or (held := self._held.get(send)) is None or held.properties is None:
            return None
        if send not in self._sent:
            self._sent[send] = json.loads(held.properties)
        return self._sent[send]

    def at_first(self, send: int | None) -> Mapping[str, str] | None:
        """Return its key, and what its sender gave it."""
        sent = self.sent(send)
        return None if sent is None else {name: text for name, text in sent.items() if name not in _NOT_SHOWN}


def _observe_calls(story: CaseStory, facts: GroupFacts, group: GroupStory) -> None:
    """Note calls of an application that fail, and the first delivery of each queue that is paused."""
    spread_ns = SPREAD_NS + 2 * story.stalled_ns
    for life in group.lives:
        for call in life.applied:
            if call.error is not None:
                facts.differ(
                    CALL_FAILS,
                    group,
                    at_ns=call.end_ns,
                    member=life.member,
                    expected=f"{call.what} of {call.queue} by the application of member {life.member} to return",
                    observed=call.error,
                )
        for pause in life.queue_pauses:
            late = next(_while_paused(story, group, pause, spread_ns), None)
            if late is not None:
                facts.differ_at(
                    WHILE_PAUSED,
                    group,
                    late,
                    f"nothing of {pause.queue}, which member {pause.member} has paused, but what it may have pulled before",
                    f"message {late.send}, {(late.start_ns - pause.from_ns) / NS_PER_S:.1f} s after the pause",
                )


def _while_paused(story: CaseStory, group: GroupStory, pause: QueuePause, spread_ns: int) -> Iterator[Delivery]:
    """Yield deliveries of messages that no pull before the pause can have brought."""
    held = (story.held or {}).get(pause.queue, ())
    stored = (story.stored_ns.get(each.send) for each in held if each.send is not None)
    first_ns = min((at_ns for at_ns in stored if at_ns is not None and at_ns > pause.from_ns), default=None)
    if first_ns is None:
        return
    for each in group.by_queue.get(pause.queue, ()):
        stored_ns = None if each.send is None else story.stored_ns.get(each.send)
        is_own = (each.member, each.incarnation) == (pause.member, pause.incarnation)
        is_paused = pause.until_ns is None or each.start_ns < pause.until_ns
        if is_own and is_paused and stored_ns is not None and stored_ns > first_ns + spread_ns:
            yield each


def _observe_head(facts: GroupFacts, group: GroupStory, delivery: Delivery, shown: _Shown) -> None:
    """Compare the topic and the properties that a listener sees with those of the message as it was sent."""
    if delivery.shown is not TopicKind.FED:
        _note_head(facts, group, delivery, OTHER_TOPIC, "the topic it was sent to", f"a topic of kind {delivery.shown}")
    if delivery.properties is not None and (sent := shown.sent(delivery.send)) is not None:
        _compare_properties(facts, group, delivery, sent, json.loads(delivery.properties))


def _observe_first(shown: _Shown, facts: GroupFacts, group: GroupStory) -> None:
    """
    Compare what members show of messages whose properties they did not report: the key, and nothing that the sender gave.

    Of two deliveries at once either may be the first, so that the report of one is that of both.
    """
    reported = {(each.member, each.send) for each in group.deliveries if each.properties is not None}
    for each in group.deliveries:
        if (each.member, each.send) not in reported and (sent := shown.at_first(each.send)) is not None:
            _compare_properties(facts, group, each, sent, {} if each.key is None else {UNIQUE_KEY: each.key})


def _compare_properties(
    facts: GroupFacts, group: GroupStory, delivery: Delivery, sent: Mapping[str, str], seen: Mapping[str, str]
) -> None:
    """Note the first property that is not as it was sent."""
    for name in sorted(sent.keys() - CHANGED_ON_THE_WAY):
        if seen.get(name) != sent[name]:
            observed = f"{name} is {seen[name]}" if name in seen else f"no {name}"
            _note_head(facts, group, delivery, OTHER_PROPERTIES, f"{name} is {sent[name]}", observed)
            return


def _note_head(
    facts: GroupFacts, group: GroupStory, delivery: Delivery, signature: Signature, expected: str, observed: str
) -> None:
    facts.differ_at(
        signature,
        group,
        delivery,
        f"at delivery {delivery.number + 1} of message {delivery.send}: {expected}",
        observed,
    )


@dataclass(frozen=True, slots=True)
class _Passing:
    """Offsets of a tenure: its first; its highest delivered one; and the highest of which all calls before have certainly begun."""

    first: int
    last: int
    begun: int

    @classmethod
    def of(cls, group: GroupStory, tenure: Tenure, first: int) -> Self:
        own, over_ns = group.deliveries_in(tenure), group.over_ns(tenure) - BEGUN_BY_ALL_NS
        begun = [each.queue_offset for each in own if each.start_ns <= over_ns]
        return cls(first, max([first, *(each.queue_offset for each in own)]), max([first, *begun]))

    def passes(self, offset: int, *, is_committed: bool) -> bool:
        """Return True if a message was left out; one whose call has not begun yet is the next owner's, unless it is committed."""
        return self.first <= offset < (self.last if is_committed else self.begun)


def _observe_queue(
    facts: GroupFacts, group: GroupStory, queue: QueueOf, held: tuple[Held, ...], waiting: Waiting
) -> None:
    deliveries = group.by_queue.get(queue, ())
    facts.count(NAME, str(group.arm), "", JUDGED, n=len(held))
    by_offset = {each.queue_offset: each for each in held}
    for each in deliveries:
        _compare(facts, group, each, by_offset.get(each.queue_offset))
    seen = sorted({each.queue_offset for each in deliveries})
    passing = [
        _Passing.of(group, tenure, first) for tenure in group.tenures_of(queue) if (first := tenure.first) is not None
    ]
    sought = [tenure.first for tenure in group.tenures_of(queue) if tenure.is_sought and tenure.first is not None]
    missing = {offset for offset in by_offset.keys() - set(seen) if all(offset >= each for each in sought)}
    for message in held:
        if message.queue_offset in missing and message.send is not None:
            is_committed = group.has_committed_past(queue, message.queue_offset)
            passed = any(each.passes(message.queue_offset, is_committed=is_committed) for each in passing)
            later = seen[bisect_right(seen, message.queue_offset)] if passed else None
            _missing(facts, group, message, later, waiting)


def _compare(facts: GroupFacts, group: GroupStory, delivery: Delivery, held: Held | None) -> None:
    where = f"offset {delivery.queue_offset} of {delivery.queue}"
    if held is None or delivery.send != held.send:
        facts.differ_at(
            OTHER_MESSAGE,
            group,
            delivery,
            f"at {where} " + ("nothing" if held is None else f"message {held.send}"),
            f"message {delivery.send}",
        )
    elif held.body_ok and not delivery.body_ok:
        _note_damaged(facts, group, delivery)


def _note_damaged(facts: GroupFacts, group: GroupStory, delivery: Delivery) -> None:
    facts.differ_at(
        DAMAGED,
        group,
        delivery,
        f"the body that is stored at offset {delivery.queue_offset} of {delivery.queue}",
        "another one",
    )


def _missing(facts: GroupFacts, group: GroupStory, held: Held, later: int | None, waiting: Waiting) -> None:
    """later: offset of a delivered message that a member reached from below the missing one."""
    where = f"stored at offset {held.queue_offset} of {held.queue}"
    if later is not None:
        facts.differ(
            NEVER_DELIVERED,
            group,
            at_ns=group.watched_until_ns,
            send=held.send,
            expected=f"a delivery of message {held.send}, {where}",
            observed=f"none, though offset {later} was delivered by a member that began below it",
        )
        return
    if (waited_ns := waiting.too_long_ns(held)) is None:
        facts.count(NAME, str(group.arm), "", UNDECIDED)
        return
    facts.differ(
        NOT_YET_DELIVERED,
        group,
        at_ns=group.watched_until_ns,
        send=held.send,
        expected=f"a delivery of message {held.send}, {where}",
        observed=f"none for {waited_ns / NS_PER_S:.0f} s, and no fault and no change of members explains it",
    )


def evaluate(facts: CaseFacts) -> Evidence:
    """Return the evidence of one case."""
    return evidence_of(facts, NAME, "no message was stored for {}")


CODE: GroupCheck = CheckCode(NAME, observers=(observe,), evaluate=evaluate)
