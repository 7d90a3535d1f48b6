"""
Is a message delivered again only with a cause, and does a member begin a queue where the group stopped?

In one tenure an offset comes again only after its listener has failed. A tenure begins at the offset that its broker answered: not
below one that the broker had answered before, and not above a message that no call had received. A killed broker may lose
offsets that it had not written, so nothing is said about its queues.
"""

from collections import defaultdict
from itertools import pairwise

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.consuming.checks.group_check import JUDGED, GroupCheck, evidence_of
from rocketdiff.analysis.consuming.group_facts import GroupFacts
from rocketdiff.analysis.consuming.story import CaseStory, Delivery, GroupStory, QueueOf, Tenure
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.core.tables.signatures import BEGAN_ABOVE, BEGAN_BELOW, DELIVERED_AGAIN_WITHOUT_CAUSE
from rocketdiff.core.units import NS_PER_MS

NAME = "redelivery"

ASKED_BEFORE_NS = 1_000_000_000
"""A member asks for its first offset shortly before it is seen to own the queue, on a busy machine up to a second."""


def observe(story: CaseStory, facts: GroupFacts) -> None:
    """Note what this check finds in a case."""
    for group in story.groups.values():
        for queue, deliveries in group.by_queue.items():
            facts.count(NAME, str(group.arm), "", JUDGED, n=len(deliveries))
            _observe_repeats(facts, group, deliveries)
            if not any(fault.kind is FaultKind.KILL and fault.node == queue.broker for fault in story.trace.faults):
                for tenure in group.tenures_of(queue):
                    _observe_beginning(story, facts, group, queue, tenure)


def _observe_repeats(facts: GroupFacts, group: GroupStory, deliveries: tuple[Delivery, ...]) -> None:
    seen: defaultdict[tuple[Tenure | None, int], list[Delivery]] = defaultdict(list)
    for each in deliveries:
        seen[group.tenure_at(each), each.queue_offset].append(each)
    for (tenure, offset), same in seen.items():
        for before, again in pairwise(same):
            if tenure is None or (before.has_failed and before.is_finished_by(again.start_ns)):
                continue
            asked = group.asked.get((again.member, again.queue), ())
            if any(before.start_ns <= at_ns <= again.start_ns for at_ns in asked):
                continue  # it gave the queue up and got it again between two looks at what it owns
            ended = "has not ended" if before.result is None else f"ended with {before.result}"
            facts.differ(
                DELIVERED_AGAIN_WITHOUT_CAUSE,
                group,
                at_ns=again.start_ns,
                send=again.send,
                delivery=again,
                expected=f"no further delivery of offset {offset} of {again.queue} by member {again.member}",
                observed=f"one {(again.start_ns - before.start_ns) / NS_PER_MS:.0f} ms after a call that {ended}",
            )


def _observe_beginning(story: CaseStory, facts: GroupFacts, group: GroupStory, queue: QueueOf, tenure: Tenure) -> None:
    if tenure.first is None or tenure.first < 0:
        return
    before = [
        each.value
        for each in group.commits_by_queue.get(queue, ())
        if each.member is None and each.by_ns < tenure.from_ns - ASKED_BEFORE_NS
    ]
    if before and tenure.first < max(before):
        facts.differ(
            BEGAN_BELOW,
            group,
            at_ns=tenure.from_ns,
            expected=f"member {tenure.member} to begin {queue} at {max(before)} or above, as its broker had answered",
            observed=f"it began at {tenure.first}",
        )
    received = {each.queue_offset for each in group.by_queue.get(queue, ()) if each.start_ns <= tenure.from_ns}
    skipped = next(
        (
            held
            for held in (story.held or {}).get(queue, ())
            if held.queue_offset < tenure.first and held.queue_offset not in received
        ),
        None,
    )
    if skipped is not None:
        facts.differ(
            BEGAN_ABOVE,
            group,
            at_ns=tenure.from_ns,
            send=skipped.send,
            expected=f"member {tenure.member} to begin {queue} at {skipped.queue_offset} or below: no call had received it",
            observed=f"it began at {tenure.first}",
        )


def evaluate(facts: CaseFacts) -> Evidence:
    """Return the evidence of one case."""
    return evidence_of(facts, NAME, "{} delivered nothing")


CODE: GroupCheck = CheckCode(NAME, observers=(observe,), evaluate=evaluate)
