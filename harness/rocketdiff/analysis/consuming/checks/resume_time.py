"""
After a fault of a broker, how soon does the work on its queues go on: the same in both groups?

From the heal to the first delivery from a queue of that broker. A broker answers the pulls that it holds within 5 s by its own
look, at once or at the end of it by chance, so that shorter times count as 5 s. One value per fault: a stall of the machine is one
cause, however many messages are late.
"""

from collections.abc import Sequence

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.checks.pairing import Question, case_evidence, pooled_evidence, pools_of
from rocketdiff.analysis.consuming.checks.group_check import GroupCheck
from rocketdiff.analysis.consuming.group_facts import GroupFacts
from rocketdiff.analysis.consuming.story import CaseStory
from rocketdiff.analysis.facts import OutageValue
from rocketdiff.core.answers.evidence import Ending, Evidence, Margin
from rocketdiff.oracle.consumer.windows import HOLD_NS

NAME = "resume-time"

FIRST = Question(
    NAME, "first", Margin(1.5, "a hold of up to 5 s and a round of up to 20 s scatter by half of themselves")
)


def observe(story: CaseStory, facts: GroupFacts) -> None:
    """Note what this check finds in a case."""
    brokers = set(story.trace.entry.brokers)
    for fault in story.trace.faults:
        if fault.node not in brokers or fault.heal_ns is None:
            continue
        for group in story.groups.values():
            begun = group.starts_after(fault)
            until_ns = min(begun, default=group.watched_until_ns)
            took_ns = max(until_ns - fault.heal_ns, HOLD_NS)
            ended = Ending.FAILOVER if begun else Ending.OPEN
            facts.note(OutageValue(NAME, FIRST.sample, str(group.arm), fault.episode, took_ns, len(begun), ended))


def evaluate(facts: CaseFacts) -> Evidence:
    """Return the evidence of one case."""
    return case_evidence(facts, FIRST)


def pooled(cases: Sequence[CaseFacts]) -> tuple[Evidence, ...]:
    """Return one gating evidence per pool."""
    return tuple(pooled_evidence(name, pool, FIRST) for name, pool in pools_of(cases, NAME).items())


CODE: GroupCheck = CheckCode(NAME, observers=(observe,), evaluate=evaluate, pooled=pooled)
