"""
Is a message delivered again only with a cause, and does a member begin a queue where the group stopped, and leave nothing out?

In one tenure an offset comes again only after its listener has failed and both ways of its hand-back as well: then after 5 s, with one
failure more. Where no broker was down that is rare: of a concurrent group's failed calls at most one in LOCAL_SHARE, or two. A tenure begins at the offset that its broker answered: not below what the group has certainly committed, and not above what
it may have committed; or at the offset to which its application has gone. A killed broker may forget what it had not written. Within a tenure every offset is delivered. A member of a
broadcasting group is judged by itself, with the offsets of its own file.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.consuming.checks.group_check import JUDGED, UNDECIDED, GroupCheck, evidence_of
from rocketdiff.analysis.consuming.group_facts import GroupFacts
from rocketdiff.analysis.consuming.group_offsets import (
    QueueOffsets,
    first_of,
    queue_offsets,
    rises_only,
)
from rocketdiff.analysis.consuming.story import CaseStory, Delivery, GroupStory, QueueOf, Tenure
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.tables.signatures import (
    AFTER_GIVING_UP,
    BEGAN_ABOVE,
    BEGAN_BELOW,
    DELIVERED_AGAIN_WITHOUT_CAUSE,
    LEFT_OUT,
    NOT_WHERE_SOUGHT,
)
from rocketdiff.core.units import NS_PER_MS, NS_PER_S
from rocketdiff.oracle.consumer.finishing import BOTH_WAYS_NS, LOCAL_RETRY_NS
from rocketdiff.oracle.consumer.reach import may_stay, meets_hand_backs
from rocketdiff.oracle.consumer.retrying import may_be_refused

NAME = "redelivery"

ASKED_BEFORE_NS = NS_PER_S
"""The answer to a member's question is seen up to this long after its broker gave it, on a busy machine."""

EARLY_NS = 100 * NS_PER_MS
"""Clocks and timers of a client, for its own delays."""

GIVEN_UP_NS = 2 * NS_PER_S
"""A thread that has looked whether the queue is still its member's may wait for a core before it calls the listener."""


def observe(story: CaseStory, facts: GroupFacts) -> None:
    """Note what this check finds in a case."""
    for group in (reader for each in story.groups.values() for reader in each.readers):
        for queue in sorted({*group.by_queue, *(tenure.queue for tenure in group.tenures)}):
            facts.count(NAME, str(group.arm), "", JUDGED, n=len(group.by_queue.get(queue, ())))
            _observe_queue(story, facts, group, queue)
        _observe_repeats(story, facts, group)


def _observe_queue(story: CaseStory, facts: GroupFacts, group: GroupStory, queue: QueueOf) -> None:
    for tenure in group.tenures_of(queue):
        deliveries = group.deliveries_in(tenure)
        _observe_late(facts, group, tenure, deliveries)
        if not tenure.is_repaired:
            _observe_gaps(facts, group, tenure, deliveries)
            _observe_first(facts, group, tenure, deliveries)
    known = queue_offsets(story, group, queue)
    if known is None:
        facts.count(NAME, str(group.arm), "", UNDECIDED, n=len(group.by_queue.get(queue, ())))
    else:
        _observe_beginnings(story, facts, group, queue, known)


def _observe_repeats(story: CaseStory, facts: GroupFacts, group: GroupStory) -> None:
    """Note what a member delivers again, and what it keeps to itself after a failure if that is not rare where no fault met the hand-back."""
    kept = []
    for before, again in _repeats(group):
        if not _is_local_retry(group, before, again):
            ended = "has not ended" if before.result is None else f"ended with {before.result}"
            facts.differ_at(
                DELIVERED_AGAIN_WITHOUT_CAUSE,
                group,
                again,
                f"no further delivery of offset {again.queue_offset} of {again.queue} by member {again.member}",
                f"one {(again.start_ns - before.start_ns) / NS_PER_MS:.0f} ms after a call that {ended}",
            )
        elif not group.is_orderly and not _may_be_kept(story, group, before):
            kept.append(again)
    if may_be_refused(len(kept), sum(each.has_failed for each in group.deliveries)):
        return
    for again in kept:
        facts.differ_at(
            DELIVERED_AGAIN_WITHOUT_CAUSE,
            group,
            again,
            f"message {again.send}, whose listener failed, handed back to its broker, which was there",
            f"a further delivery of offset {again.queue_offset} of {again.queue} by the same member",
        )


def _repeats(group: GroupStory) -> Iterator[tuple[Delivery, Delivery]]:
    """Yield the deliveries of one offset in one tenure that follow each other."""
    for tenure in group.tenures:
        by_offset: defaultdict[int, list[Delivery]] = defaultdict(list)
        for each in group.deliveries_in(tenure):
            by_offset[each.queue_offset].append(each)
        for same in by_offset.values():
            yield from pairwise(same)


def _is_local_retry(group: GroupStory, before: Delivery, again: Delivery) -> bool:
    least_ns = 0 if group.is_orderly else LOCAL_RETRY_NS - EARLY_NS
    return (
        before.end_ns is not None
        and before.has_failed
        and again.times == before.times + 1
        and again.start_ns - before.end_ns >= least_ns
    )


def _may_be_kept(story: CaseStory, group: GroupStory, failed: Delivery) -> bool:
    """True if a fault, or a pause of the member's process, may have met both ways of a hand-back."""
    end_ns = failed.end_ns or failed.start_ns
    faults = [fault for fault in story.trace.faults if meets_hand_backs(fault)]
    return may_stay(faults, end_ns) or group.was_paused(failed, end_ns, end_ns + BOTH_WAYS_NS)


def _observe_late(facts: GroupFacts, group: GroupStory, tenure: Tenure, deliveries: tuple[Delivery, ...]) -> None:
    if tenure.until_ns is None:
        return
    late = next((each for each in deliveries if each.start_ns > tenure.until_ns + GIVEN_UP_NS), None)
    if late is not None:
        facts.differ_at(
            AFTER_GIVING_UP,
            group,
            late,
            f"no delivery from {tenure.queue} by member {tenure.member}, which has given it up",
            f"one {(late.start_ns - tenure.until_ns) / NS_PER_MS:.0f} ms after that",
        )


def _observe_gaps(facts: GroupFacts, group: GroupStory, tenure: Tenure, deliveries: tuple[Delivery, ...]) -> None:
    """Note offsets that are left out between two that were delivered, the one above long before the tenure was over."""
    began: dict[int, Delivery] = {}
    for each in deliveries:
        began.setdefault(each.queue_offset, each)
    for before, after in pairwise(sorted(began)):
        if after == before + 1 or group.leaves_to_the_next(tenure, began[after], before + 1):
            continue
        facts.differ(
            LEFT_OUT,
            group,
            at_ns=began[after].start_ns,
            expected=f"offset {before + 1} of {tenure.queue} after {before}, by member {tenure.member}",
            observed=f"the next is {after}",
        )


def _observe_first(facts: GroupFacts, group: GroupStory, tenure: Tenure, deliveries: tuple[Delivery, ...]) -> None:
    """Compare the first offset that a member delivers with the one at which it must begin."""
    asked = first_of(group, tenure)
    if asked is None or not deliveries:
        return
    first = min(deliveries, key=lambda each: each.queue_offset)
    if tenure.is_sought:
        if first.queue_offset != asked:
            facts.differ_at(
                NOT_WHERE_SOUGHT,
                group,
                first,
                f"member {tenure.member} to go on with {tenure.queue} at {asked}, where its application went",
                f"it went on at {first.queue_offset}",
            )
        return
    if first.queue_offset < asked:
        _note_below(facts, group, tenure, asked, first.queue_offset, "as its broker had answered")
    elif first.queue_offset > asked and not group.leaves_to_the_next(tenure, first, asked):
        _note_above(facts, group, tenure, asked, first.queue_offset, None)


def _observe_beginnings(
    story: CaseStory, facts: GroupFacts, group: GroupStory, queue: QueueOf, known: QueueOffsets
) -> None:
    """Compare the offset that each tenure was answered with what the group may have committed, and was seen to, then."""
    asked = [
        (tenure, progress.first, asked_ns)
        for tenure, progress in known.tenures
        if (asked_ns := tenure.asked_ns) is not None
    ]
    bounds = known.bounds_at(at_ns - before_ns for _, _, at_ns in asked for before_ns in (1, ASKED_BEFORE_NS))
    answers = [each for each in group.commits_by_queue.get(queue, ()) if each.member is None]
    for tenure, first, at_ns in asked:
        least, most = bounds[at_ns - ASKED_BEFORE_NS].least, bounds[at_ns - 1].most
        seen = bisect_left(answers, at_ns - ASKED_BEFORE_NS, key=lambda each: each.by_ns)
        if seen and rises_only(story, group, queue, answers[seen - 1].asked_ns, at_ns, besides=tenure):
            least = max(least, answers[seen - 1].value)
        if first < least:
            _note_below(facts, group, tenure, least, first, "which was committed")
        elif tenure.first is not None and tenure.first > most:
            held = next((each for each in (story.held or {}).get(tenure.queue, ()) if each.queue_offset == most), None)
            _note_above(facts, group, tenure, most, tenure.first, None if held is None else held.send)


def _note_below(facts: GroupFacts, group: GroupStory, tenure: Tenure, least: int, seen: int, why: str) -> None:
    facts.differ(
        BEGAN_BELOW,
        group,
        at_ns=tenure.from_ns,
        expected=f"member {tenure.member} to begin {tenure.queue} at {least} or above, {why}",
        observed=f"it began at {seen}",
    )


def _note_above(facts: GroupFacts, group: GroupStory, tenure: Tenure, most: int, seen: int, send: int | None) -> None:
    facts.differ(
        BEGAN_ABOVE,
        group,
        at_ns=tenure.from_ns,
        send=send,
        expected=f"member {tenure.member} to begin {tenure.queue} at {most} or below: nobody has finished that offset",
        observed=f"it began at {seen}",
    )


def evaluate(facts: CaseFacts) -> Evidence:
    """Return the evidence of one case."""
    return evidence_of(facts, NAME, "{} delivered nothing")


CODE: GroupCheck = CheckCode(NAME, observers=(observe,), evaluate=evaluate)
