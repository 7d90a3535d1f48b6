"""
Is what is committed finished, and is what is finished committed in the end?

An offset covers every message below it. A message is finished when the listener's call has ended, whatever its result: a failed
one is handed back. Calls that had ended a second before a member began to leave are committed by its leave; a commit on the way
when a broker was down says nothing.
"""

from itertools import pairwise

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.consuming.checks.group_check import JUDGED, GroupCheck, evidence_of
from rocketdiff.analysis.consuming.checks.retries import BOTH_WAYS_NS
from rocketdiff.analysis.consuming.group_facts import GroupFacts
from rocketdiff.analysis.consuming.story import CaseStory, Commit, Delivery, GroupStory, QueueOf
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.tables.signatures import NOT_COMMITTED, UNFINISHED_COMMITTED, WENT_BACK
from rocketdiff.core.units import NS_PER_MS, NS_PER_S

NAME = "offsets"

PROCESSED_NS = NS_PER_S
"""A client remembers a result at once; on a busy machine its thread may wait for a core."""

SETTLED_NS = 10 * NS_PER_S
"""One-way commits wait in the sockets of a broker that was down, and may be read in another order for a moment."""


def observe(story: CaseStory, facts: GroupFacts) -> None:
    """Note what this check finds in a case."""
    for group in story.groups.values():
        for queue, deliveries in group.by_queue.items():
            commits = group.commits_by_queue.get(queue, ())
            facts.count(NAME, str(group.arm), "", JUDGED, n=len(commits))
            _observe_unfinished(facts, group, queue, deliveries, commits)
            answered = [each for each in commits if each.member is None]
            _observe_order(story, facts, group, queue, answered)
            _observe_end(story, facts, group, queue, deliveries, answered)


def _observe_unfinished(
    facts: GroupFacts, group: GroupStory, queue: QueueOf, deliveries: tuple[Delivery, ...], commits: tuple[Commit, ...]
) -> None:
    """Note the first commit that covers a message whose call had not ended."""
    for commit in commits:
        covered = [each for each in deliveries if each.queue_offset < commit.value]
        ended = {each.queue_offset for each in covered if each.is_finished_by(commit.by_ns)}
        early = next((each for each in covered if each.queue_offset not in ended), None)
        if early is None:
            continue
        state = "not yet been received" if early.start_ns > commit.by_ns else "not ended"
        facts.differ(
            UNFINISHED_COMMITTED,
            group,
            at_ns=commit.by_ns,
            send=early.send,
            delivery=early,
            expected=f"at most {early.queue_offset} committed for {queue}",
            observed=f"{commit.value}, when the call with offset {early.queue_offset} had {state}",
        )
        return


def _observe_order(
    story: CaseStory, facts: GroupFacts, group: GroupStory, queue: QueueOf, answered: list[Commit]
) -> None:
    for before, after in pairwise(answered):
        is_disturbed = any(
            fault.node == queue.broker
            and fault.inject_ns <= after.by_ns
            and (fault.healed_ns is None or before.by_ns <= fault.healed_ns + SETTLED_NS)
            for fault in story.trace.faults
        )
        owners = {each.member for each in group.tenures_of(queue) if each.from_ns <= after.by_ns}
        if after.value < before.value and not is_disturbed and len(owners) == 1:
            facts.differ(
                WENT_BACK,
                group,
                at_ns=after.by_ns,
                expected=f"at least {before.value} committed for {queue}, as before",
                observed=f"{after.value}, {(after.by_ns - before.by_ns) / NS_PER_MS:.0f} ms later",
            )


def _observe_end(
    story: CaseStory,
    facts: GroupFacts,
    group: GroupStory,
    queue: QueueOf,
    deliveries: tuple[Delivery, ...],
    answered: list[Commit],
) -> None:
    """Compare the last answer with what had certainly been finished when the last member began to leave."""
    left = [life.leave_ns for life in group.lives if life.ended == "left" and life.leave_ns is not None]
    if not left or not answered or len(left) < len(group.lives) or answered[-1].by_ns < max(left):
        return
    tenures = group.tenures_of(queue)
    last = max(tenures, key=lambda each: each.from_ns, default=None)
    if last is None or any(fault.healed_ns is None for fault in story.trace.faults):
        return
    leave_ns = next(life.leave_ns for life in group.lives if life.member == last.member and life.leave_ns is not None)
    own = [each for each in deliveries if group.tenure_at(each) == last]
    finished = [each.queue_offset for each in own if _is_processed(each, leave_ns)]
    open_offsets = [each.queue_offset for each in own if not _is_processed(each, leave_ns)]
    if not finished:
        return
    least = min([max(finished) + 1, *open_offsets])
    if answered[-1].value < least:
        facts.differ(
            NOT_COMMITTED,
            group,
            at_ns=leave_ns,
            expected=f"at least {least} committed for {queue} when the group has left",
            observed=f"{answered[-1].value}",
        )


def _is_processed(each: Delivery, leave_ns: int) -> bool:
    """True if a call had ended so long before a leave that its result was certainly carried out."""
    return each.is_finished_by(leave_ns - (BOTH_WAYS_NS if each.has_failed else PROCESSED_NS))


def evaluate(facts: CaseFacts) -> Evidence:
    """Return the evidence of one case."""
    return evidence_of(facts, NAME, "no offset of {} was seen")


CODE: GroupCheck = CheckCode(NAME, observers=(observe,), evaluate=evaluate)
