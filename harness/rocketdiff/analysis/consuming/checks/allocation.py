"""
Does each member take its share of the queues, and does each queue have one owner, the one that the rules say?

A member's share follows from the queues and ids that it says it had (``oracle.consumer.shares``); those must be the topic's queues and
ids that some broker may have listed (``membership``). Where nothing has changed for longer than the windows of
``oracle.consumer.windows``, each queue has the owner that the rules give it, and every member has made its round. A member that takes a
queue in which messages wait soon begins to work on it. What a client does not report is left open: relays show when a member begins to
work on a queue, not when it has given it up.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.consuming.checks.group_check import JUDGED, UNDECIDED, GroupCheck, evidence_of
from rocketdiff.analysis.consuming.group_facts import GroupFacts
from rocketdiff.analysis.consuming.membership import Membership
from rocketdiff.analysis.consuming.owners import Owners, Stretch, strategy_of
from rocketdiff.analysis.consuming.story import CaseStory, GroupStory, QueueOf, Round
from rocketdiff.analysis.consuming.takeovers import Takeover, are_more_often_late, takeovers
from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.answers.verdict import Measure
from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import TopicKind
from rocketdiff.core.records.consuming import ALLOCATIONS, OWNED
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.core.tables.signatures import (
    IDLE_MEMBER_CONSUMES,
    LATE_ROUND,
    LATE_TAKEOVER,
    NO_OWNER,
    OTHER_IDS,
    OTHER_OWNER,
    OTHER_QUEUES,
    OTHER_RESULT,
    TAKES_OVER_LATER,
    TWO_OWNERS,
    Signature,
)
from rocketdiff.core.units import NS_PER_S
from rocketdiff.oracle.consumer.reach import is_of_name_server
from rocketdiff.oracle.consumer.shares import Topic
from rocketdiff.oracle.consumer.windows import MARGIN_NS

NAME = "allocation"

TAKEN, MOVED = "taken", "moved"
"""Tallies: how often a queue was taken, and how often where nothing had changed."""

CLAIMS = (ALLOCATIONS, OWNED)


def observe(story: CaseStory, facts: GroupFacts) -> None:
    """Note what this check finds in a case."""
    strategy = strategy_of(story)
    taken = {}
    for group in story.groups.values():
        membership = Membership(story, group)
        check = _Rounds(story, facts, group, membership, strategy)
        for each in group.rounds:
            check.judge(each)
        owners = Owners(story, group, membership)
        settled = owners.settled
        # Locks alone may leave the owners open for a whole case (40 s up to 4.9.8); delivery-order asks for two of them anyway.
        unsettled = len(owners.topics) * (bool(group.silent) or not (settled or group.is_orderly))
        facts.count(NAME, str(group.arm), "", JUDGED, n=len(group.rounds) + len(owners.topics))
        facts.count(NAME, str(group.arm), "", UNDECIDED, n=check.undecided + unsettled)
        facts.count(NAME, str(group.arm), "", MOVED, n=owners.moved())
        taken_n = sum(tenure.queue.kind is TopicKind.FED for tenure in group.tenures)
        facts.count(NAME, str(group.arm), "", TAKEN, n=taken_n)
        if not group.silent:
            _observe_owners(facts, group, owners)
        _observe_rounds(facts, group, owners, membership)
        _observe_idle(facts, group, owners)
        taken[group.arm] = list(takeovers(story, group, membership))
    _observe_takeovers(story, facts, taken)


class _Rounds:
    """The rounds of one group. undecided: how many the rules leave open."""

    def __init__(
        self, story: CaseStory, facts: GroupFacts, group: GroupStory, membership: Membership, strategy: str
    ) -> None:
        self.undecided = 0
        self._story, self._facts, self._group, self._membership = story, facts, group, membership
        self._strategy = strategy
        self._ids = {(life.member, life.incarnation): life.client_id for life in group.lives}

    def judge(self, round_: Round) -> None:
        self._judge_queues(round_)
        self._judge_ids(round_)
        own = self._ids.get((round_.member, round_.incarnation))
        queues = tuple((each.broker, each.queue_id) for each in round_.queues)
        topics = self._group.topics
        name = topics.fed if round_.kind is TopicKind.FED else topics.retry
        topic = Topic(name, queues, self._strategy)
        if own is None or not topic.is_known:
            self.undecided += 1
            return
        if round_.strategy != self._strategy:
            self._differ(OTHER_RESULT, round_, f"the strategy {self._strategy}", round_.strategy)
            return
        computed = topic.share(round_.ids, own)
        if computed is None:
            if round_.error is None:
                self._differ(OTHER_RESULT, round_, "no result, as ids or queues lack", queues_in_words(round_.result))
            return
        share = [QueueOf(round_.kind, *queue) for queue in computed]
        if round_.error is not None or sorted(round_.result) != sorted(share):
            among = f"among {members_in_words(self._group, round_.ids)}"
            seen = round_.error or queues_in_words(round_.result)
            self._differ(OTHER_RESULT, round_, f"its share {among}: {queues_in_words(share)}", seen)

    def _judge_queues(self, round_: Round) -> None:
        entry = self._story.trace.entry
        if round_.kind is TopicKind.FED:
            whole = {
                QueueOf(round_.kind, each, number)
                for each in entry.brokers
                for number in range(entry.queues_per_broker)
            }
            lost = self._lost_routes(round_.at_ns)
            least = {queue for queue in whole if queue.broker not in lost}
        else:
            whole, least = {QueueOf(round_.kind, each, 0) for each in entry.brokers}, set()
        seen = set(round_.queues)
        if len(seen) == len(round_.queues) and least <= seen <= whole:
            return
        self._differ(
            OTHER_QUEUES, round_, f"to divide {queues_in_words(sorted(whole))}", queues_in_words(round_.queues)
        )

    def _lost_routes(self, at_ns: int) -> set[str]:
        """
        Brokers that a client's route may lack, until it has asked again.

        Those that were killed, and after a name server's fault any: it may have dropped one, which then registers anew.
        """
        faults = [fault for fault in self._story.trace.faults if fault.inject_ns <= at_ns]
        servers = [fault for fault in faults if is_of_name_server(fault)]
        windows = self._membership.windows
        forgotten_ns = windows.no_owner_after_a_lost_route(is_forgotten=True) + MARGIN_NS
        if any(each.healed_ns is None or at_ns <= each.healed_ns + forgotten_ns for each in servers):
            return set(self._story.trace.entry.brokers)
        until_ns = windows.no_owner_after_a_lost_route() + MARGIN_NS
        return {
            fault.node
            for fault in faults
            if fault.kind is FaultKind.KILL and (fault.healed_ns is None or at_ns <= fault.healed_ns + until_ns)
        }

    def _judge_ids(self, round_: Round) -> None:
        views, seen = self._membership.views(round_), Counter(round_.ids)
        lacking = views.surely - set(seen)
        strange = set() if views.possibly is None else set(seen) - views.possibly
        often = {one for one, times in seen.items() if views.most is not None and times > views.most.get(one, 1)}
        observed = members_in_words(self._group, round_.ids)
        if lacking:
            self._differ(OTHER_IDS, round_, f"{members_in_words(self._group, lacking)} among the members", observed)
        elif strange:
            self._differ(OTHER_IDS, round_, f"{members_in_words(self._group, strange)} not among the members", observed)
        elif often:
            self._differ(OTHER_IDS, round_, f"{members_in_words(self._group, often)} once", observed)

    def _differ(self, signature: Signature, round_: Round, expected: str, observed: str) -> None:
        self._facts.differ(
            signature,
            self._group,
            at_ns=round_.at_ns,
            member=round_.member,
            expected=f"member {round_.member}, dividing the {round_.kind} topic: {expected}",
            observed=observed,
        )


def _observe_owners(facts: GroupFacts, group: GroupStory, owners: Owners) -> None:
    """Note the first wrong owners of each queue and kind."""
    known = set()
    for each in owners.wrong():
        signature = NO_OWNER if not each.members else TWO_OWNERS if len(each.members) > 1 else OTHER_OWNER
        if (each.queue, signature) in known:
            continue
        known.add((each.queue, signature))
        who = " and ".join(f"member {member}" for member in each.members) or "no member"
        facts.differ(
            signature,
            group,
            at_ns=each.from_ns,
            member=_charged(each),
            expected=f"{each.queue} with one owner, member {each.owner}",
            observed=f"{who} for {(each.until_ns - each.from_ns) / NS_PER_S:.1f} s",
        )


def _charged(stretch: Stretch) -> int | None:
    """Return the member that owns what it must not; a queue without an owner is nobody's alone."""
    return next((member for member in stretch.members if member != stretch.owner), None)


def _observe_rounds(facts: GroupFacts, group: GroupStory, owners: Owners, membership: Membership) -> None:
    if not group.rounds:
        return
    for life, last, (since_ns, until_ns) in owners.late():
        if life.member in group.silent:
            continue
        living = [each.client_id or "" for each in membership.living_at(since_ns)]
        seen = "none at all" if last is None else f"its last one had {members_in_words(group, last.ids)}"
        facts.differ(
            LATE_ROUND,
            group,
            at_ns=int(since_ns),
            member=life.member,
            expected=f"a round of member {life.member} since the group is {members_in_words(group, living)}",
            observed=f"{seen}, still {(until_ns - since_ns) / NS_PER_S:.1f} s after the longest time that the rules allow",
        )


def _observe_idle(facts: GroupFacts, group: GroupStory, owners: Owners) -> None:
    idle, known = owners.idle(), set()
    for each in group.deliveries:
        if each.queue.kind is not TopicKind.FED or each.member in known:
            continue
        if any(since_ns <= each.start_ns < until_ns for since_ns, until_ns in idle.get(each.member, ())):
            known.add(each.member)
            facts.differ_at(
                IDLE_MEMBER_CONSUMES,
                group,
                each,
                f"no delivery to member {each.member}, which has no share of the queues",
                f"message {each.send} from {each.queue}",
            )


def _observe_takeovers(story: CaseStory, facts: GroupFacts, found: Mapping[Arm, Sequence[Takeover]]) -> None:
    """Note what began later than the rules allow, and what began late where the other group's rarely did."""
    for arm, other in ((Arm.BASELINE, Arm.CANDIDATE), (Arm.CANDIDATE, Arm.BASELINE)):
        is_frequent = are_more_often_late(found[arm], found[other])
        for late in found[arm]:
            if not (late.is_too_late or (is_frequent and late.is_late)):
                continue
            tenure, until_ns = late.tenure, late.latest_ns if late.is_too_late else late.soon_ns
            facts.differ(
                LATE_TAKEOVER if late.is_too_late else TAKES_OVER_LATER,
                story.groups[arm],
                at_ns=tenure.from_ns,
                member=tenure.member,
                expected=f"member {tenure.member} at work on {tenure.queue} within {(until_ns - tenure.from_ns) / NS_PER_S:.1f} s"
                + ("" if late.is_too_late else ", as the other group's mostly are"),
                observed=f"nothing of it delivered for {(late.begun_ns - tenure.from_ns) / NS_PER_S:.1f} s",
            )


def members_in_words(group: GroupStory, ids: Iterable[str]) -> str:
    """Return ids as numbers of members, with repetitions."""
    numbers = {life.client_id: life.member for life in group.lives if life.client_id is not None}
    counts = Counter(ids)
    named = sorted((numbers.get(one, len(numbers)), one, times) for one, times in counts.items())
    words = [
        (f"member {number}" if one in numbers else f"the id {one}") + (f" ({times} times)" if times > 1 else "")
        for number, one, times in named
    ]
    return _joined(words) or "no member"


def queues_in_words(queues: Sequence[QueueOf]) -> str:
    """Return queues as ``broker-a/0``."""
    return _joined([f"{queue.broker}/{queue.queue_id}" for queue in queues]) or "no queue"


def _joined(words: Sequence[str]) -> str:
    return ", ".join(words)


def evaluate(facts: CaseFacts) -> Evidence:
    """Return the evidence of one case, with the queues that changed hands in calm."""
    for arm in Arm:
        summary = facts.entry.arms.get(arm)
        lacking = [claim for claim in CLAIMS if summary is not None and claim not in summary.capabilities]
        if lacking and not facts.divergences.get(NAME):
            reason = f"{facts.subjects[arm]} does not report {' and '.join(lacking)}"
            return facts.evidence(NAME, Standing.INDECISIVE, reason)
    evidence = evidence_of(facts, NAME, "no member of {} divided the queues")
    return replace(evidence, measures=tuple(_needless(facts)))


def _needless(facts: CaseFacts) -> Iterator[Measure]:
    for arm in Arm:
        moved, taken = (facts.n(NAME, tally, arm=str(arm)) for tally in (MOVED, TAKEN))
        yield Measure(f"queues taken where nothing had changed {arm}", moved, "count", taken)


CODE: GroupCheck = CheckCode(NAME, observers=(observe,), evaluate=evaluate)
