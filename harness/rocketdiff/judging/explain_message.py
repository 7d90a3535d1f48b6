"""
`rocketdiff explain`, of a message: where it is stored, who worked on its queue, why each delivery came, and what was committed.

Each kind of step is followed once by the rule behind it, so that the story can be read without other texts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rocketdiff.analysis.case_trace import CaseTrace
from rocketdiff.analysis.consuming.story import CaseStory, Delivery, GroupStory, Held, Tenure, story_of
from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import TopicKind
from rocketdiff.core.errors import UsageError
from rocketdiff.core.text.quoted import shown
from rocketdiff.core.units import NS_PER_S
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName

_DIGITS = 15
"""Digits of a number at most; no case has as many messages."""

BEGINNING = "a member that gets a queue asks its broker for the group's offset, and begins there"
RETRY = (
    "a failed message is handed back to its broker, which keeps it for the delay of its level (3 + earlier failures, unless"
    " the listener names one) and stores it in the retry topic, with one failure more"
)
DEAD = "a message that failed more often than the group allows goes to the dead letters, and comes no more"
COMMIT = (
    "a client commits the offset of the lowest message of a queue that no call has finished: with its pulls, every 5 s, and"
    " when it gives the queue up"
)
TAKEOVER = "what was finished and not committed when a queue changed its member is delivered again"
ONCE = "while a member keeps a queue, it delivers an offset again only after its call has failed"
HELD_UP = (
    "a failed message of an orderly group holds its queue up: the member that has the queue's lock calls its listener again after"
    " the time that the listener asks for, with one failure more, until it has failed too often"
)
LOCK = (
    "a member of an orderly group works on a queue only while its broker has locked the queue for it, which lasts 60 s from each"
    " renewal, unless the member gives it back"
)
IN_ORDER = "a client pulls a queue in order, and leaves no offset out"


@dataclass(frozen=True, slots=True)
class _Step:
    """One line of a story; rule: why it is so, empty if there is none."""

    at_ns: int
    text: str
    rule: str = ""


def explain_message(trace: CaseTrace, run: RunDirectory, arm: Arm, where: str) -> Iterator[str]:
    """Yield the story of one message in a group, then in the other arm's. Raises UsageError for a message that is not there."""
    story = story_of(trace)
    held = story.held_by_send.get(int(where)) if _is_number(where) else None
    if held is None:
        raise _no_message(story, where)
    clock = trace.entry.clock
    at = "" if clock is None else f", {_seconds(clock.latest_ns(held.store_ms), story)} after the first message was due"
    yield f"{trace.entry.name}"
    yield f"message {held.send} is stored at offset {held.queue_offset:,} of {held.queue}{at}"
    for each in (arm, *(other for other in Arm if other is not arm)):
        yield ""
        yield f"{run.subject(each)} ({each})"
        yield from _in_group(story, story.groups[each], held)


def _is_number(where: str) -> bool:
    return where.isascii() and where.isdecimal() and len(where) <= _DIGITS


def _no_message(story: CaseStory, where: str) -> UsageError:
    expected, planned = "the number of a message that a broker holds", story.trace.entry.sends_planned
    if story.held is None:
        return UsageError(expected, seen=shown(where), hint="the topic of this case was not read back")
    known = sorted(story.held_by_send)
    hint = f"this case has {known[0]} to {known[-1]}" if known else "this case has none"
    if _is_number(where) and int(where) < planned:
        return UsageError(expected, seen=f"{where}, which was to be sent and is stored nowhere", hint=hint)
    return UsageError(expected, seen=shown(where), hint=hint)


def _in_group(story: CaseStory, group: GroupStory, held: Held) -> Iterator[str]:
    deliveries = group.by_send.get(held.send or 0, ())
    steps = [
        *(step for tenure in group.tenures_of(held.queue) for step in _tenure(group, tenure)),
        *(step for number in range(len(deliveries)) for step in _delivery(group, deliveries, number)),
        *_copies(story, group, held),
        *_committed(group, held),
        *_faults(story),
    ]
    known: set[str] = set()
    for step in sorted(steps, key=lambda step: step.at_ns):
        yield f"{_seconds(step.at_ns, story):>11}  {step.text}"
        yield from _rule(step.rule, known)
    if not deliveries:
        yield f"{'':>11}  it was never delivered"
        yield from _rule(IN_ORDER, known)


def _rule(rule: str, known: set[str]) -> Iterator[str]:
    if rule and rule not in known:
        known.add(rule)
        yield f"{'':>11}    rule: {rule}"


def _seconds(at_ns: int, story: CaseStory) -> str:
    return f"{(at_ns - (story.trace.entry.origin_ns or 0)) / NS_PER_S:.3f} s"


def _tenure(group: GroupStory, tenure: Tenure) -> Iterator[_Step]:
    first = "an unknown offset" if tenure.first is None else f"offset {tenure.first:,}"
    if tenure.first is not None and tenure.first < 0:
        first = "where a group without a committed offset begins"
    if tenure.is_sought:
        yield _Step(tenure.from_ns, f"the application of member {tenure.member} goes to {first}")
    else:
        yield _Step(tenure.from_ns, f"member {tenure.member} begins to work on the queue, from {first}", BEGINNING)
    if tenure.until_ns is not None and not tenure.is_left:
        yield _Step(tenure.until_ns, f"member {tenure.member} gives the queue up", LOCK if group.is_orderly else "")


def _delivery(group: GroupStory, deliveries: Sequence[Delivery], number: int) -> Iterator[_Step]:
    each = deliveries[number]
    cause, rule = _cause(group, deliveries[number - 1], each) if number else ("", "")
    failures = f", {each.times} failure{'s' * (each.times > 1)} counted" if each.times else ""
    yield _Step(
        each.start_ns, f"delivery {number + 1} to member {each.member}, from {each.queue}{failures}{cause}", rule
    )
    if each.end_ns is None:
        yield _Step(each.start_ns, "its call never ended")
        return
    level = "" if each.delay_level is None else f", delay level {each.delay_level}"
    waits = "" if each.suspend_ms is None else f", to come again after {each.suspend_ms:,} ms"
    rule = "" if not each.has_failed else HELD_UP if group.is_orderly else RETRY
    yield _Step(each.end_ns, f"its call ends with {each.result}{level}{waits}", rule)


def _cause(group: GroupStory, before: Delivery, each: Delivery) -> tuple[str, str]:
    """Return why a message was delivered again, and the rule."""
    ended = "had not ended" if before.result is None else f"ended with {before.result}"
    if before.has_failed:
        return f": again, because the call before {ended}", ""
    if each.queue.kind is TopicKind.RETRY:
        return f": again without a cause, since the call before {ended}", RETRY
    tenures = group.tenure_at(before), group.tenure_at(each)
    began = tenures[1]
    if began is not None and began.is_sought:
        return f": again, because the application of member {began.member} went to offset {began.first or 0:,}", ""
    if began is not None and tenures[0] != began:
        at = "an unknown offset" if began.first is None else f"offset {began.first:,}"
        return f": again, because member {began.member} began the queue at {at}", TAKEOVER
    return f": again without a cause, since the call before {ended} and member {each.member} kept the queue", ONCE


def _copies(story: CaseStory, group: GroupStory, held: Held) -> Iterator[_Step]:
    """Where copies of the failed message were put."""
    table, clock = story.trace.tables.get((TableName.RETURNED, group.arm)), story.trace.entry.clock
    if table is None:
        return
    for row in table.to_pylist():
        if row["send"] != held.send:
            continue
        at_ns = group.watched_until_ns if clock is None else clock.latest_ns(row["store_timestamp_ms"])
        level = "" if row["delay_level"] is None else f", delay level {row['delay_level']}"
        place = {"retry": "the retry topic", "dead": "the dead letters", "waiting": "the delay topic"}[row["place"]]
        text = (
            f"a copy is stored in {place} at {row['broker']}, offset {row['queue_offset']:,}, failures: {row['times']}"
        )
        yield _Step(at_ns, text + level, DEAD if row["place"] == "dead" else "")


def _committed(group: GroupStory, held: Held) -> Iterator[_Step]:
    """The last value seen that does not cover the message, and the first that does."""
    own = group.commits_by_queue.get(held.queue, ())
    covering = next((commit for commit in own if commit.value > held.queue_offset), None)
    below = [
        commit
        for commit in own
        if 0 <= commit.value <= held.queue_offset and (covering is None or commit.by_ns < covering.by_ns)
    ]
    for commit, what in ((below[-1] if below else None, "does not cover"), (covering, "covers")):
        if commit is not None:
            by = "seen at the broker" if commit.member is None else f"by member {commit.member}"
            yield _Step(commit.by_ns, f"offset {commit.value:,} is committed, {by}, which {what} the message", COMMIT)
    if covering is None:
        yield _Step(
            group.watched_until_ns, "until the end of the case nothing is committed that covers the message", COMMIT
        )


def _faults(story: CaseStory) -> Iterator[_Step]:
    for fault in story.trace.faults:
        yield _Step(fault.inject_ns, f"{fault.node}: {fault.kind} begins")
        if fault.heal_ns is not None:
            yield _Step(fault.heal_ns, f"{fault.node} is healed")
