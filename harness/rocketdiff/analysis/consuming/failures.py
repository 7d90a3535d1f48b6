"""Which calls failed a message in one group, as the rules about retries see them, and the copies that its brokers hold."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from rocketdiff.analysis.consuming.story import CaseStory, Delivery, GroupStory, ReturnedCopy
from rocketdiff.oracle.consumer.finishing import BOTH_WAYS_NS, UNWRITTEN_NS
from rocketdiff.oracle.consumer.reach import may_stay, meets_hand_backs, over_ns
from rocketdiff.oracle.consumer.retrying import DEFAULT_MOST, Failure
from rocketdiff.oracle.consumer.windows import MARGIN_NS

RETRY, DEAD, WAITING = "retry", "dead", "waiting"
"""Places of a copy."""


def copies_by_send(group: GroupStory) -> Mapping[int, Sequence[ReturnedCopy]]:
    """Return the copies of each message of ours."""
    found: defaultdict[int, list[ReturnedCopy]] = defaultdict(list)
    for copy in group.returned or ():
        if copy.send is not None:
            found[copy.send].append(copy)
    return found


def most_reconsume_times(group: GroupStory) -> int:
    """Return how often a message may come back (getMaxReconsumeTimes of a concurrent listener)."""
    configured = int(group.settings.get("max_reconsume_times", -1))
    return DEFAULT_MOST if configured == -1 else configured


class Failures:
    """Of one group of a case."""

    def __init__(self, story: CaseStory, group: GroupStory) -> None:
        self.most = most_reconsume_times(group)
        self._faults = [fault for fault in story.trace.faults if fault.hit is None or meets_hand_backs(fault)]
        self._group = group
        self._clock = story.trace.entry.clock
        self._killed = [life.killed_ns for life in group.lives if life.killed_ns is not None]

    def of(self, delivery: Delivery) -> Failure:
        """Return a failed delivery whose call has ended."""
        end_ns = delivery.start_ns if delivery.end_ns is None else delivery.end_ns
        is_beside_a_fault = may_stay(self._faults, end_ns) or any(
            healed_ns is not None and fault.inject_ns <= end_ns <= healed_ns + MARGIN_NS
            for fault in self._faults
            for healed_ns in (over_ns(fault),)
        )
        return Failure(
            delivery.times,
            delivery.queue.broker,
            delivery.delay_level,
            is_certain=not is_beside_a_fault and not self._group.was_paused(delivery, end_ns, end_ns + BOTH_WAYS_NS),
            may_be_lost=self._may_be_lost(delivery, end_ns),
        )

    def may_be_unseen(self, copy: ReturnedCopy) -> bool:
        """True if a member whose process was killed may have failed the message, and its record died with it."""
        made_ns = None if self._clock is None else self._clock.latest_ns(copy.store_ms)
        return made_ns is None or any(
            killed_ns - UNWRITTEN_NS <= made_ns <= killed_ns + BOTH_WAYS_NS for killed_ns in self._killed
        )

    def _may_be_lost(self, delivery: Delivery, end_ns: int) -> bool:
        """True if the member left, was killed or gave the queue up so soon that it may have thrown the result away."""
        tenure = self._group.tenure_at(delivery)
        life = None if tenure is None else self._group.life_of(tenure)
        ends = [self._group.first_leave_ns, None if tenure is None else tenure.until_ns]
        ends += [None if life is None else life.gone_ns]
        is_cut_off = life is not None and life.is_cut_off
        return is_cut_off or end_ns > min(at_ns for at_ns in ends if at_ns is not None) - BOTH_WAYS_NS
