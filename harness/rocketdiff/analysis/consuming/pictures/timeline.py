"""
Notes what a report draws of both groups: who worked on which queue, how calls ended, and how many messages waited.

Calls of a queue that end alike and follow each other closely are one bar, so that a case with many calls has no larger picture.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rocketdiff.analysis.consuming.group_facts import GroupFacts
from rocketdiff.analysis.consuming.story import CaseStory, Delivery, GroupStory, QueueOf
from rocketdiff.analysis.facts import LaneBar
from rocketdiff.core.answers.plots import Work
from rocketdiff.core.answers.where import NO_NUMBER
from rocketdiff.core.units import NS_PER_MS

STEPS = 240
"""Steps of a lag curve: one for four pixels of a page."""

APART_NS = 300_000_000
"""Calls of a queue no further apart are one bar: at the usual rates a queue has one every tenth of a second."""

BARS = 300
"""Bars of one group at most, unless it has more queues and members: some 50 KB of a document."""

LAG, MERGED = "lag", "merged"
"""Tallies: highest lag by step, whose key is its end in ms; and how far apart merged calls may be, in ms."""

_Key = tuple[int, QueueOf, Work]


@dataclass(frozen=True, slots=True)
class _Bar:
    start_ns: int
    end_ns: int
    calls: int
    send: int


def note_timeline(story: CaseStory, facts: GroupFacts) -> None:
    """Note bars, marks and lag of both groups."""
    end_ns = _end_ns(story)
    step_ns = max(1, (end_ns - facts.origin_ns) // STEPS)
    for group in story.groups.values():
        found = {key: own for reader in group.readers for key, own in _bars(reader, end_ns).items()}
        bars, apart_ns = _merged_to_fit(found, end_ns - facts.origin_ns)
        facts.count(MERGED, str(group.arm), "", "", total=apart_ns / NS_PER_MS)
        for (member, queue, work), bar in bars:
            facts.note(
                LaneBar(
                    arm=str(group.arm),
                    thread=member,
                    send=bar.send,
                    attempt=bar.calls,
                    broker=queue.broker,
                    queue_id=queue.queue_id,
                    start_ns=bar.start_ns,
                    end_ns=bar.end_ns,
                    outcome=str(work),
                    reason=str(queue.kind),
                    window=0,
                )
            )
        for member, at_ns, what in _changes(group):
            facts.note(LaneBar(str(group.arm), member, NO_NUMBER, 0, "", 0, at_ns, at_ns, what, "", 0))
        for number, lag in enumerate(_lag(story, group, facts.origin_ns, step_ns), start=1):
            facts.count(LAG, str(group.arm), "", str(number * step_ns / NS_PER_MS), n=lag)


def _end_ns(story: CaseStory) -> int:
    """When the last of these was over: the storing of a message, a call, a fault, the wait for messages that never came."""
    calls = (each.end_ns or each.start_ns for group in story.groups.values() for each in group.deliveries)
    faults = (fault.healed_ns or fault.inject_ns for fault in story.trace.faults)
    origin_ns = story.trace.origin_ns
    waits = (
        group.first_leave_ns for group in story.groups.values() if not story.held_by_send.keys() <= group.by_send.keys()
    )
    return max((origin_ns, *calls, *faults, *story.stored_ns.values(), *waits))


def is_again(deliveries: Sequence[Delivery], number: int) -> bool:
    """Return True if a message was given before, in a call that did not fail."""
    return number > 0 and not deliveries[number - 1].has_failed


def _bars(group: GroupStory, end_ns: int) -> dict[_Key, list[_Bar]]:
    found: defaultdict[_Key, list[_Bar]] = defaultdict(list)
    for tenure in group.tenures:
        until_ns = end_ns if tenure.until_ns is None else min(end_ns, tenure.until_ns)
        if tenure.from_ns <= until_ns:
            found[tenure.member, tenure.queue, Work.OWNED].append(_Bar(tenure.from_ns, until_ns, 0, NO_NUMBER))
    calls: defaultdict[tuple[int, int], list[Delivery]] = defaultdict(list)
    for each in group.deliveries:
        calls[each.member, each.call].append(each)
    for (member, _), inside in calls.items():
        first = inside[0]
        bar = _Bar(first.start_ns, first.end_ns or end_ns, 1, NO_NUMBER if first.send is None else first.send)
        found[member, first.queue, _work(group, inside)].append(bar)
    return {key: sorted(bars, key=lambda bar: bar.start_ns) for key, bars in sorted(found.items())}


def _work(group: GroupStory, call: Iterable[Delivery]) -> Work:
    """The most telling of what is true of a call."""
    inside = tuple(call)
    if any(each.send is not None and is_again(group.by_send[each.send], each.number) for each in inside):
        return Work.AGAIN
    if inside[0].result is None:
        return Work.OPEN
    return Work.FAILED if inside[0].has_failed else Work.OK


def _merged_to_fit(bars: dict[_Key, list[_Bar]], span_ns: int) -> tuple[list[tuple[_Key, _Bar]], int]:
    """Return the bars, those that are close as one, and how far apart these may be: as far as BARS asks for."""
    apart_ns = APART_NS
    while True:
        merged = [(key, bar) for key, own in bars.items() for bar in _merged(own, apart_ns)]
        if len(merged) <= BARS or apart_ns >= span_ns:
            return merged, apart_ns
        apart_ns *= 2


def _merged(bars: Sequence[_Bar], apart_ns: int) -> Iterator[_Bar]:
    last = bars[0]
    for bar in bars[1:]:
        if bar.start_ns - last.end_ns <= apart_ns:
            last = _Bar(last.start_ns, max(last.end_ns, bar.end_ns), last.calls + bar.calls, last.send)
        else:
            yield last
            last = bar
    yield last


def _changes(group: GroupStory) -> Iterator[tuple[int, int, str]]:
    """Member, instant and what it did, or what was done to it."""
    for life in group.lives:
        if life.join_ns is not None:
            yield life.member, life.join_ns, "joins"
        if life.leave_ns is not None:
            yield life.member, life.leave_ns, "leaves"
        if life.killed_ns is not None:
            yield life.member, life.killed_ns, "is killed"
        for pause in life.pauses:
            yield life.member, pause.from_ns, "is paused"
            if pause.until_ns is not None:
                yield life.member, pause.until_ns, "goes on"


def _lag(story: CaseStory, group: GroupStory, origin_ns: int, step_ns: int) -> Iterator[int]:
    """Yield the highest number of messages stored and not finished, step by step, and what is left in the end."""
    stored = story.stored_ns
    changes: list[tuple[int, int]] = []
    for send, at_ns in stored.items():
        changes.append((at_ns, 1))
        if (done_ns := finished_ns(group, send)) is not None:
            changes.append((max(at_ns, done_ns), -1))
    changes.sort()
    lag, at = 0, 0
    for number in range(1, STEPS + 1 if stored else 0):
        highest = lag
        while at < len(changes) and changes[at][0] < origin_ns + number * step_ns:
            lag += changes[at][1]
            highest = max(highest, lag)
            at += 1
        yield highest
    if stored:
        yield lag + sum(change for _, change in changes[at:])


def finished_ns(group: GroupStory, send: int) -> int | None:
    """When the first call ended well; of a message in the dead letters, when its last call ended."""
    ends = [each for each in group.by_send.get(send, ()) if each.end_ns is not None]
    well = [each.end_ns for each in ends if each.end_ns is not None and not each.has_failed]
    if well:
        return min(well)
    is_dead = any(copy.send == send and copy.place == "dead" for copy in group.returned or ())
    return ends[-1].end_ns if is_dead and ends else None
