"""
Does every copy of a failed message have its body and the properties that the rules give it, and does the listener see those of its copy?

What its sender gave a message stays. A broker adds RETRY_TOPIC, the topic that the message was sent to, and ORIGIN_MESSAGE_ID, its id
when it was stored first, which is the same for every copy in both groups. The client's own send adds the first too, and its counts; until
5.3.3 it loses the second unless the message has come back before (the new message takes over the properties of the failed one). Its first
request has RECONSUME_TIME and MAX_RECONSUME_TIMES among its properties as well as in its header, in every release; a further one has neither.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping

from rocketdiff.analysis.consuming.failures import RETRY, WAITING, most_reconsume_times
from rocketdiff.analysis.consuming.group_facts import GroupFacts
from rocketdiff.analysis.consuming.membership import windows_of
from rocketdiff.analysis.consuming.story import CaseStory, GroupStory, Held, QueueOf, ReturnedCopy
from rocketdiff.core.sends.message import DELAY
from rocketdiff.core.tables.signatures import RETRY_DAMAGED, RETRY_OTHER_TIMES, RETRY_PROPERTY, Signature

RETRY_TOPIC, ORIGIN = "RETRY_TOPIC", "ORIGIN_MESSAGE_ID"
TIMES, MOST = "RECONSUME_TIME", "MAX_RECONSUME_TIMES"

OF_BROKERS = frozenset({"CLUSTER", "MSG_REGION", "TRACE_ON", "WAIT", "REAL_TOPIC", "REAL_QID", "DLQ_ORIGIN_TOPIC"})
OF_A_DELIVERY = frozenset({"MIN_OFFSET", "MAX_OFFSET", "CONSUME_START_TIME"})
"""Set at each delivery; the client's own send stores those of the failed one with the message."""

ADDED = OF_BROKERS | OF_A_DELIVERY | {DELAY, RETRY_TOPIC, ORIGIN, "DLQ_ORIGIN_MESSAGE_ID"}
"""Properties of a copy besides those of the message."""

NONE = "none"


def observe(story: CaseStory, facts: GroupFacts) -> None:
    """Note damaged copies, and the first property of each copy, and of each delivery of one, that is not as the rules have it."""
    origins = _origins(story)
    for group in story.groups.values():
        if group.is_orderly or group.returned is None:
            continue
        _observe_bodies(story, facts, group)
        keeps_origin = windows_of(story, group).rules.keeps_origin_id
        rows: dict[tuple[QueueOf, int], ReturnedCopy] = {}
        for copy in group.returned:
            held = None if copy.send is None else story.held_by_send.get(copy.send)
            if held is None or held.properties is None or copy.properties is None:
                continue
            if copy.place == RETRY:
                rows[copy.queue, copy.queue_offset] = copy
            wrong = next(_wrong(group, held, copy, origins.get(copy.send), keeps_origin), None)
            if wrong is not None:
                _note_property(facts, group, copy, *wrong)
        _observe_shown(facts, group, rows)


def _observe_bodies(story: CaseStory, facts: GroupFacts, group: GroupStory) -> None:
    for copy in group.returned or ():
        held = None if copy.send is None else story.held_by_send.get(copy.send)
        if held is not None and held.body_ok and not copy.body_ok:
            where = f"the {copy.place} copy of message {copy.send} with {copy.times} failures"
            _note(facts, group, copy, RETRY_DAMAGED, f"the body that was sent in {where}", "another one")


def _wrong(
    group: GroupStory, held: Held, copy: ReturnedCopy, origin: str | None, keeps_origin: bool
) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each property of a copy that is wrong, what was expected, and what is there."""
    sent: dict[str, str] = json.loads(held.properties or "{}")
    seen: dict[str, str] = json.loads(copy.properties or "{}")
    expected = {name: value for name, value in sent.items() if name not in OF_BROKERS}
    expected[RETRY_TOPIC] = group.topics.fed
    if copy.place == WAITING and copy.level is not None:
        expected[DELAY] = str(copy.level)
    is_of_broker = copy.born_host == held.born_host
    if is_of_broker and origin is not None:
        expected[ORIGIN] = origin
    elif (is_of_broker or keeps_origin) and ORIGIN not in seen:
        expected[ORIGIN] = "the id of the message when it was stored first"
    if not is_of_broker and seen.keys() & {TIMES, MOST}:
        # A broker that takes such a copy back leaves its counts as they are.
        counted = [str(times) for times in range(1, copy.times)]
        expected[TIMES] = seen[TIMES] if seen.get(TIMES) in counted else str(copy.times)
        expected[MOST] = str(most_reconsume_times(group))
    for name in sorted(expected):
        if seen.get(name) != expected[name]:
            yield name, expected[name], seen.get(name, NONE)
    for name in sorted(seen.keys() - expected.keys() - ADDED):
        yield name, NONE, seen[name]


def _origins(story: CaseStory) -> Mapping[int | None, str]:
    """Return the first id of each message as most of the copies that brokers made of it, in both groups, have it."""
    votes: dict[int | None, Counter[str]] = {}
    for group in story.groups.values():
        for copy in group.returned or ():
            held = None if copy.send is None else story.held_by_send.get(copy.send)
            if held is not None and copy.properties is not None and copy.born_host == held.born_host:
                seen = json.loads(copy.properties).get(ORIGIN)
                if seen is not None:
                    votes.setdefault(copy.send, Counter())[seen] += 1
    return {send: max(counted, key=counted.__getitem__) for send, counted in votes.items()}


def _observe_shown(facts: GroupFacts, group: GroupStory, rows: Mapping[tuple[QueueOf, int], ReturnedCopy]) -> None:
    """Compare what a listener sees of a copy with the copy itself."""
    for each in group.deliveries:
        copy = rows.get((each.queue, each.queue_offset))
        if copy is None or copy.send != each.send:
            continue
        if each.times != copy.times:
            is_local = each.times > copy.times and _failed_before(group, each.queue, each.queue_offset, each.start_ns)
            if is_local:
                continue
            facts.differ_at(
                RETRY_OTHER_TIMES,
                group,
                each,
                f"{copy.times} failures counted, as its copy has it",
                f"{each.times}",
            )
        elif each.properties is not None:
            stored = {
                name: value for name, value in json.loads(copy.properties or "{}").items() if name not in OF_A_DELIVERY
            }
            shown = json.loads(each.properties)
            for name in sorted(stored.keys() | shown.keys()):
                if stored.get(name) != shown.get(name):
                    _note_property(facts, group, copy, name, stored.get(name, NONE), shown.get(name, NONE))
                    break


def _failed_before(group: GroupStory, queue: QueueOf, offset: int, before_ns: int) -> bool:
    return any(
        each.queue_offset == offset and each.has_failed and each.start_ns < before_ns
        for each in group.by_queue.get(queue, ())
    )


def _note_property(
    facts: GroupFacts, group: GroupStory, copy: ReturnedCopy, name: str, expected: str, observed: str
) -> None:
    where = f"{name} of the {copy.place} copy of message {copy.send} with {copy.times} failures"
    _note(facts, group, copy, RETRY_PROPERTY, f"{where}: {expected}", observed, place=name)


def _note(
    facts: GroupFacts,
    group: GroupStory,
    copy: ReturnedCopy,
    signature: Signature,
    expected: str,
    observed: str,
    *,
    place: str = "",
) -> None:
    own = (each for each in reversed(group.deliveries) if each.send == copy.send)
    at = next((each for each in own if each.times < copy.times), None)
    facts.differ(
        signature,
        group,
        at_ns=group.watched_until_ns if at is None else at.end_ns or at.start_ns,
        send=copy.send,
        delivery=at,
        place=place,
        expected=expected,
        observed=observed,
    )
