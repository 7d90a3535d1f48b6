"""
Brings the first members of both groups in, number by number, each time until both groups are settled; they stay so after the last.

Members that share no queue with others do not wait for each other.

Groups that do not settle make the case invalid. If one alone does not, while the other soon did and nothing had stalled, that is
a difference: its last member is taken as broken off, and the case goes on.
"""

import time
from collections.abc import Mapping

from rocketdiff.core.arm import Arm, Member
from rocketdiff.core.consuming.plan import STRATEGY_NAMES, MessageModel
from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.tables.signatures import NEVER_SETTLED
from rocketdiff.run.case.case_run import CaseRun
from rocketdiff.run.case.consuming.group_run import GroupRun
from rocketdiff.run.case.consuming.group_watch import GroupWatch
from rocketdiff.run.case.consuming.guards import SETTLED_WITHIN_S
from rocketdiff.run.case.consuming.membership import AHEAD_NS
from rocketdiff.run.case.consuming.names import CaseNames
from rocketdiff.run.case.consuming.settling import Queues, why_unsettled
from rocketdiff.run.case.guards import STALL_LIMIT_NS
from rocketdiff.run.case.role_run import NotSettled
from rocketdiff.run.case.stall_watch import StallWatch
from rocketdiff.subjects.consuming.limits import MemberLimits

SETTLED_FOR_S = 2.0
"""One minimum interval between rounds (1 s from 5.2.0 on) and one second."""

OVERDUE_S = 1.0
"""The member's own deadline comes first, so that it is the one that stalled."""

_LOOK_S = 0.1


class Joining:
    """
    The joins before the feed begins.

    settled_s: how long each group took to settle after the last join; None until then, missing if a member broke the protocol.
    """

    def __init__(
        self, run: CaseRun, names: CaseNames, groups: Mapping[Arm, GroupRun], watch: GroupWatch, limits: MemberLimits
    ) -> None:
        self.settled_s: dict[Arm, float | None] = dict.fromkeys(Arm)
        self._run, self._names, self._groups, self._watch, self._limits = run, names, groups, watch, limits
        group = run.case.scenario.group
        assert group is not None, "a scenario about consumers has a group"
        self._is_shared = group.model is MessageModel.CLUSTERING
        self._has_retry_topic = group.has_retry_topic
        self._strategy = STRATEGY_NAMES[group.allocation]
        self._assigned = [frozenset(own) for own in names.assigned(group.assign)]
        self._have_shares = self._is_shared and not self._assigned

    def join_all(self, members: int) -> None:
        """Raises NotSettled."""
        pids = {member: subject.pid for member, subject in self._run.programs.items()}
        with StallWatch(pids) as stalls:
            for number in range(members):
                self._join(number)
                is_last = number + 1 == members
                if is_last or self._have_shares:
                    unsettled = self._settle(number + 1, for_s=SETTLED_FOR_S if is_last else 0.0)
                    if unsettled:
                        self._give_up(unsettled, number, stalls)

    def _join(self, number: int) -> None:
        """Both arms at the same time. A start that threw is left, and tried once more: it may be possibly there."""
        run = self._run
        at_ns = time.monotonic_ns() + AHEAD_NS
        for group in self._groups.values():
            group.join(number, at_ns)
        for arm, group in self._groups.items():
            try:
                if failure := self._why_not_joined(group, number):
                    raise NotSettled(
                        f"member {number} of {arm} could not start twice, while nothing was faulty: {failure}"
                    )
            except SubjectBroken:
                run.ended(Member(arm, number), run.programs[Member(arm, number)])

    def _why_not_joined(self, group: GroupRun, number: int) -> str:
        """Return the error of a member's second start; empty once it has joined. Raises SubjectBroken."""
        limits = self._limits
        for is_again in (False, True):
            joined = group.await_joined(number, limits.join_s + OVERDUE_S)
            if joined is not None and joined.error is None:
                return ""
            if is_again:
                break
            group.leave(number, 0, is_last=False)
            group.await_left(number, limits.leave_s + OVERDUE_S)
            group.join(number, 0)
        return "no answer" if joined is None else ": ".join(filter(None, (joined.error, joined.message)))

    def _settle(self, count: int, for_s: float) -> dict[Arm, str]:
        """Wait until both groups have been settled for this time, with this number of members; return why one is not."""
        began = time.monotonic()
        since: dict[Arm, float] = {}
        reasons: dict[Arm, str] = {}
        self.settled_s.update(dict.fromkeys(self.settled_s))
        while len(reasons) < len(Arm) or any(reasons.values()):
            now = time.monotonic()
            for arm, group in self._groups.items():
                if group.is_broken:
                    reasons[arm] = ""
                    self.settled_s.pop(arm, None)
                    continue
                reasons[arm] = self._why_unsettled(arm, group, count)
                if reasons[arm]:
                    since.pop(arm, None)
                    self.settled_s[arm] = None
                elif now - since.setdefault(arm, now) < for_s:
                    reasons[arm] = f"it has been for less than {for_s:g} s"
                else:
                    self.settled_s[arm] = now - began if (took := self.settled_s[arm]) is None else took
            if now - began > SETTLED_WITHIN_S:
                break
            time.sleep(_LOOK_S)
        return {arm: reason for arm, reason in reasons.items() if reason}

    def _give_up(self, unsettled: Mapping[Arm, str], number: int, stalls: StallWatch) -> None:
        """Break off the one group that is unsettled by itself; raise NotSettled if something else may be the cause."""
        reasons = "; ".join(f"{arm}: {reason}" for arm, reason in unsettled.items())
        soonest_s = min((took for took in self.settled_s.values() if took is not None), default=SETTLED_WITHIN_S)
        seen = stalls.seen
        has_stalled = seen.longest_gap_ns > STALL_LIMIT_NS or any(seen.stopped_ns.values())
        if len(unsettled) == len(Arm) or soonest_s > SETTLED_WITHIN_S / 2 or has_stalled:
            raise NotSettled(f"the groups were not settled within {SETTLED_WITHIN_S:g} s: {reasons}")
        for arm, reason in unsettled.items():
            member = Member(arm, number)
            subject = self._run.programs[member]
            expected = f"a group settled within {SETTLED_WITHIN_S:g} s: the other one was after {soonest_s:.1f} s"
            subject.break_off(SubjectBroken(NEVER_SETTLED.name, expected=expected, seen=reason))
            self._run.ended(member, subject)
            self.settled_s.pop(arm, None)

    def _why_unsettled(self, arm: Arm, group: GroupRun, count: int) -> str:
        topics, members = self._names.groups[arm], group.living
        if len(members) != count:
            return f"{len(members)} of {count} members have joined with an id"
        queues: dict[str, set[tuple[str, int]]] = {topics.fed: set(), topics.retry: set()}
        for _, topic, broker, queue_id in self._names.queues_of(arm):
            queues[topic].add((broker, queue_id))
        whole: dict[str, Queues] = {topic: frozenset(of) for topic, of in queues.items()}
        listed, brokers = self._watch.listed(arm), self._names.brokers
        subscribed = whole if self._has_retry_topic else {topics.fed: whole[topics.fed]}
        return why_unsettled(
            members,
            subscribed,
            listed,
            brokers,
            strategy=self._strategy,
            is_shared=self._is_shared,
            assigned=self._assigned,
        )
