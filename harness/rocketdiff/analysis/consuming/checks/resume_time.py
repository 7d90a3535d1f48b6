"""
After a fault of a broker, how soon does the work on its queues go on: the same in both groups?

From the heal to the first delivery from a queue of that broker. A resumed broker answers a pull that it holds as soon as it stores a
message for it (NotifyMessageArrivingListener), and looks at all of them every 5 s (PullRequestHoldService). A message that arrives while
its pull is only being held is not noticed; the next one of its queue is. What is within the rules, and what a busy machine may add, counts
as equal. One value per fault: a stall of the machine is one cause, however many messages are late.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.checks.pairing import Question, case_evidence, pooled_evidence, pools_of
from rocketdiff.analysis.consuming.checks.group_check import GroupCheck
from rocketdiff.analysis.consuming.group_facts import GroupFacts
from rocketdiff.analysis.consuming.membership import STALLS
from rocketdiff.analysis.consuming.story import CaseStory
from rocketdiff.analysis.consuming.waiting import Waiting
from rocketdiff.analysis.facts import OutageValue
from rocketdiff.core.answers.evidence import Ending, Evidence, Margin
from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.oracle.consumer.windows import HOLD_NS

NAME = "resume-time"

SOON_NS = 500 * NS_PER_MS
"""A broker that resumes and its clients have a burst of work: 7 to 49 ms in 49 pauses, and ten times that is nothing to a user."""

FIRST = Question(
    NAME,
    "first",
    Margin(1.5, "half of what the rules and a busy machine may take anyway is nothing that a user notices"),
)


def observe(story: CaseStory, facts: GroupFacts) -> None:
    """Note what this check finds in a case."""
    brokers = set(story.trace.entry.brokers)
    for fault in story.trace.faults:
        if fault.node not in brokers or fault.heal_ns is None:
            continue
        least_ns = equal_ns(story, fault, fault.heal_ns)
        for group in story.groups.values():
            begun = group.starts_after(fault)
            until_ns = min(begun, default=group.watched_until_ns)
            took_ns = max(until_ns - fault.heal_ns, least_ns)
            ended = Ending.FAILOVER if begun else Ending.OPEN
            facts.note(OutageValue(NAME, FIRST.sample, str(group.arm), fault.episode, took_ns, len(begun), ended))


def equal_ns(story: CaseStory, fault: FaultRecord, heal_ns: int) -> int:
    """Return until how long after the heal the work on a broker's queues goes on in time, for both groups alike."""
    allowed_ns = max(Waiting(story, group).after(fault) for group in story.groups.values())
    if allowed_ns <= HOLD_NS:
        allowed_ns = min(_noticed_ns(story, fault, heal_ns), default=HOLD_NS)
    return allowed_ns + burst_ns(story)


def burst_ns(story: CaseStory) -> int:
    """Return what this machine may add in a case to the times of brokers and clients that begin to work at once."""
    return max(SOON_NS, STALLS * story.stalled_ns)


def _noticed_ns(story: CaseStory, fault: FaultRecord, heal_ns: int) -> Iterator[int]:
    """Yield, for each queue of the broker, when it noticed at the latest that there was a message for the pull that it held."""
    for queue, held in (story.held or {}).items():
        if queue.broker != fault.node:
            continue
        known = (story.stored_ns.get(each.send) for each in held if each.send is not None)
        stored = sorted(at_ns for at_ns in known if at_ns is not None)
        after = [at_ns - heal_ns for at_ns in stored[bisect_left(stored, heal_ns) :]]
        yield min([*after[1:], (after or [0])[0] + HOLD_NS])


def evaluate(facts: CaseFacts) -> Evidence:
    """Return the evidence of one case."""
    return case_evidence(facts, FIRST)


def pooled(cases: Sequence[CaseFacts]) -> tuple[Evidence, ...]:
    """Return one gating evidence per pool."""
    return tuple(pooled_evidence(name, pool, FIRST) for name, pool in pools_of(cases, NAME).items())


CODE: GroupCheck = CheckCode(NAME, observers=(observe,), evaluate=evaluate, pooled=pooled)
