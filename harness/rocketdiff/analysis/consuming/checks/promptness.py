"""
Is a message that is stored while its member waits for one delivered at once?

In calm a member has a pull at the broker, which answers it with the next message (PullRequestHoldService#notifyMessageArriving); at the
latest the broker's own look every five seconds finds it. So a message whose queue had nothing else to deliver comes within that time and
what the machine was seen to stall. What a starved process explains does not count (``starvation``). A busy machine makes single messages
late, all of a second: seconds with a late message are compared with the other group's (McNemar), in both directions.
"""

from collections.abc import Iterator, Mapping
from math import inf

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.consuming.checks.group_check import JUDGED, GroupCheck, evidence_of
from rocketdiff.analysis.consuming.group_facts import GroupFacts
from rocketdiff.analysis.consuming.lateness import LateSeconds, Starvation, later_group
from rocketdiff.analysis.consuming.membership import Membership
from rocketdiff.analysis.consuming.story import CaseStory, Delivery, GroupStory
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.signatures import LATE_IN_CALM, MORE_OFTEN_LATE
from rocketdiff.core.units import NS_PER_MS, NS_PER_S
from rocketdiff.oracle.consumer.windows import HOLD_NS

NAME = "promptness"

LATE_MS = 250.0
"""A late message is one that a user notices; in calm most come within ten milliseconds."""

SPREAD_NS = NS_PER_S
"""Two clocks, and threads of broker and client on a busy machine, besides the longest stall."""

APART_NS = 2 * NS_PER_S
"""From a disturbance to calm, on either side."""


def observe(story: CaseStory, facts: GroupFacts) -> None:
    """Note what this check finds in a case."""
    late = {arm: LateSeconds() for arm in story.groups}
    for arm, group in story.groups.items():
        awaited = list(_awaited(story, group))
        facts.count(NAME, str(arm), "", JUDGED, n=len(awaited))
        pull_ns = group.pull_interval_ns
        latest_ns = HOLD_NS + pull_ns + SPREAD_NS + story.stalled_ns
        starvation = Starvation(story, group)
        own_ns: dict[Delivery, int] = {}
        for each, stored_ns in awaited:
            waited_ns, explained_ns = each.start_ns - stored_ns, starvation.explains_ns(stored_ns, each.start_ns)
            own_ns[each] = waited_ns - explained_ns
            second = stored_ns // NS_PER_S
            late[arm].take_longest(second, (waited_ns - pull_ns) / NS_PER_MS, explained_ns / NS_PER_MS)
        worst = max(awaited, key=lambda one: own_ns[one[0]], default=None)
        if worst is not None and own_ns[worst[0]] > latest_ns:
            facts.differ_at(
                LATE_IN_CALM,
                group,
                worst[0],
                f"message {worst[0].send}, for which its member waited, within {latest_ns / NS_PER_S:.1f} s",
                f"{(worst[0].start_ns - worst[1]) / NS_PER_S:.1f} s",
                at_ns=worst[1],
            )
    _compare(story, facts, late)


def _compare(story: CaseStory, facts: GroupFacts, late: Mapping[Arm, LateSeconds]) -> None:
    later = later_group(late, lambda own_ms, other_ms: own_ms > LATE_MS >= other_ms)
    if later is not None:
        facts.differ(
            MORE_OFTEN_LATE,
            story.groups[later.arm],
            at_ns=later.seconds[0] * NS_PER_S,
            expected=f"messages in calm as often within {LATE_MS:.0f} ms as the other group's",
            observed=f"later in {len(later.seconds)} of {later.of} seconds in which the other's were not; the reverse in {later.against}",
        )


def _awaited(story: CaseStory, group: GroupStory) -> Iterator[tuple[Delivery, int]]:
    """
    Yield first deliveries of messages that came in calm and found all before them delivered, and when each was stored.

    In order, they must also have been finished: a message waits while the one before it is worked on, or is to be repeated.
    """
    disturbed = [*Membership(story, group).moving()]
    disturbed += [(fault.inject_ns, inf) for fault in story.trace.faults]
    for queue in sorted(story.held or {}):
        before_ns = -inf
        deliveries = group.by_queue.get(queue, ())
        done_ns = {each.queue_offset: inf if each.end_ns is None else each.end_ns for each in deliveries}
        for each in _firsts(deliveries):
            stored_ns = None if each.send is None else story.stored_ns.get(each.send)
            if stored_ns is not None and before_ns <= stored_ns:
                spans = ((since_ns - APART_NS, until_ns + APART_NS) for since_ns, until_ns in disturbed)
                if not any(since_ns <= stored_ns <= until_ns for since_ns, until_ns in spans):
                    yield each, stored_ns
            before_ns = max(before_ns, done_ns[each.queue_offset] if group.is_orderly else each.start_ns)


def _firsts(deliveries: tuple[Delivery, ...]) -> list[Delivery]:
    """Return the first delivery of each offset, by offset."""
    found: dict[int, Delivery] = {}
    for each in deliveries:
        found.setdefault(each.queue_offset, each)
    return [found[offset] for offset in sorted(found)]


def evaluate(facts: CaseFacts) -> Evidence:
    """Return the evidence of one case."""
    return evidence_of(facts, NAME, "no message came in calm while a member of {} waited for one")


CODE: GroupCheck = CheckCode(NAME, observers=(observe,), evaluate=evaluate)
