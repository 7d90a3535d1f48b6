"""`rocketdiff explain`, of a message: where it is stored, who worked on its queue, and what each delivery led to."""

from collections.abc import Iterator

from rocketdiff.analysis.case_trace import CaseTrace
from rocketdiff.analysis.consuming.story import CaseStory, Delivery, GroupStory, Tenure, story_of
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import UsageError
from rocketdiff.core.units import NS_PER_S
from rocketdiff.traces.run_directory import RunDirectory


def explain_message(trace: CaseTrace, run: RunDirectory, arm: Arm, where: str) -> Iterator[str]:
    """Yield the story of one message in a group, then in the other arm's. Raises UsageError for a message that is not there."""
    story = story_of(trace)
    send = int(where) if where.isdecimal() else -1
    held = story.held_by_send.get(send)
    if held is None:
        known = sorted(story.held_by_send)
        seen = f"{known[0]} to {known[-1]}" if known else "none"
        raise UsageError("the number of a message that a broker holds", seen=where, hint=f"this case has {seen}")
    yield f"message {send} is stored at offset {held.queue_offset} of {held.queue}"
    for each in (arm, next(other for other in Arm if other is not arm)):
        yield ""
        yield f"{run.subject(each)} ({each})"
        yield from _in_group(story, story.groups[each], send)


def _in_group(story: CaseStory, group: GroupStory, send: int) -> Iterator[str]:
    origin_ns = story.trace.entry.origin_ns or 0
    held = story.held_by_send[send]
    lines = [line for tenure in group.tenures_of(held.queue) for line in _tenure(tenure)]
    lines += [line for delivery in group.by_send.get(send, ()) for line in _delivery(delivery)]
    covering = next(
        (each for each in group.commits if each.queue == held.queue and each.value > held.queue_offset), None
    )
    if covering is not None:
        by = "seen at the broker" if covering.member is None else f"by member {covering.member}"
        lines.append((covering.by_ns, f"offset {covering.value} is committed, {by}, which covers the message"))
    for fault in story.trace.faults:
        lines.append((fault.inject_ns, f"{fault.kind} of {fault.node} begins"))
        if fault.heal_ns is not None:
            lines.append((fault.heal_ns, f"{fault.node} is healed"))
    yield from (f"{(ns - origin_ns) / NS_PER_S:8.3f} s  {text}" for ns, text in sorted(lines))
    for copy in group.returned or ():
        if copy.send == send:
            yield f"            a copy is in the place {copy.place}, {copy.times} failures counted"
    if not group.by_send.get(send):
        yield "            it was never delivered"


def _tenure(tenure: Tenure) -> Iterator[tuple[int, str]]:
    first = "an unknown offset" if tenure.first is None else f"offset {tenure.first}"
    if tenure.first is not None and tenure.first < 0:
        first = "its beginning: no offset is committed"
    yield tenure.from_ns, f"member {tenure.member} begins to work on the queue, from {first}"
    if tenure.until_ns is not None:
        yield tenure.until_ns, f"member {tenure.member} gives the queue up"


def _delivery(each: Delivery) -> Iterator[tuple[int, str]]:
    cause = "" if not each.number else f", again ({each.times} failures counted)"
    yield each.start_ns, f"delivery {each.number + 1} to member {each.member} from {each.queue}{cause}"
    if each.end_ns is not None:
        level = "" if each.delay_level is None else f", delay level {each.delay_level}"
        yield each.end_ns, f"its call ends with {each.result}{level}"
