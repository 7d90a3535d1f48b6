"""
Does a member hold back as much as it may, and go on afterwards?

A member pulls no more from a queue while it has more unfinished messages of it than ``pull_threshold_for_queue``, or while these are
further apart than ``consume_concurrently_max_span`` (DefaultMQPushConsumerImpl#pullMessage); what is finished counts for nothing, so that
one slow message alone holds nothing back. A pull brings one batch at the most. With relays this is seen at each pull, else only at
deliveries, of which no more than the threshold and a batch are under way. A member that holds nothing of a queue gets what waits in it.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.consuming.checks.group_check import JUDGED, GroupCheck, evidence_of
from rocketdiff.analysis.consuming.group_facts import GroupFacts
from rocketdiff.analysis.consuming.promptly import Promptly
from rocketdiff.analysis.consuming.pulls import WirePull, pulls_of
from rocketdiff.analysis.consuming.story import CaseStory, Delivery, GroupStory, QueueOf, Tenure
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.consuming.watched import TopicKind
from rocketdiff.core.tables.signatures import HELD_TOO_MUCH, STANDS_STILL
from rocketdiff.core.units import NS_PER_S

NAME = "flow-control"

THRESHOLD, SPAN, BATCH = 1_000, 2_000, 32
"""Defaults of every release."""


def observe(story: CaseStory, facts: GroupFacts) -> None:
    """Note what this check finds in a case."""
    for group in story.groups.values():
        promptly = Promptly(story, group)
        pulls: defaultdict[QueueOf, list[WirePull]] = defaultdict(list)
        for pull in pulls_of(story.trace, group.arm) or ():
            pulls[pull.queue].append(pull)
        for queue, own in sorted(group.by_queue.items()):
            if queue.kind is not TopicKind.FED:
                continue
            facts.count(NAME, str(group.arm), "", JUDGED, n=len(own))
            for tenure in group.tenures_of(queue):
                _observe_bounds(facts, group, tenure, group.deliveries_in(tenure), pulls[queue])
                _observe_stops(story, facts, group, tenure, promptly)


def _observe_bounds(
    facts: GroupFacts,
    group: GroupStory,
    tenure: Tenure,
    deliveries: Sequence[Delivery],
    pulls: Iterable[WirePull],
) -> None:
    """Note the first delivery, or pull, of a tenure that shows more than the member may have had."""
    settings = group.settings
    most, span = (
        int(settings.get("pull_threshold_for_queue", THRESHOLD)),
        int(settings.get("consume_concurrently_max_span", SPAN)),
    )
    at_once = most + int(settings.get("pull_batch_size", BATCH))
    for each, unfinished in _unfinished(deliveries):
        if unfinished > at_once:
            expected = f"at most {at_once} messages of {tenure.queue} in calls at once"
            facts.differ_at(HELD_TOO_MUCH, group, each, expected, f"{unfinished}")
            return
    for pull in pulls:
        if pull.member != tenure.member or not tenure.covers(pull.in_ns):
            continue
        held = [
            each
            for each in deliveries
            if each.start_ns < pull.in_ns and (each.end_ns is None or each.end_ns > pull.in_ns)
        ]
        if not held:
            continue
        offsets = sorted({each.queue_offset for each in held})
        if len(offsets) > most:
            expected = f"no pull of {tenure.queue} with over {most} unfinished messages"
            facts.differ_at(HELD_TOO_MUCH, group, held[-1], expected, f"one with {len(offsets)}", at_ns=pull.in_ns)
            return
        if not group.is_orderly and offsets[-1] - offsets[0] > span:
            expected = f"no pull of {tenure.queue} with unfinished messages over {span} offsets apart"
            facts.differ_at(
                HELD_TOO_MUCH, group, held[-1], expected, f"one with {offsets[0]} and {offsets[-1]}", at_ns=pull.in_ns
            )
            return


def _unfinished(deliveries: Sequence[Delivery]) -> Iterator[tuple[Delivery, int]]:
    """Yield each delivery with the number of those that had begun by then, itself included, and had not ended."""
    starts = sorted(each.start_ns for each in deliveries)
    ends = sorted(each.end_ns for each in deliveries if each.end_ns is not None)
    for each in deliveries:
        yield each, bisect_right(starts, each.start_ns) - bisect_right(ends, each.start_ns)


def _observe_stops(story: CaseStory, facts: GroupFacts, group: GroupStory, tenure: Tenure, promptly: Promptly) -> None:
    """Note the first message of a tenure that waited though the member had finished all before it."""
    free_ns = tenure.from_ns + promptly.first_delivery_ns
    for each in sorted(group.deliveries_in(tenure), key=lambda each: each.queue_offset):
        stored_ns = None if each.send is None else story.stored_ns.get(each.send)
        if stored_ns is not None:
            due_ns = max(stored_ns, free_ns)
            if promptly.is_late(each, due_ns):
                facts.differ_at(
                    STANDS_STILL,
                    group,
                    each,
                    f"message {each.send} from {each.queue} soon after all before it were finished",
                    f"{(each.start_ns - due_ns) / NS_PER_S:.1f} s later",
                )
                return
        free_ns = max(free_ns, each.end_ns or each.start_ns)


def evaluate(facts: CaseFacts) -> Evidence:
    """Return the evidence of one case."""
    return evidence_of(facts, NAME, "{} delivered nothing")


CODE: GroupCheck = CheckCode(NAME, observers=(observe,), evaluate=evaluate)
