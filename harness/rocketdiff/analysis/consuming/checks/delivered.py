"""
Is every stored message handed to the group, and as it was stored?

A message is lost for certain if a later one of its queue was delivered in a tenure that began at or below it: a member pulls a
queue in order and leaves nothing out. At the end of a queue it is only not yet delivered, unless the case was watched for longer
than the rules let a queue stand still, and a member worked on the queue all that time.
"""

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.consuming.checks.group_check import JUDGED, GroupCheck, evidence_of
from rocketdiff.analysis.consuming.group_facts import GroupFacts
from rocketdiff.analysis.consuming.story import CaseStory, Delivery, GroupStory, Held, QueueOf
from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.signatures import DAMAGED, NEVER_DELIVERED, NOT_YET_DELIVERED, OTHER_MESSAGE
from rocketdiff.core.units import NS_PER_S

NAME = "delivered"

UNDECIDED = "undecided"
"""Tally of messages that were not delivered, while the rules may still have let them wait."""

UNDECIDED_ONE_IN = 20
"""With more than one undecided message in so many nothing is shown."""

LONGEST_HOLD_S = 5.0
"""A broker looks at the pulls that it holds every 5 s (PullRequestHoldService), so a message in its log waits no longer."""

LONGEST_ERROR_S = 32.0
"""A pull that got no answer ends after 30 to 31 s; the next one comes 1 s later (3 s up to 4.5.2)."""

PATIENCE = 1.5
"""A busy machine may take half as long again as the rules' longest time."""


def longest_stand_still_ns(last_heal_ns: int | None, stored_ns: int) -> int:
    """Return how long the rules let a message wait in a queue that a member works on, from when it was stored or could be read."""
    longest_s = LONGEST_HOLD_S if last_heal_ns is None or last_heal_ns < stored_ns else LONGEST_ERROR_S
    return int(PATIENCE * longest_s * NS_PER_S)


def observe(story: CaseStory, facts: GroupFacts) -> None:
    """Note what this check finds in a case."""
    if story.held is None:
        return
    for group in story.groups.values():
        for queue, held in story.held.items():
            _observe_queue(story, facts, group, queue, held)


def _observe_queue(
    story: CaseStory, facts: GroupFacts, group: GroupStory, queue: QueueOf, held: tuple[Held, ...]
) -> None:
    deliveries = group.by_queue.get(queue, ())
    seen = {each.queue_offset for each in deliveries}
    facts.count(NAME, str(group.arm), "", JUDGED, n=len(held))
    by_offset = {each.queue_offset: each for each in held}
    for each in deliveries:
        _compare(facts, group, each, by_offset.get(each.queue_offset))
    for message in held:
        if message.queue_offset not in seen and message.send is not None:
            _missing(story, facts, group, message, deliveries)


def _compare(facts: GroupFacts, group: GroupStory, delivery: Delivery, held: Held | None) -> None:
    where = f"offset {delivery.queue_offset} of {delivery.queue}"
    if held is None or delivery.send != held.send:
        facts.differ(
            OTHER_MESSAGE,
            group,
            at_ns=delivery.start_ns,
            send=delivery.send,
            delivery=delivery,
            expected=f"at {where} " + ("nothing" if held is None else f"message {held.send}"),
            observed=f"message {delivery.send}",
        )
    elif held.body_ok and not delivery.body_ok:
        facts.differ(
            DAMAGED,
            group,
            at_ns=delivery.start_ns,
            send=delivery.send,
            delivery=delivery,
            expected=f"the body that is stored at {where}",
            observed="another one",
        )


def _missing(
    story: CaseStory, facts: GroupFacts, group: GroupStory, held: Held, deliveries: tuple[Delivery, ...]
) -> None:
    later = [
        each
        for each in deliveries
        if each.queue_offset > held.queue_offset
        and (tenure := group.tenure_at(each)) is not None
        and tenure.first is not None
        and tenure.first <= held.queue_offset
    ]
    where = f"stored at offset {held.queue_offset} of {held.queue}"
    if later:
        first = min(later, key=lambda each: each.start_ns)
        facts.differ(
            NEVER_DELIVERED,
            group,
            at_ns=first.start_ns,
            send=held.send,
            expected=f"a delivery of message {held.send}, {where}",
            observed=f"none, though offset {first.queue_offset} was delivered by a member that began below it",
        )
        return
    if (waited_ns := _waited_ns(story, group, held)) is None:
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


def _waited_ns(story: CaseStory, group: GroupStory, held: Held) -> int | None:
    """Return how long a message has waited in a queue that a member worked on all the time; None if not longer than rules allow."""
    clock = story.trace.entry.clock
    if clock is None:
        return None
    stored_ns = clock.latest_ns(held.store_ms)
    faults = story.trace.faults
    if any(fault.healed_ns is None for fault in faults):
        return None
    heals = [fault.healed_ns for fault in faults if fault.healed_ns is not None]
    last_heal_ns = max(heals, default=None)
    since_ns = max(stored_ns, last_heal_ns or 0)
    until_ns = min(group.watched_until_ns, group.first_leave_ns)
    worked = [each for each in group.tenures_of(held.queue) if each.covers(since_ns) and each.covers(until_ns - 1)]
    is_longer = until_ns - since_ns > longest_stand_still_ns(last_heal_ns, stored_ns)
    return until_ns - since_ns if worked and is_longer else None


def evaluate(facts: CaseFacts) -> Evidence:
    """Return the evidence of one case; a group that was watched too briefly to tell cannot conform."""
    evidence = evidence_of(facts, NAME, "no message was stored for {}")
    for arm in Arm:
        waiting, judged = facts.n(NAME, UNDECIDED, arm=str(arm)), facts.n(NAME, JUDGED, arm=str(arm))
        if evidence.standing is Standing.DECISIVE and waiting * UNDECIDED_ONE_IN > judged:
            reason = (
                f"{waiting} of {judged} messages had not reached {facts.subjects[arm]} when the case ended, and rules allow"
                " a longer wait after its last fault"
            )
            return facts.evidence(NAME, Standing.INDECISIVE, reason, decisions=evidence.decisions)
    return evidence


CODE: GroupCheck = CheckCode(NAME, observers=(observe,), evaluate=evaluate)
