"""
After members came or went, how soon does the work on the queues that change their owner go on: the same in both groups?

From the first of the changes, those that follow within three seconds included, to the first delivery from the last of the queues that
the rules give another member, to that member. What the rules' windows allow, and what a busy machine may add, counts as equal. One value per
spell of changes. Beside a broker that was down chance decides which member asks it, so that such spells have none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.checks.pairing import Question, case_evidence, pooled_evidence, pools_of
from rocketdiff.analysis.consuming.checks.group_check import GroupCheck
from rocketdiff.analysis.consuming.checks.resume_time import burst_ns
from rocketdiff.analysis.consuming.group_facts import GroupFacts
from rocketdiff.analysis.consuming.membership import Membership
from rocketdiff.analysis.consuming.owners import Expected, topics_of
from rocketdiff.analysis.consuming.story import CaseStory, GroupStory, Life, QueueOf
from rocketdiff.analysis.facts import OutageValue
from rocketdiff.core.answers.evidence import Ending, Evidence, Margin
from rocketdiff.core.consuming.plan import MemberChange
from rocketdiff.core.consuming.watched import TopicKind
from rocketdiff.core.units import NS_PER_S

NAME = "takeover-time"

TOGETHER_NS = 3 * NS_PER_S
"""Changes no further apart are one spell: the rounds that they cause may be one."""


def has_changes(facts: CaseFacts) -> bool:
    """True if members were to come or go while messages were fed."""
    return any(
        event.change is not MemberChange.PAUSE for group in facts.entry.groups.values() for event in group.membership
    )


LAST = Question(
    NAME,
    "last-queue",
    Margin(1.5, "half of what the rules and a busy machine may take anyway is nothing that a user notices"),
    has_changes,
    "no member came or went in this case",
    "changes of members",
)


@dataclass(frozen=True, slots=True)
class _Spell:
    """Changes that belong together, from the first to the last; until_ns: when the next fault or spell, or the end, comes."""

    from_ns: int
    last_ns: int
    until_ns: int


def observe(story: CaseStory, facts: GroupFacts) -> None:
    """Note what this check finds in a case."""
    for group in story.groups.values():
        membership, topic = Membership(story, group), topics_of(story, group).get(TopicKind.FED)
        if topic is None:
            continue
        expected = Expected(membership, topic)
        windows = membership.windows
        equal_ns = windows.no_owner_after_a_leave() + windows.first_delivery() + burst_ns(story)
        killed = any(life.killed_ns is not None for life in group.lives)
        equal_ns += windows.lock_of_another(was_killed=killed)
        for number, spell in enumerate(_spells(story, group)):
            before, after = expected.at(spell.from_ns - 1), expected.at(spell.last_ns)
            moved = {queue: life for queue, life in after.items() if before and before.get(queue) != life}
            if not moved or membership.is_disturbed(spell.from_ns, spell.last_ns):
                continue
            begun = [_first(group, QueueOf(TopicKind.FED, *queue), life, spell) for queue, life in moved.items()]
            known = [at_ns for at_ns in begun if at_ns is not None]
            is_over = len(known) == len(begun)
            took_ns = (max(known) if is_over else spell.until_ns) - spell.from_ns
            ended = Ending.FAILOVER if is_over else Ending.OPEN
            value_ns = max(took_ns, equal_ns)
            facts.note(OutageValue(NAME, LAST.sample, str(group.arm), number, value_ns, len(known), ended))


def _spells(story: CaseStory, group: GroupStory) -> Iterator[_Spell]:
    """Yield the spells of changes while messages were fed, those that cannot be judged included: both arms number alike."""
    origin_ns = story.trace.origin_ns
    changes = [at_ns for at_ns in group.changes_ns if origin_ns < at_ns < group.fed_until_ns]
    begins = [at_ns for before, at_ns in pairwise([origin_ns - TOGETHER_NS, *changes]) if at_ns - before > TOGETHER_NS]
    for begin_ns, next_ns in pairwise([*begins, min(group.first_leave_ns, group.watched_until_ns)]):
        yield _Spell(begin_ns, max([begin_ns, *(at_ns for at_ns in changes if at_ns < next_ns)]), next_ns)


def _first(group: GroupStory, queue: QueueOf, life: Life, spell: _Spell) -> int | None:
    """Return when a member got the first message of a queue in a spell, None if it got none before the next."""
    found = (
        each.start_ns
        for each in group.by_queue.get(queue, ())
        if (each.member, each.incarnation) == (life.member, life.incarnation)
        and spell.from_ns <= each.start_ns < spell.until_ns
    )
    return min(found, default=None)


def evaluate(facts: CaseFacts) -> Evidence:
    """Return the evidence of one case."""
    return case_evidence(facts, LAST)


def pooled(cases: Sequence[CaseFacts]) -> tuple[Evidence, ...]:
    """Return one gating evidence per pool."""
    return tuple(pooled_evidence(name, pool, LAST) for name, pool in pools_of(cases, NAME, has_changes).items())


CODE: GroupCheck = CheckCode(NAME, observers=(observe,), evaluate=evaluate, pooled=pooled)
