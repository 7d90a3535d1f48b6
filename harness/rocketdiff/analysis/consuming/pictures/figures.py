"""Counts what a user asks first of each group: was everything delivered, how often again, how late, and how long was it silent."""

from collections.abc import Iterator
from itertools import pairwise
from statistics import median, quantiles

from rocketdiff.analysis.consuming.group_facts import CALM, GroupFacts, phase_of
from rocketdiff.analysis.consuming.membership import Membership, merged
from rocketdiff.analysis.consuming.pictures.timeline import finished_ns, is_again
from rocketdiff.analysis.consuming.story import CaseStory, GroupStory, QueueOf
from rocketdiff.core.consuming.watched import TopicKind
from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.core.units import NS_PER_MS

FIGURES = "figures"
"""Name of the tallies; keys are those below, of faults followed by their number in the order of injection."""

STORED, DELIVERED, AGAIN, RETRIED, IN_CALM = "stored", "delivered", "again", "retried", "in-calm"
P50_MS, P99_MS, SILENT_MS, RESUMED_MS = "p50-ms", "p99-ms", "silent-ms", "resumed-ms"
UNOWNED_MS, WAITING, CAUGHT_UP_MS = "unowned-ms", "waiting", "caught-up-ms"
"""Only a record's questions ask for these."""

MESSAGES_FOR_P99 = 100


def count_figures(story: CaseStory, facts: GroupFacts) -> None:
    """Count the figures of both groups."""
    for group in story.groups.values():
        arm = str(group.arm)
        known = [reader.by_send.get(send, ()) for reader in group.readers for send in story.held_by_send]
        facts.count(FIGURES, arm, "", STORED, n=len(known))
        facts.count(FIGURES, arm, "", DELIVERED, n=sum(map(bool, known)))
        further = [is_again(each, number) for each in known for number in range(1, len(each))]
        facts.count(FIGURES, arm, "", AGAIN, n=sum(further))
        facts.count(FIGURES, arm, "", RETRIED, n=len(further) - sum(further))
        _count_latency(story, group, facts)
        if (unowned_ns := _unowned_ns(story, group)) is not None:
            facts.count(FIGURES, arm, "", UNOWNED_MS, total=unowned_ns / NS_PER_MS)
        for number, fault in enumerate(story.trace.faults):
            silent_ns = _silent_ns(story, group, fault)
            facts.count(FIGURES, arm, "", f"{SILENT_MS} {number}", total=silent_ns / NS_PER_MS)
            if (resumed_ns := _resumed_ns(group, fault)) is not None:
                facts.count(FIGURES, arm, "", f"{RESUMED_MS} {number}", total=resumed_ns / NS_PER_MS)
            if fault.heal_ns is not None:
                _count_backlog(story, group, fault.heal_ns, number, facts)


def _count_latency(story: CaseStory, group: GroupStory, facts: GroupFacts) -> None:
    """
    From storing to the first delivery, of messages stored in calm, while no member comes, goes or stands still.

    A store time has no fraction of a millisecond.
    """
    moving = list(merged(Membership(story, group).moving(facts.origin_ns)))
    late_ms = [
        max(0.0, (group.by_send[send][0].start_ns - at_ns) / NS_PER_MS)
        for send, at_ns in story.stored_ns.items()
        if send in group.by_send
        and phase_of(story.trace.faults, at_ns) == CALM
        and not any(since_ns <= at_ns < until_ns for since_ns, until_ns in moving)
    ]
    facts.count(FIGURES, str(group.arm), "", IN_CALM, n=len(late_ms))
    if late_ms:
        facts.count(FIGURES, str(group.arm), "", P50_MS, total=median(late_ms))
    if len(late_ms) >= MESSAGES_FOR_P99:
        facts.count(FIGURES, str(group.arm), "", P99_MS, total=quantiles(late_ms, n=100, method="inclusive")[-1])


def _silent_ns(story: CaseStory, group: GroupStory, fault: FaultRecord) -> int:
    """Return the longest time without a delivery from a fault to the next one, or to the last new message if none follows."""
    starts = sorted(each.start_ns for each in group.deliveries)
    later = (other.inject_ns for other in story.trace.faults if other.inject_ns > fault.inject_ns)
    firsts = (deliveries[0].start_ns for deliveries in group.by_send.values())
    last_ns = max((*firsts, *story.stored_ns.values()), default=fault.inject_ns)
    until_ns = max(fault.inject_ns, min(later, default=last_ns))
    inside = (at_ns for at_ns in starts if fault.inject_ns < at_ns < until_ns)
    return max(after - before for before, after in pairwise((fault.inject_ns, *inside, until_ns)))


def _resumed_ns(group: GroupStory, fault: FaultRecord) -> int | None:
    """Return the time from the heal to the first delivery from a queue of the faulty broker; None if there was none."""
    begun = group.starts_after(fault)
    return min(begun) - fault.heal_ns if begun and fault.heal_ns is not None else None


def _count_backlog(story: CaseStory, group: GroupStory, heal_ns: int, number: int, facts: GroupFacts) -> None:
    """Count the messages that wait at a heal, and the time until the last of them is finished, if all are."""
    stored = (send for send, at_ns in story.stored_ns.items() if at_ns < heal_ns)
    ends = [done_ns for send in stored if (done_ns := finished_ns(group, send)) is None or done_ns > heal_ns]
    facts.count(FIGURES, str(group.arm), "", f"{WAITING} {number}", n=len(ends))
    known = [done_ns for done_ns in ends if done_ns is not None]
    if len(known) == len(ends):
        last_ns = max(known, default=heal_ns)
        facts.count(FIGURES, str(group.arm), "", f"{CAUGHT_UP_MS} {number}", total=(last_ns - heal_ns) / NS_PER_MS)


def _unowned_ns(story: CaseStory, group: GroupStory) -> int | None:
    """
    Return the longest time in which a queue of the fed topic had no owner, from its first one to the first leave at the end.

    None if no member's queues are known, and of a broadcasting group, whose members share none.
    """
    if group.is_broadcasting:
        return None
    until_ns = min(group.watched_until_ns, group.first_leave_ns)
    by_queue: dict[QueueOf, list[tuple[int, int]]] = {}
    for tenure in group.tenures:
        if tenure.queue.kind is TopicKind.FED:
            end_ns = until_ns if tenure.until_ns is None else tenure.until_ns
            by_queue.setdefault(tenure.queue, []).append((tenure.from_ns, end_ns))
    origin_ns = story.trace.origin_ns
    gaps = (max(0, gap) for spans in by_queue.values() for gap in _gaps(spans, origin_ns, until_ns))
    return max(gaps, default=None)


def _gaps(spans: list[tuple[int, int]], from_ns: int, until_ns: int) -> Iterator[int]:
    """Yield the times between spans that begin after an instant, and the time after the last one."""
    spans.sort()
    covered_ns = spans[0][0]
    for since_ns, end_ns in spans:
        yield since_ns - max(covered_ns, from_ns)
        covered_ns = max(covered_ns, end_ns)
    yield until_ns - max(covered_ns, from_ns)
