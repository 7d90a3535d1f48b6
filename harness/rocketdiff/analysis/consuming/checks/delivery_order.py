"""
Is each queue of an orderly group consumed in order, one call at a time, by one member at a time?

A member takes the messages of a queue one after the other. One whose listener fails holds its queue up: it comes again after the time
that the listener asked for, until it has failed too often and is sent away. A member works on a queue while it has the queue's lock at the
broker: so two members never take turns, and no member follows a killed one until its lock has run out. A broker that was down, and a
member that was paused, may have lost locks: what began by then is left open.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.consuming.checks.group_check import JUDGED, GroupCheck, evidence_of
from rocketdiff.analysis.consuming.group_facts import GroupFacts
from rocketdiff.analysis.consuming.membership import windows_of
from rocketdiff.analysis.consuming.story import CaseStory, Delivery, GroupStory, QueueOf, Tenure
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.tables.signatures import (
    LOCK_NOT_AWAITED,
    OVERTAKEN,
    PARALLEL_CALLS,
    REPEATED,
    TWO_MEMBERS_IN_TURN,
    Signature,
)
from rocketdiff.core.units import NS_PER_MS, NS_PER_S
from rocketdiff.oracle.consumer.reach import is_down, may_stay, meets_hand_backs
from rocketdiff.oracle.consumer.windows import MARGIN_NS, Windows

NAME = "delivery-order"

EARLY_NS = 20 * NS_PER_MS
"""Clocks and timers of a client, for its own delays; a call is noted a little after it began and before it ended."""


@dataclass(frozen=True, slots=True)
class _Call:
    """One call of the listener, with its messages by their offsets."""

    messages: tuple[Delivery, ...]

    @property
    def head(self) -> Delivery:
        return self.messages[0]


def observe(story: CaseStory, facts: GroupFacts) -> None:
    """Note what this check finds in a case."""
    for group in story.groups.values():
        if not group.is_orderly:
            continue
        windows = windows_of(story, group)
        for queue, deliveries in group.by_queue.items():
            facts.count(NAME, str(group.arm), "", JUDGED, n=len(deliveries))
            tenures = [(tenure, _calls(group.deliveries_in(tenure))) for tenure in group.tenures_of(queue)]
            for _, calls in tenures:
                _observe_calls(story, facts, group, calls)
            begun = [(tenure, calls) for tenure, calls in tenures if calls]
            for before, after in pairwise(begun):
                _observe_hand_over(story, facts, group, windows, queue, before, after)


def _calls(deliveries: Sequence[Delivery]) -> list[_Call]:
    """Return the calls of one tenure in the order of their beginnings."""
    found = (sorted(own, key=lambda each: each.queue_offset) for _, own in groupby(deliveries, lambda each: each.call))
    return [_Call(tuple(own)) for own in found]


def _observe_calls(story: CaseStory, facts: GroupFacts, group: GroupStory, calls: Sequence[_Call]) -> None:
    """Note the first difference of each kind in one tenure."""
    known: set[Signature] = set()
    seen, greatest = set[int](), -1
    for before, call in pairwise(calls):
        offsets = [each.queue_offset for each in before.messages]
        seen.update(offsets)
        greatest = max(greatest, *offsets)
        for signature, delivery, expected, observed in _differences(story, group, before, call, seen, greatest):
            if signature not in known:
                known.add(signature)
                facts.differ_at(signature, group, delivery, expected, observed)


_Difference = tuple[Signature, Delivery, str, str]


def _differences(
    story: CaseStory, group: GroupStory, before: _Call, call: _Call, seen: Collection[int], greatest: int
) -> Iterator[_Difference]:
    """Compare a call with the one before it. seen: all offsets that came before, and the greatest of them."""
    last, head = before.head, call.head
    if _overlaps(before, call):
        yield PARALLEL_CALLS, head, f"one call at a time for {head.queue}", "another one has not ended"
    elif last.has_failed:
        yield from _after_a_failure(story, group, before, call)
    elif head.queue_offset in seen:
        yield REPEATED, head, f"{head.queue} going on after {_of(last)}, which was consumed", f"{_of(head)} again"
    elif head.queue_offset < greatest:
        yield OVERTAKEN, head, f"{head.queue} in order, after {_of(last)}", _of(head)


def _overlaps(before: _Call, call: _Call) -> bool:
    end_ns = before.head.end_ns
    return end_ns is None or call.head.start_ns < end_ns


def _after_a_failure(story: CaseStory, group: GroupStory, before: _Call, call: _Call) -> Iterator[_Difference]:
    last, head = before.head, call.head
    is_sent_away = not any(map(group.holds_up, before.messages))
    faults = [fault for fault in story.trace.faults if meets_hand_backs(fault)]
    if head.queue_offset != last.queue_offset:
        if not is_sent_away:
            yield OVERTAKEN, head, f"{_of(last)} again, which failed and holds {head.queue} up", _of(head)
        return
    if is_sent_away and not may_stay(faults, last.end_ns):
        yield REPEATED, head, f"{_of(last)} sent away after its failure {last.times + 1}", "it comes again"
        return
    waited_ms = (head.start_ns - (last.start_ns if last.end_ns is None else last.end_ns)) / NS_PER_MS
    asked_ms = group.suspended_ms(last)
    if waited_ms < asked_ms - EARLY_NS / NS_PER_MS:
        yield REPEATED, head, f"{_of(last)} again {asked_ms} ms after its failure", f"{waited_ms:.0f} ms after it"


_Work = tuple[Tenure, Sequence[_Call]]


def _observe_hand_over(
    story: CaseStory,
    facts: GroupFacts,
    group: GroupStory,
    windows: Windows,
    queue: QueueOf,
    before: _Work,
    after: _Work,
) -> None:
    """Note a member that begins beside another one, or too soon after the death of another one."""
    (former, earlier), (later, calls) = before, after
    if (former.member, former.incarnation) == (later.member, later.incarnation):
        if _overlaps(earlier[-1], calls[0]):
            expected, observed = f"one call at a time for {queue}", "another one has not ended"
            facts.differ_at(PARALLEL_CALLS, group, calls[0].head, expected, observed)
        return
    first, life = calls[0].head, group.life_of(former)
    if life is None or life.is_cut_off or _may_have_lost_locks(story, group, queue, former, first.start_ns):
        return
    if (killed_ns := group.killed_in(former)) is not None:
        least_ns = windows.lock_of_a_killed_member() - MARGIN_NS
        if life.member in group.silent:  # it may have given the queue up before
            return
        if 0 <= first.start_ns - killed_ns < least_ns:
            expected = f"{queue} locked for member {former.member} for {least_ns / NS_PER_S:.0f} s after its death"
            observed = f"member {later.member} consumes it after {(first.start_ns - killed_ns) / NS_PER_S:.1f} s"
            facts.differ_at(LOCK_NOT_AWAITED, group, first, expected, observed)
        return
    left_ns = life.left_ns if life.leave_ns is not None else None
    beside = [
        each.head
        for each in earlier
        if each.head.start_ns > first.start_ns and (left_ns is None or each.head.start_ns > left_ns + NS_PER_S)
    ]
    if beside:
        expected = f"no call for {queue} by member {former.member}, since member {later.member} has its lock"
        facts.differ_at(TWO_MEMBERS_IN_TURN, group, beside[0], expected, _of(beside[0]))
        return
    open_ = earlier[-1].head
    is_leaving = life.leave_ns is not None and first.start_ns >= life.leave_ns
    ends_ns = first.start_ns if open_.end_ns is None else open_.end_ns
    if not is_leaving and ends_ns > first.start_ns and first.start_ns - open_.start_ns < windows.call_outlasts_lock():
        expected = f"no call for {queue} by member {later.member} before the one of member {former.member} has ended"
        facts.differ_at(TWO_MEMBERS_IN_TURN, group, first, expected, _of(first))


def _may_have_lost_locks(story: CaseStory, group: GroupStory, queue: QueueOf, former: Tenure, at_ns: int) -> bool:
    """True if the queue's broker was down in the tenure or until its end, or the member's process was paused."""
    life = group.life_of(former)
    pauses = () if life is None else life.pauses
    return any(pause.from_ns <= at_ns for pause in pauses) or any(
        fault.node == queue.broker and is_down(fault) and former.begin_ns <= (fault.healed_ns or at_ns)
        for fault in story.trace.faults
        if fault.inject_ns <= at_ns
    )


def _of(delivery: Delivery) -> str:
    return f"offset {delivery.queue_offset}"


def evaluate(facts: CaseFacts) -> Evidence:
    """Return the evidence of one case."""
    return evidence_of(facts, NAME, "{} delivered nothing")


CODE: GroupCheck = CheckCode(NAME, observers=(observe,), evaluate=evaluate)
