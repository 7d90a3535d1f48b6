"""
Until when the rules let a message wait at the end of its queue: for a member that works on the queue, and without one.

The windows are the baseline's release's. A baseline without rules of its own gets those of the oldest release, which are the longest.
"""

from rocketdiff.analysis.consuming.group_offsets import is_down
from rocketdiff.analysis.consuming.story import CaseStory, GroupStory, Held, QueueOf, Tenure
from rocketdiff.core.arm import Arm
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.core.tables.topology import NodeKind
from rocketdiff.oracle.consumer.windows import ASKED_NS, HOLD_NS, MARGIN_NS, Windows

OLDEST = "4.0.0-incubating"


class Waiting:
    """Of one group of a case."""

    def __init__(self, story: CaseStory, group: GroupStory) -> None:
        trace = story.trace
        release = trace.rules_given or SubjectId.parse(trace.subjects[Arm.BASELINE]).rules
        self._windows = Windows.of(release or OLDEST, group.settings)
        self._clock = trace.entry.clock
        self._queues = trace.entry.queues_per_broker + 1
        self._faults = [fault for fault in trace.faults if is_down(fault)]
        self._group = group
        self._changes_ns = sorted(
            at_ns for life in group.lives for at_ns in (life.join_ns, life.gone_ns) if at_ns is not None
        )
        self._until_ns = min(group.watched_until_ns, group.first_leave_ns)

    def too_long_ns(self, held: Held) -> int | None:
        """Return for how long a message has waited; None if the rules may explain it, or nobody could deliver it."""
        if self._clock is None or any(fault.healed_ns is None for fault in self._faults):
            return None
        stored_ns = self._clock.latest_ns(held.store_ms)
        tenures = [each for each in self._group.tenures_of(held.queue) if each.from_ns < self._until_ns]
        last = max(tenures, key=lambda each: each.from_ns, default=None)
        if any(life.is_cut_off for life in self._group.lives):
            return None
        if last is not None and last.covers(self._until_ns - 1):
            until_ns = self._with_an_owner(held.queue, last, stored_ns)
        elif tenures and self._is_anybody_there():
            until_ns = self._without_an_owner(max(each.until_ns or 0 for each in tenures), stored_ns)
        else:
            return None
        return self._until_ns - stored_ns if self._until_ns > until_ns + MARGIN_NS else None

    def _with_an_owner(self, queue: QueueOf, tenure: Tenure, stored_ns: int) -> int:
        """Until when a member may not get a message: a hold, its first pull of the queue, or a fault of the broker."""
        ends = [stored_ns + HOLD_NS, tenure.from_ns + self._windows.first_delivery() + HOLD_NS]
        for fault in self._faults:
            if fault.node == queue.broker and fault.healed_ns is not None:
                down_ns = fault.healed_ns - fault.inject_ns
                closed = self._may_have_closed(fault)
                window_ns = self._windows.broker_was_down(
                    down_ns, was_killed=fault.kind is FaultKind.KILL, may_have_closed=closed
                )
                ends.append(fault.healed_ns + window_ns)
        return max(ends)

    def _without_an_owner(self, given_up_ns: int, stored_ns: int) -> int:
        """Until when a queue may be nobody's, with the first pull of its next owner."""
        windows = self._windows
        since_ns = max((at_ns for at_ns in self._changes_ns if at_ns < self._until_ns), default=0)
        is_notified = not self._faults
        ends = [max(since_ns, given_up_ns) + windows.no_owner_after_a_leave(is_notified=is_notified)]
        for fault in self._faults:
            healed_ns = fault.healed_ns or 0
            ends.append(healed_ns + windows.no_owner_beside_a_broker_that_is_down(self._queues))
            if fault.kind is FaultKind.KILL or fault.kind.traits.node is NodeKind.NAME_SERVER:
                ends.append(healed_ns + windows.no_owner_after_a_lost_route())
            if self._may_have_closed(fault):
                ends.append(healed_ns + windows.no_owner_of_repeated_ids())
        return max(stored_ns, *ends) + windows.first_delivery() + HOLD_NS

    def _may_have_closed(self, fault: FaultRecord) -> bool:
        """
        True if a client may have asked the broker something while it was down, and closed the connection at the timeout.

        In calm it asks with each round and heartbeat, and to hand back a failed message.
        """
        heal_ns = fault.healed_ns or fault.inject_ns
        if heal_ns - fault.inject_ns < ASKED_NS:
            return False
        began_ns = min(self._changes_ns, default=0)
        if heal_ns - began_ns >= min(self._windows.round_ns, self._windows.heartbeat_ns):
            return True
        if any(fault.inject_ns - HOLD_NS <= at_ns <= heal_ns for at_ns in self._changes_ns):
            return True
        return any(
            each.has_failed and each.end_ns is not None and fault.inject_ns - HOLD_NS <= each.end_ns <= heal_ns
            for each in self._group.deliveries
        )

    def _is_anybody_there(self) -> bool:
        return any(life.gone_ns is None or life.gone_ns >= self._until_ns for life in self._group.lives)
