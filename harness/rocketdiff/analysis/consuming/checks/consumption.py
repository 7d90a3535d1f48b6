"""
Does the candidate do to its user what the baseline does: do its members join and leave, and do messages come as soon, in calm and after restarts?

Seconds of the case count, not messages: a stall makes all messages of its second late. In a second without a fault or a change of members the median
time from a message's storing to its delivery, in the queue where it is longest, is slow if it is three times the other group's and
SLOWER_MS more, or in nearly all seconds A_BIT_MS: a queue that starves is late for its own messages only. What a starved process explains
does not count (``lateness``). A message of a queue that its member keeps waits for no change of members, and a leave in calm for no
answer but one: far longer is a difference by itself. Eleven slow seconds accuse at the least. Where applications pause, resume and seek,
the longest wait of a queue that could be pulled from is compared. After a pause of a broker, `resume-time` compares by statistics: what is
MARGIN_NS over the longest that the rules allow is a difference by itself, if the other group keeps to them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from heapq import heappop, heappush
from math import inf
from statistics import median

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.consuming.checks.group_check import JUDGED, GroupCheck, evidence_of
from rocketdiff.analysis.consuming.checks.resume_time import equal_ns
from rocketdiff.analysis.consuming.group_facts import CALM, PAUSED, GroupFacts, phase_of
from rocketdiff.analysis.consuming.lateness import Later, LateSeconds, Starvation, later_group
from rocketdiff.analysis.consuming.membership import Membership
from rocketdiff.analysis.consuming.promptly import Promptly, awaited
from rocketdiff.analysis.consuming.returns import Return, are_unlike, counts, returns
from rocketdiff.analysis.consuming.story import CaseStory, Delivery, GroupStory, Life, QueueOf
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import TopicKind
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.core.tables.signatures import (
    BATCH_TOO_LARGE,
    KEPT_QUEUE_WAITS,
    LATER_IN_CALM,
    LEAVE_FAILS,
    LEAVES_LATER,
    NEVER_JOINED,
    RESUMES_LATER,
    RESUMES_SOONER,
    TOO_MANY_CALLS,
    WAITS_LONGER,
)
from rocketdiff.core.units import NS_PER_MS, NS_PER_S
from rocketdiff.oracle.consumer.reach import over_ns
from rocketdiff.oracle.consumer.windows import HOLD_NS, MARGIN_NS

NAME = "consumption"

SLOWER = 3.0
SLOWER_MS, OFTEN = 250.0, 0.0
A_BIT_MS, NEARLY_ALWAYS = 50.0, 0.75
"""
By how much more, and in which part of the seconds at least. A cold JVM on a busy machine is late by a second for the first ten; of some
150 real pairs of faithful groups, at loads up to 20, none was late by the smaller amount in more than half of the seconds.
"""

LONGER_NS = 4 * NS_PER_S
"""One request of a leave may get no answer: 3 s to unregister, 1 s to unlock. A leave in calm was seen to take 3.1 s, others 0.1 s."""

PAUSED_PULL_NS = NS_PER_S
"""A lite pull consumer looks once a second whether a paused queue is resumed (PULL_TIME_DELAY_MILLS_WHEN_PAUSE). Faithful groups differed by 1.0 s at most."""


def observe(story: CaseStory, facts: GroupFacts) -> None:
    """Note what this check finds in a case."""
    for group in story.groups.values():
        facts.count(NAME, str(group.arm), "", JUDGED, n=len(group.lives))
        for life in group.lives:
            if life.join_ns is None or life.error is None or phase_of(story.trace.faults, life.join_ns) != CALM:
                continue
            if _is_repeated(story, group, life):
                continue
            facts.differ(
                NEVER_JOINED,
                group,
                at_ns=life.join_ns,
                expected=f"member {life.member} to join while nothing is wrong with the cluster",
                observed=life.error,
                place=life.error,
            )
        _observe_batches(facts, group)
        _observe_calls_at_once(facts, group)
    _observe_leaves(story, facts)
    memberships = {arm: Membership(story, group) for arm, group in story.groups.items()}
    _observe_long_leaves(story, facts, memberships)
    _observe_stops(story, facts, memberships)
    _observe_waits(story, facts, memberships[Arm.CANDIDATE].busy_ns)
    _observe_lateness(story, facts, memberships)
    _observe_returns(story, facts, memberships)
    _observe_resumptions(story, facts)


def _observe_batches(facts: GroupFacts, group: GroupStory) -> None:
    """Note the first call with more messages than the members are set to, if they are."""
    most = int(group.settings.get("consume_message_batch_max_size", 0))
    if not most:
        return
    calls: defaultdict[tuple[int, int], list[Delivery]] = defaultdict(list)
    for each in group.deliveries:
        calls[each.member, each.call].append(each)
    large = next((own for own in calls.values() if len(own) > most), None)
    if large is not None:
        facts.differ_at(
            BATCH_TOO_LARGE, group, large[0], f"at most {most} messages in a call of the listener", f"{len(large)}"
        )


def _observe_calls_at_once(facts: GroupFacts, group: GroupStory) -> None:
    """Note the first call for which a member has no thread, if its threads are set. A call ends in its listener, so none is counted twice."""
    most = int(group.settings.get("consume_thread_min", 0))
    if not most:
        return
    ends: defaultdict[tuple[int, int], list[float]] = defaultdict(list)
    for first in _first_of_calls(group.deliveries):
        under_way = ends[first.member, first.incarnation]
        while under_way and under_way[0] <= first.start_ns:
            heappop(under_way)
        heappush(under_way, inf if first.end_ns is None else first.end_ns)
        if len(under_way) > most:
            facts.differ_at(
                TOO_MANY_CALLS,
                group,
                first,
                f"at most {most} calls of a member's listener at once",
                f"{len(under_way)}",
            )
            return


def _first_of_calls(deliveries: Iterable[Delivery]) -> Iterator[Delivery]:
    """Yield the first message of each call, by time."""
    seen = set[tuple[int, int]]()
    for each in deliveries:
        if (each.member, each.call) not in seen:
            seen.add((each.member, each.call))
            yield each


def _observe_leaves(story: CaseStory, facts: GroupFacts) -> None:
    """Note a leave that fails where no broker is down, once for each error that the other group's leaves do not have."""
    failed = {
        arm: {
            error: (life, leave_ns)
            for life in reversed(group.lives)
            if (error := life.leave_error) is not None
            and (leave_ns := life.leave_ns) is not None
            and phase_of(story.trace.faults, leave_ns) != PAUSED
        }
        for arm, group in story.groups.items()
    }
    for arm, other in ((Arm.BASELINE, Arm.CANDIDATE), (Arm.CANDIDATE, Arm.BASELINE)):
        for error, (life, leave_ns) in failed[arm].items():
            if error not in failed[other]:
                facts.differ(
                    LEAVE_FAILS,
                    story.groups[arm],
                    at_ns=leave_ns,
                    member=life.member,
                    expected=f"member {life.member} to leave its group and go on",
                    observed=f"the process ended with {error}" if life.ended == "died" else error,
                    place=error,
                )


def _observe_long_leaves(story: CaseStory, facts: GroupFacts, memberships: Mapping[Arm, Membership]) -> None:
    """Note the longest leave of a group where nothing was wrong, if it took far longer than every one of the other group's."""
    took = {
        arm: {life: leave for life in group.lives if (leave := _leave(story, life)) is not None}
        for arm, group in story.groups.items()
    }
    for arm, other in ((Arm.BASELINE, Arm.CANDIDATE), (Arm.CANDIDATE, Arm.BASELINE)):
        if not took[arm] or not took[other]:
            continue
        life, (leave_ns, took_ns) = max(took[arm].items(), key=lambda each: each[1][1])
        other_ns = max(other_ns for _, other_ns in took[other].values())
        if took_ns > other_ns + LONGER_NS + memberships[arm].busy_ns:
            facts.differ(
                LEAVES_LATER,
                story.groups[arm],
                at_ns=leave_ns,
                member=life.member,
                expected=f"member {life.member} to have left after {other_ns / NS_PER_S:.1f} s, the other group's longest",
                observed=f"{took_ns / NS_PER_S:.1f} s",
            )


def _observe_stops(story: CaseStory, facts: GroupFacts, memberships: Mapping[Arm, Membership]) -> None:
    """Note the first message that waits far too long in a queue that its member keeps, also while others come and go."""
    for arm, group in story.groups.items():
        promptly, starvation = Promptly(story, group), Starvation(story, group)
        for tenure in group.tenures:
            if tenure.queue.kind is not TopicKind.FED:
                continue
            for each, due_ns in awaited(story, group, tenure):
                if each.start_ns - due_ns <= HOLD_NS:
                    continue
                allowed_ns = promptly.kept_ns(each, due_ns, memberships[arm])
                waited_ns = each.start_ns - due_ns - starvation.explains_ns(due_ns, each.start_ns)
                if allowed_ns is not None and waited_ns > allowed_ns:
                    facts.differ_at(
                        KEPT_QUEUE_WAITS,
                        group,
                        each,
                        f"message {each.send} within {allowed_ns / NS_PER_S:.1f} s, since all before it were finished and member "
                        f"{each.member} keeps {tenure.queue}",
                        f"{(each.start_ns - due_ns) / NS_PER_S:.1f} s",
                        at_ns=due_ns,
                    )
                    break


def _observe_waits(story: CaseStory, facts: GroupFacts, busy_ns: int) -> None:
    """Note the queue whose messages wait longest beside those of the baseline's, where applications call."""
    group = story.groups[Arm.CANDIDATE]
    if not any(life.applied for life in group.lives):
        return
    starvation = Starvation(story, group)
    own, other = _longest_waits(story, group), _longest_waits(story, story.groups[Arm.BASELINE])
    longer = {
        queue: (waited_ns, each)
        for queue, (waited_ns, each) in own.items()
        if queue in other
        and waited_ns - starvation.explains_ns(each.start_ns - waited_ns, each.start_ns)
        > other[queue][0] + PAUSED_PULL_NS + busy_ns
    }
    if longer:
        waited_ns, each = max(longer.values(), key=lambda found: found[0])
        facts.differ_at(
            WAITS_LONGER,
            group,
            each,
            f"messages of {each.queue} after {other[each.queue][0] / NS_PER_S:.1f} s, the other group's longest",
            f"message {each.send} after {waited_ns / NS_PER_S:.1f} s, while it could be pulled and all before it were finished",
            at_ns=each.start_ns - waited_ns,
        )


def _longest_waits(story: CaseStory, group: GroupStory) -> Mapping[QueueOf, tuple[int, Delivery]]:
    """Return the longest wait (ns) of a message in each queue, from when nothing stood in its way, and the message."""
    found: defaultdict[QueueOf, list[tuple[int, Delivery]]] = defaultdict(list)
    resumptions = [
        (pause.queue, at_ns)
        for life in group.lives
        for pause in life.queue_pauses
        if (at_ns := pause.until_ns) is not None
    ]
    for tenure in group.tenures:
        if tenure.queue.kind is not TopicKind.FED:
            continue
        for each, due_ns in awaited(story, group, tenure):
            from_ns = max(due_ns, tenure.from_ns) if tenure.is_sought else due_ns
            resumed = (at_ns for queue, at_ns in resumptions if queue == tenure.queue)
            from_ns = max([from_ns, *(at_ns for at_ns in resumed if at_ns <= each.start_ns)])
            found[tenure.queue].append((each.start_ns - from_ns, each))
    return {queue: max(waits, key=lambda one: one[0]) for queue, waits in found.items()}


def _leave(story: CaseStory, life: Life) -> tuple[int, int] | None:
    """Return when a leave began, and how long it took; None if there was none, or beside a fault, or a pause of the process."""
    if life.leave_ns is None or life.left_ns is None or life.leave_error is not None:
        return None
    faults = [(fault.inject_ns, over_ns(fault)) for fault in story.trace.faults]
    pauses = [(pause.from_ns, pause.until_ns) for pause in life.pauses]
    near = any(
        since_ns <= life.left_ns and (until_ns is None or life.leave_ns <= until_ns + MARGIN_NS)
        for since_ns, until_ns in faults + pauses
    )
    return None if near else (life.leave_ns, life.left_ns - life.leave_ns)


def _is_repeated(story: CaseStory, group: GroupStory, life: Life) -> bool:
    """While a group is prepared, a start that threw is ordered once more: a busy machine loses lookups. The second counts."""
    origin_ns = story.trace.origin_ns
    following = (
        each for each in group.lives if each.member == life.member and each.incarnation == life.incarnation + 1
    )
    return any(each.join_ns is not None and each.join_ns < origin_ns for each in following)


def _observe_lateness(story: CaseStory, facts: GroupFacts, memberships: Mapping[Arm, Membership]) -> None:
    places = {arm: _seconds(story, group) for arm, group in story.groups.items()}
    late = {arm: _late_seconds(Starvation(story, story.groups[arm]), own) for arm, own in places.items()}
    moving = [span for membership in memberships.values() for span in membership.moving(facts.origin_ns)]
    both = sorted(
        second
        for second in places[Arm.BASELINE].keys() & places[Arm.CANDIDATE].keys()
        if not any(since_ns < (second + 1) * NS_PER_S and second * NS_PER_S < until_ns for since_ns, until_ns in moving)
    )
    interval_ns = max(group.pull_interval_ns for group in story.groups.values())
    later = _later_group(late, both, interval_ns / NS_PER_MS)
    if later is not None:
        second = later.seconds[0]
        own_ms, of = places[later.arm][second]
        facts.differ(
            LATER_IN_CALM,
            story.groups[later.arm],
            at_ns=second * NS_PER_S,
            expected=f"messages in calm as soon as the other group's: {places[later.other][second][0]:.0f} ms in the median",
            observed=(
                f"{own_ms:.0f} ms from {of}; slower in {len(later.seconds)} of {later.of} seconds without a fault, faster in {later.against}"
            ),
        )


def _late_seconds(starvation: Starvation, places: Mapping[int, tuple[float, QueueOf]]) -> LateSeconds:
    found = LateSeconds()
    for second, (longest_ms, _) in places.items():
        from_ns = second * NS_PER_S
        explained_ns = starvation.explains_ns(from_ns, from_ns + round(longest_ms * NS_PER_MS))
        found.take_longest(second, longest_ms, explained_ns / NS_PER_MS)
    return found


def _later_group(late: Mapping[Arm, LateSeconds], seconds: Sequence[int], pull_interval_ms: float) -> Later | None:
    """A message waits for the next pull of its queue: up to an interval is no group's own lateness."""
    for more_ms, share in ((SLOWER_MS, OFTEN), (A_BIT_MS, NEARLY_ALWAYS)):
        is_slower = partial(_is_slower, more_ms=more_ms + pull_interval_ms)
        if (later := later_group(late, is_slower, share, seconds)) is not None:
            return later
    return None


def _is_slower(own_ms: float, other_ms: float, more_ms: float) -> bool:
    return own_ms > SLOWER * other_ms and own_ms > other_ms + more_ms


def _seconds(story: CaseStory, group: GroupStory) -> dict[int, tuple[float, QueueOf]]:
    """Return the longest median of a queue's times from storing to delivery in ms, and the queue, by second of storing, in calm."""
    found: defaultdict[int, defaultdict[QueueOf, list[float]]] = defaultdict(lambda: defaultdict(list))
    for send, deliveries in group.by_send.items():
        stored_ns, first = story.stored_ns.get(send), deliveries[0]
        if stored_ns is None or first.queue.kind is not TopicKind.FED:
            continue
        if phase_of(story.trace.faults, stored_ns) == CALM:
            found[stored_ns // NS_PER_S][story.held_by_send[send].queue].append(
                (first.start_ns - stored_ns) / NS_PER_MS
            )
    return {
        second: max((median(values), queue) for queue, values in by_queue.items()) for second, by_queue in found.items()
    }


def _observe_returns(story: CaseStory, facts: GroupFacts, memberships: Mapping[Arm, Membership]) -> None:
    found = {arm: list(returns(story, group, memberships[arm])) for arm, group in story.groups.items()}
    own, other = found[Arm.CANDIDATE], found[Arm.BASELINE]
    if are_unlike(own, other):
        (soon, _), (other_soon, _) = counts(own), counts(other)
        is_sooner = soon * len(other) > other_soon * len(own)
        shown = next(each for each in own if each.is_soon is is_sooner)
        within_s = (shown.soon_ns - shown.heal_ns) / NS_PER_S
        facts.differ(
            RESUMES_SOONER if is_sooner else RESUMES_LATER,
            story.groups[Arm.CANDIDATE],
            at_ns=shown.soon_ns,
            expected=f"the first message within {within_s:.1f} s of a broker's restart after {other_soon} of {len(other)} restarts, as in the other group",
            observed=f"after {soon} of {len(own)}; here {_when(shown)}",
        )


def _observe_resumptions(story: CaseStory, facts: GroupFacts) -> None:
    """Note the first pause of a broker after which the baseline goes on as the rules say, and the candidate seconds later."""
    group, other = story.groups[Arm.CANDIDATE], story.groups[Arm.BASELINE]
    for fault in story.trace.faults:
        if fault.kind is not FaultKind.PAUSE or fault.heal_ns is None:
            continue
        latest_ns = fault.heal_ns + equal_ns(story, fault, fault.heal_ns) + MARGIN_NS
        begun_ns, other_ns = (min(each.starts_after(fault), default=None) for each in (group, other))
        until_ns = group.watched_until_ns if begun_ns is None else begun_ns
        if other_ns is not None and other_ns <= latest_ns < until_ns:
            facts.differ(
                RESUMES_LATER,
                group,
                at_ns=until_ns,
                expected=f"a message of {fault.node} {(other_ns - fault.heal_ns) / NS_PER_S:.1f} s after its pause, as in the other group",
                observed=f"{'none' if begun_ns is None else 'the first'} after {(until_ns - fault.heal_ns) / NS_PER_S:.1f} s",
            )
            return


def _when(each: Return) -> str:
    if each.begun_ns is None:
        return "none at all"
    return f"{(each.begun_ns - each.heal_ns) / NS_PER_S:.1f} s after the restart"


def evaluate(facts: CaseFacts) -> Evidence:
    """Return the evidence of one case."""
    return evidence_of(facts, NAME, "no member of {} was ordered to join")


CODE: GroupCheck = CheckCode(NAME, observers=(observe,), evaluate=evaluate)
