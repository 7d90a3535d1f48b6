"""
Is what is committed finished, and is what is finished committed in time?

An offset covers every message below it. What a broker answers must lie within the bounds of ``oracle.consumer.committed``: not above
the first message that no member may have finished, and not below what a member that persists has certainly finished. A broker that
was down, and a short time after, raises the lower bound later. A member commits queues that it works on, and none else.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.consuming.checks.group_check import JUDGED, UNDECIDED, GroupCheck, evidence_of
from rocketdiff.analysis.consuming.group_facts import GroupFacts
from rocketdiff.analysis.consuming.group_offsets import (
    QueueOffsets,
    queue_offsets,
    rises_only,
)
from rocketdiff.analysis.consuming.membership import Membership
from rocketdiff.analysis.consuming.story import (
    LOOK_NS,
    NO_OFFSET,
    CaseStory,
    Commit,
    Delivery,
    GroupStory,
    QueueOf,
    Tenure,
)
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.tables.signatures import (
    COMMITTED_BY_ANOTHER,
    NOT_AT_THE_END,
    NOT_COMMITTED,
    UNFINISHED_COMMITTED,
    WENT_BACK,
)
from rocketdiff.core.units import NS_PER_MS, NS_PER_S
from rocketdiff.oracle.consumer.committed import TRANSIT_NS
from rocketdiff.oracle.consumer.reach import is_down, unreachable_until_ns

NAME = "offsets"

AFTER_GIVING_UP_NS = 5 * NS_PER_S
"""
A member gives a queue up, then commits it: at a broker that is down after up to 3 s for the connection, on a busy machine later. Where
no fault and no pause is near, ``Membership.busy_ns`` is enough: none of 751 tenures of real members took longer than 0.5 s.
"""

REMEMBERED_NS = NS_PER_S
"""What a member remembered so long before it gave a queue up, it knew when it did: its queues are looked at every 20 ms."""


def observe(story: CaseStory, facts: GroupFacts) -> None:
    """Note what this check finds in a case."""
    for group in story.groups.values():
        busy_ns = Membership(story, group).busy_ns
        for queue in sorted({*group.by_queue, *group.commits_by_queue}):
            commits = group.commits_by_queue.get(queue, ())
            answered = sorted((each for each in commits if each.member is None), key=lambda each: each.asked_ns)
            facts.count(NAME, str(group.arm), "", JUDGED, n=len(commits))
            _observe_order(story, facts, group, queue, answered)
            known = queue_offsets(story, group, queue)
            if known is None:
                facts.count(NAME, str(group.arm), "", UNDECIDED, n=len(commits))
                continue
            sent = [each for each in commits if each.member is not None]
            late_ns = {tenure: _commits_for(story, group, tenure, busy_ns) for tenure, _ in known.tenures}
            _observe_sent(facts, group, known, sent, late_ns)
            _observe_given_up(story, facts, group, known, sent, late_ns)
            _observe_answers(facts, group, known, answered)
            _observe_end(story, facts, group, known, answered)


def _commits_for(story: CaseStory, group: GroupStory, tenure: Tenure, busy_ns: int) -> int:
    """
    Return for how long after a tenure its member may still commit.

    A leave may first wait for calls, and of a member that reports no queues the end of its work is not known so well.
    """
    life, over_ns = group.life_of(tenure), _handed_over_ns(story, group, tenure)
    gone_ns = None if life is None else life.gone_ns
    is_leave = over_ns is None or (gone_ns is not None and over_ns >= gone_ns)
    return AFTER_GIVING_UP_NS if is_leave or tenure.member in group.silent else busy_ns


def _observe_sent(
    facts: GroupFacts,
    group: GroupStory,
    known: QueueOffsets,
    sent: Sequence[Commit],
    late_ns: Mapping[Tenure, int],
) -> None:
    """
    Note the first commit of a queue that is not its member's, and the first that is above what the member may remember.

    late_ns: by tenure, for how long after it its member may still commit.
    """
    for commit in sent:
        own = known.of_member(commit.member, commit.by_ns + LOOK_NS + NS_PER_S)
        tenure = None if own is None else own[0]
        if tenure is None or (tenure.until_ns is not None and commit.by_ns > tenure.until_ns + late_ns[tenure]):
            facts.differ(
                COMMITTED_BY_ANOTHER,
                group,
                at_ns=commit.by_ns,
                expected=f"no commit for {commit.queue} by member {commit.member}, which does not work on it",
                observed=f"{commit.value} committed",
            )
            return
    for commit in sorted((*sent, *_remembered(known)), key=lambda each: each.by_ns):
        # A member that takes the queue again at once may still commit what it remembers of its work before.
        instants = (commit.by_ns, commit.by_ns + LOOK_NS + NS_PER_S)
        begun = [found for at_ns in instants if (found := known.of_member(commit.member, at_ns)) is not None]
        most = max((progress.most_at(commit.by_ns) for _, progress in begun), default=commit.value)
        if commit.value > most:
            _note_unfinished(facts, group, commit, most)
            return


def _observe_given_up(
    story: CaseStory,
    facts: GroupFacts,
    group: GroupStory,
    known: QueueOffsets,
    sent: Sequence[Commit],
    late_ns: Mapping[Tenure, int],
) -> None:
    """
    Compare what a member has committed when it has given a queue up, or has left, with what it remembered before.

    Both are its own records. The commit flag of a pull is always behind: it names what was finished when the pull was made.
    """
    for tenure, progress in known.tenures:
        if (until_ns := _handed_over_ns(story, group, tenure)) is None:
            continue
        remembered = [value for at_ns, value in progress.updates if at_ns <= until_ns - REMEMBERED_NS]
        until_ns += late_ns[tenure]
        own = (each for each in sent if each.member == tenure.member and tenure.begin_ns <= each.by_ns <= until_ns)
        most = max((each.value for each in own), default=NO_OFFSET)
        if remembered and most < remembered[-1]:
            facts.differ(
                NOT_COMMITTED,
                group,
                at_ns=until_ns,
                expected=f"{remembered[-1]} committed for {tenure.queue} when member {tenure.member} gives it up, or leaves",
                observed="nothing" if most == NO_OFFSET else f"{most}",
            )
            return


def _handed_over_ns(story: CaseStory, group: GroupStory, tenure: Tenure) -> int | None:
    """Return when a member gave a queue up or began to leave; None if it did neither, or while a fault or pause was near."""
    life = group.life_of(tenure)
    if life is None or life.is_cut_off or tenure.is_left:
        return None
    ends = [at_ns for at_ns in (tenure.until_ns, life.gone_ns) if at_ns is not None]
    if not ends:
        return None
    from_ns, to_ns = min(ends) - REMEMBERED_NS, min(ends) + AFTER_GIVING_UP_NS
    downs = [(fault.inject_ns, unreachable_until_ns(fault)) for fault in story.trace.faults if is_down(fault)]
    stops = [(pause.from_ns, pause.until_ns) for pause in life.pauses]
    near = any(began_ns <= to_ns and (over_ns is None or from_ns <= over_ns) for began_ns, over_ns in downs + stops)
    was_killed = life.killed_ns is not None and life.killed_ns <= to_ns
    return None if near or was_killed else min(ends)


def _remembered(known: QueueOffsets) -> Iterator[Commit]:
    """Yield what members remember: their next commits, which a quick call ends before."""
    for tenure, progress in known.tenures:
        for at_ns, value in progress.updates:
            yield Commit(tenure.queue, at_ns, value, at_ns, member=tenure.member)


def _observe_answers(facts: GroupFacts, group: GroupStory, known: QueueOffsets, answered: Sequence[Commit]) -> None:
    """Compare a broker's answers with the bounds; one that is too low may have been read just before the next commit."""
    bounds = known.bounds_at([*(each.asked_ns for each in answered), *(each.by_ns for each in answered)])
    above = next((each for each in answered if each.value > bounds[each.by_ns].most), None)
    if above is not None:
        _note_unfinished(facts, group, above, bounds[above.by_ns].most)
    last_leave_ns = max((life.leave_ns for life in group.lives if life.leave_ns is not None), default=None)
    in_course = (each for each in answered if last_leave_ns is None or each.asked_ns < last_leave_ns)
    below = next((each for each in in_course if max(each.value, 0) < bounds[each.asked_ns].least), None)
    if below is not None:
        facts.differ(
            NOT_COMMITTED,
            group,
            at_ns=below.by_ns,
            expected=f"at least {bounds[below.asked_ns].least} committed for {below.queue}, finished long enough ago",
            observed=f"{max(below.value, 0)}",
        )


def _note_unfinished(facts: GroupFacts, group: GroupStory, commit: Commit, most: int) -> None:
    early = _delivery_at(group.by_queue, commit.queue, most)
    state = "not yet been received" if early is None or early.start_ns > commit.by_ns else "not ended"
    facts.differ(
        UNFINISHED_COMMITTED,
        group,
        at_ns=commit.by_ns,
        send=None if early is None else early.send,
        delivery=early,
        expected=f"at most {most} committed for {commit.queue}",
        observed=f"{commit.value}, when offset {most} had {state}",
    )


def _delivery_at(by_queue: Mapping[QueueOf, tuple[Delivery, ...]], queue: QueueOf, offset: int) -> Delivery | None:
    return next((each for each in by_queue.get(queue, ()) if each.queue_offset == offset), None)


def _observe_order(
    story: CaseStory, facts: GroupFacts, group: GroupStory, queue: QueueOf, answered: Sequence[Commit]
) -> None:
    """Note where an offset goes back that one member alone can have written; it remembers no lower one."""
    for before, after in pairwise(answered):
        if after.value < before.value and rises_only(story, group, queue, before.asked_ns, after.by_ns):
            facts.differ(
                WENT_BACK,
                group,
                at_ns=after.by_ns,
                expected=f"at least {before.value} committed for {queue}, as before",
                observed=f"{max(after.value, 0)}, {(after.by_ns - before.by_ns) / NS_PER_MS:.0f} ms later",
            )


def _observe_end(
    story: CaseStory, facts: GroupFacts, group: GroupStory, known: QueueOffsets, answered: Sequence[Commit]
) -> None:
    """
    Compare the last answer with what had certainly been finished when each member began to leave.

    A round of questions that brought nothing new is left out, so the last answer is also that of the last question, after all had left.
    """
    left = [life.leave_ns for life in group.lives if life.ended == "left" and life.leave_ns is not None]
    if not answered or len(left) < len(group.lives) or any(fault.healed_ns is None for fault in story.trace.faults):
        return
    last = answered[-1]
    over_ns = max([*left, last.asked_ns]) + TRANSIT_NS
    least = known.bounds_at([over_ns])[over_ns].least
    value = max(last.value, 0)
    if value < least and last.queue not in group.unanswered:
        facts.differ(
            NOT_AT_THE_END,
            group,
            at_ns=max(left),
            expected=f"at least {least} committed for {last.queue} when the group has left",
            observed=f"{value}",
        )


def evaluate(facts: CaseFacts) -> Evidence:
    """Return the evidence of one case."""
    return evidence_of(facts, NAME, "no offset of {} was seen")


CODE: GroupCheck = CheckCode(NAME, observers=(observe,), evaluate=evaluate)
