"""
Until when the rules let a message wait at the end of its queue: for a member that works on the queue, and without one.

The windows are the baseline's release's. A baseline without rules of its own gets those of the oldest release, which are the longest.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from rocketdiff.analysis.consuming.membership import Membership
from rocketdiff.analysis.consuming.story import CaseStory, GroupStory, Held, QueueOf, Tenure
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.oracle.consumer import reach
from rocketdiff.oracle.consumer.finishing import UNWRITTEN_NS
from rocketdiff.oracle.consumer.reach import closes_connections, is_felt, is_of_name_server, moves_queues, over_ns
from rocketdiff.oracle.consumer.windows import HOLD_NS, MARGIN_NS


@dataclass(frozen=True, slots=True)
class _Open:
    """A message may wait for then_ns from when it was stored, and from until_ns."""

    until_ns: int
    then_ns: int


class Waiting:
    """Of one group of a case."""

    def __init__(self, story: CaseStory, group: GroupStory) -> None:
        trace = story.trace
        self._membership = Membership(story, group)
        self._windows = self._membership.windows
        self._open: dict[QueueOf, _Open | None] = {}
        self._clock = trace.entry.clock
        self._queues = trace.entry.queues_per_broker + 1
        self._faults = [fault for fault in trace.faults if is_felt(fault)]
        self._group = group
        self._fed = tuple(story.held or ())
        self._until_ns = group.first_leave_ns

    def too_long_ns(self, held: Held) -> int | None:
        """Return for how long a message has waited; None if the rules may explain it, or there was no member to deliver it."""
        if self._clock is None or any(fault.healed_ns is None for fault in self._faults):
            return None
        if held.queue not in self._open:
            self._open[held.queue] = self._open_for(held.queue)
        window = self._open[held.queue]
        stored_ns = self._clock.latest_ns(held.store_ms)
        if window is None or self._may_be_unseen(held, stored_ns):
            return None
        until_ns = max(stored_ns, window.until_ns) + window.then_ns
        return self._until_ns - stored_ns if self._until_ns > until_ns + MARGIN_NS else None

    def _may_be_unseen(self, held: Held, stored_ns: int) -> bool:
        """True if a member that was killed may have had it: the record died with it. No member began at it or below since."""
        tenures = self._group.tenures_of(held.queue)
        return any(
            (killed_ns := self._group.killed_in(tenure)) is not None
            and stored_ns <= killed_ns + UNWRITTEN_NS
            and (tenure.first is None or tenure.first <= held.queue_offset)
            and not any(
                each.from_ns >= killed_ns and each.first is not None and each.first <= held.queue_offset
                for each in tenures
            )
            for tenure in tenures
        )

    def _open_for(self, queue: QueueOf) -> _Open | None:
        tenures = [each for each in self._group.tenures_of(queue) if each.from_ns < self._until_ns]
        last = max(tenures, key=lambda each: each.from_ns, default=None)
        if last is None or any(life.is_cut_off for life in self._group.lives):
            return None
        if any(pause.until_ns is None for life in self._group.lives for pause in life.pauses):
            return None
        if last.until_ns is None or last.until_ns >= self._until_ns:
            return self._in_turn(queue, last)
        if any(life.gone_ns is None or life.gone_ns >= self._until_ns for life in self._group.lives):
            return self._without_an_owner(max(each.until_ns for each in tenures if each.until_ns is not None))
        return None

    def _in_turn(self, queue: QueueOf, tenure: Tenure) -> _Open | None:
        """
        A message also waits for those before it: in order for the calls, else for a member that has enough of the queue.

        It counts from the last call of the queue; None while one has not ended.
        """
        window = self._with_an_owner(queue, tenure)
        own = self._group.deliveries_in(tenure)
        calls = self._group.by_queue.get(queue, ())[-1:] if self._group.is_orderly else own
        for each in calls:
            if each.end_ns is None:
                return None
            held_ns = self._group.suspended_ms(each) * NS_PER_MS if self._group.holds_up(each) else 0
            window = replace(window, until_ns=max(window.until_ns, each.end_ns + held_ns))
        return window

    def _with_an_owner(self, queue: QueueOf, tenure: Tenure) -> _Open:
        """Until when a member may not get messages: its first pull of the queue, or a fault of the broker; then a hold."""
        ends = [
            fault.healed_ns + self._broker_was_down(fault) - HOLD_NS
            for fault in self._faults
            if fault.node == queue.broker and fault.healed_ns is not None
        ]
        woken = [at_ns + self._windows.closed_connection() for at_ns in self._woken(tenure.member)]
        return _Open(max([tenure.from_ns + self._windows.first_delivery(), *ends, *woken]), HOLD_NS)

    def _woken(self, member: int | None = None) -> Iterator[int]:
        """Yield when the pauses of a member's process ended, or of all members'; its connections may have been closed meanwhile."""
        for life in self._group.lives:
            if member in (None, life.member):
                yield from (pause.until_ns for pause in life.pauses if pause.until_ns is not None)

    def after(self, fault: FaultRecord) -> int:
        """
        From the heal of a queue's broker to its messages, at the longest, if the fault ended.

        More than a hold if the member may have to connect or pull anew, or another member to take the queue.
        """
        kept_ns = self._broker_was_down(fault)
        if self._is_kept(fault, kept_ns):
            return kept_ns
        if fault.hit is None:
            taken_ns = self._windows.no_owner_beside_a_broker_that_is_down(self._queues)
        else:
            taken_ns = reach.lingers_ns(fault.kind, fault.hit) + self._membership.after_fault(fault)
        return max(kept_ns, taken_ns + self._windows.first_delivery() + HOLD_NS)

    def _is_kept(self, fault: FaultRecord, window_ns: int) -> bool:
        """True if a member worked on each queue of the broker when the fault began, and none came or went since."""
        # A list without a member has it give up everything; of a group of one there is no list then.
        is_given_up = closes_connections(fault) and len(self._group.lives) > 1
        since_ns = fault.inject_ns - self._windows.first_delivery() - self._windows.no_owner_after_a_leave()
        until_ns = (fault.healed_ns or fault.inject_ns) + window_ns
        is_changed = any(since_ns <= at_ns <= until_ns for at_ns in self._group.changes_ns)
        return not (is_given_up or is_changed) and all(
            any(tenure.covers(fault.inject_ns) for tenure in self._group.tenures_of(queue))
            for queue in self._fed
            if queue.broker == fault.node
        )

    def _broker_was_down(self, fault: FaultRecord) -> int:
        if fault.hit is not None:
            lingers_ns = reach.lingers_ns(fault.kind, fault.hit)
            return lingers_ns + reach.stands_still(self._windows, fault.kind, fault.hit) + HOLD_NS
        return self._windows.broker_was_down(
            (fault.healed_ns or fault.inject_ns) - fault.inject_ns,
            was_killed=fault.kind is FaultKind.KILL,
            may_have_closed=self._membership.may_have_closed(fault),
        )

    def _without_an_owner(self, given_up_ns: int) -> _Open:
        """Until when a queue may be without an owner; then the first pull of the next one."""
        windows = self._windows
        since_ns = max([given_up_ns, *(at_ns for at_ns in self._group.changes_ns if at_ns < self._until_ns)])
        faults = [fault for fault in self._faults if moves_queues(fault)]
        is_notified = not faults
        locked_ns = windows.lock_of_another(was_killed=any(life.killed_ns is not None for life in self._group.lives))
        ends = [since_ns + windows.no_owner_after_a_leave(is_notified=is_notified) + locked_ns]
        ends += [at_ns + windows.no_owner_after_a_leave(is_notified=False) for at_ns in self._woken()]
        for fault in faults:
            healed_ns = fault.healed_ns or 0
            if fault.hit is not None:
                ends.append((over_ns(fault) or 0) + self._membership.after_fault(fault))
                continue
            ends.append(healed_ns + windows.no_owner_beside_a_broker_that_is_down(self._queues) + locked_ns)
            is_forgotten = is_of_name_server(fault)
            if fault.kind is FaultKind.KILL or is_forgotten:
                ends.append(healed_ns + windows.no_owner_after_a_lost_route(is_forgotten=is_forgotten))
            if self._membership.may_have_closed(fault):
                ends.append(healed_ns + windows.no_owner_of_repeated_ids())
        return _Open(max(ends), windows.first_delivery() + HOLD_NS)
