"""By when a member must have been handed a message that its broker has: where nothing disturbs it, and a thread is free."""

from bisect import bisect_right
from collections import defaultdict

from rocketdiff.analysis.consuming.membership import windows_of
from rocketdiff.analysis.consuming.story import CaseStory, Delivery, GroupStory
from rocketdiff.analysis.consuming.waiting import Waiting
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.oracle.consumer.reach import is_felt
from rocketdiff.oracle.consumer.windows import HOLD_NS, MARGIN_NS

THREADS = 20
"""Least number of threads that call the listener (consumeThreadMin), in every release."""


class Promptly:
    """Of one group of a case. first_delivery_ns: from a member's taking a queue to its first pull, at the longest."""

    def __init__(self, story: CaseStory, group: GroupStory) -> None:
        waiting, settings = Waiting(story, group), group.settings
        windows = windows_of(story, group)
        self.first_delivery_ns = windows.first_delivery()
        self._served_ns = windows.heartbeat_ns + windows.pull_failure_ns
        self._group = group
        self.threads = (
            1 if group.polls else int(settings.get("consume_thread_min", settings.get("consume_thread_max", THREADS)))
        )
        self.pull_interval_ns = int(settings.get("pull_interval_ms", 0)) * NS_PER_MS
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
        latest_ns = due_ns + HOLD_NS + self.pull_interval_ns + MARGIN_NS
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

    def calls_at(self, member: int, at_ns: int) -> int:
        """Return how many calls of a member's listener are under way."""
        return bisect_right(self._starts.get(member, []), at_ns) - bisect_right(self._ends.get(member, []), at_ns)

    def _is_disturbed(self, from_ns: int, to_ns: int) -> bool:
        return any(
            since_ns <= to_ns and (until_ns is None or from_ns <= until_ns) for since_ns, until_ns in self._disturbed
        )
