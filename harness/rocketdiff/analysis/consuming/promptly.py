"""By when a member must have been handed a message that its broker has: where nothing disturbs it, and a thread is free."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from math import inf

from rocketdiff.analysis.consuming.membership import Membership, applied_spans, windows_of
from rocketdiff.analysis.consuming.story import CaseStory, Delivery, GroupStory, Tenure
from rocketdiff.analysis.consuming.waiting import Waiting
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.oracle.consumer.reach import is_felt
from rocketdiff.oracle.consumer.windows import HOLD_NS, MARGIN_NS, NEVER_NS

THREADS = 20
"""
Threads that call the listener if no setting names them, in every release (consumeThreadMin): a pool in front of which calls wait in a queue
without a bound never grows beyond its least number (java.util.concurrent.ThreadPoolExecutor).
"""


class Promptly:
    """Of one group of a case. first_delivery_ns: from a member's taking a queue to its first pull, at the longest."""

    def __init__(self, story: CaseStory, group: GroupStory) -> None:
        waiting, settings = Waiting(story, group), group.settings
        windows = windows_of(story, group)
        self.first_delivery_ns = windows.first_delivery()
        self._served_ns = windows.heartbeat_ns + windows.pull_failure_ns
        self._begun_ns = windows.first_message(is_refused=True) + MARGIN_NS
        self._group = group
        self.threads = 1 if group.polls else int(settings.get("consume_thread_min", THREADS))
        self._disturbed = [
            (fault.inject_ns, None if fault.healed_ns is None else fault.healed_ns + waiting.after(fault) + MARGIN_NS)
            for fault in story.trace.faults
            if is_felt(fault)
        ]
        self._disturbed += [
            (pause.from_ns, None if pause.until_ns is None else pause.until_ns + MARGIN_NS)
            for life in group.lives
            for pause in life.pauses
        ]
        self._disturbed += [
            (int(since_ns), None if until_ns == inf else int(until_ns)) for since_ns, until_ns in applied_spans(group)
        ]
        starts: defaultdict[int, dict[int, int]] = defaultdict(dict)
        ends: defaultdict[int, dict[int, int]] = defaultdict(dict)
        for each in group.deliveries:
            starts[each.member][each.call] = each.start_ns
            if each.end_ns is not None:
                ends[each.member][each.call] = each.end_ns
        self._starts = {member: sorted(calls.values()) for member, calls in starts.items()}
        self._ends = {member: sorted(calls.values()) for member, calls in ends.items()}

    def is_late(self, delivery: Delivery, due_ns: int) -> bool:
        """Return True if a message that its broker had by due_ns was delivered later than the rules allow, undisturbed."""
        latest_ns = due_ns + HOLD_NS + self._group.pull_interval_ns + MARGIN_NS
        if delivery.start_ns <= latest_ns or self._is_disturbed(due_ns, delivery.start_ns):
            return False
        tenure = self._group.tenure_at(delivery)
        if (
            tenure is None
            or tenure.begin_ns > due_ns
            or any(due_ns <= at_ns <= delivery.start_ns for at_ns in self._group.changes_ns)
        ):
            return False
        # A heartbeat that finds another one under way is left out, and the queue's broker refuses pulls until the next one (code 25).
        is_served = self._group.deliveries_in(tenure)[0].start_ns <= latest_ns
        if not is_served and delivery.start_ns <= tenure.from_ns + self._served_ns + MARGIN_NS:
            return False
        return self.calls_at(delivery.member, latest_ns) < self.threads

    def kept_ns(self, delivery: Delivery, due_ns: int, membership: Membership) -> int | None:
        """
        Return how long a message may wait in a queue that its member keeps, whoever comes or goes; None if that is open.

        A round that changes a member's share may have its pulls refused until the next heartbeat, and those of its other queues too.
        """
        tenure = self._group.tenure_at(delivery)
        if tenure is None or (life := self._group.life_of(tenure)) is None:
            return None
        if tenure.is_repaired or tenure.begin_ns + self._begun_ns > due_ns:
            return None
        allowed_ns = max(HOLD_NS, self._served_ns) + self._group.pull_interval_ns + membership.busy_ns
        until_ns = due_ns + allowed_ns
        if self._is_disturbed(due_ns, until_ns) or membership.is_frozen(life, due_ns, until_ns):
            return None
        return allowed_ns if self.calls_at(delivery.member, until_ns) < self.threads else None

    def calls_at(self, member: int, at_ns: int) -> int:
        """Return how many calls of a member's listener are under way."""
        return bisect_right(self._starts.get(member, []), at_ns) - bisect_right(self._ends.get(member, []), at_ns)

    def _is_disturbed(self, from_ns: int, to_ns: int) -> bool:
        return any(
            since_ns <= to_ns and (until_ns is None or from_ns <= until_ns) for since_ns, until_ns in self._disturbed
        )


def awaited(story: CaseStory, group: GroupStory, tenure: Tenure) -> Iterator[tuple[Delivery, int]]:
    """Yield the first delivery of each offset of a tenure, and when it was stored and all before it were finished."""
    free_ns, seen = 0, set[int]()
    for each in sorted(group.deliveries_in(tenure), key=lambda each: (each.queue_offset, each.start_ns)):
        stored_ns = None if each.send is None else story.stored_ns.get(each.send)
        if stored_ns is not None and each.queue_offset not in seen:
            yield each, max(stored_ns, free_ns)
        seen.add(each.queue_offset)
        held_ns = group.suspended_ms(each) * NS_PER_MS if group.holds_up(each) else 0
        free_ns = max(free_ns, NEVER_NS if each.end_ns is None else each.end_ns + held_ns)
