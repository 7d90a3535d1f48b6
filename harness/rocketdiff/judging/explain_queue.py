"""
`rocketdiff explain`, of a queue at an instant: who worked on it, and if nobody did, why: each member's last round, and what it waited for.

Each step is followed once by the rule behind it.
"""

import re
from collections import Counter
from collections.abc import Iterator

from rocketdiff.analysis.case_trace import CaseTrace
from rocketdiff.analysis.consuming.checks.allocation import members_in_words, queues_in_words
from rocketdiff.analysis.consuming.membership import Membership
from rocketdiff.analysis.consuming.owners import Expected, topics_of
from rocketdiff.analysis.consuming.story import CaseStory, GroupStory, Life, QueueOf, Round, story_of
from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import TopicKind
from rocketdiff.core.errors import UsageError
from rocketdiff.core.text.quoted import shown
from rocketdiff.core.units import NS_PER_S
from rocketdiff.oracle.consumer.reach import is_felt
from rocketdiff.traces.run_directory import RunDirectory

_NAME = re.compile(r"(?P<broker>[^/]{1,80})/(?P<number>[0-9]{1,5})")

_LONGEST_S = 1e6
"""No case is as long."""

REPEATED = (
    "a broker lists an id once for each connection, also for one that was closed before it read its heartbeat; a member takes the"
    " share of the first place of its id, and the queues of the other places are nobody's until the broker forgets them"
)
ABSENT = "a member whose id is not in the list gives up every queue of the topic"
ROUND = "a member divides the queues in its rounds: when a broker tells it of a change, else every 20 s unless it is set otherwise"
UNANSWERED = "a round that asks a broker that is down for ids waits 3 s, changes nothing, and comes again with the next"
FROZEN = "a broker keeps a member for 120 s after its last heartbeat, so that the queues of a paused one stand still"


def explain_queue(trace: CaseTrace, run: RunDirectory, arm: Arm, name: str, at_s: float) -> Iterator[str]:
    """
    Yield the story of a queue of the fed topic at an instant, in a group, then in the other arm's.

    name: ``broker-b/3``; at_s: since the first message was due. Raises UsageError for a queue that is not there.
    """
    story, entry = story_of(trace), trace.entry
    matched = _NAME.fullmatch(name)
    if matched is None or matched["broker"] not in entry.brokers or int(matched["number"]) >= entry.queues_per_broker:
        known = f"{' and '.join(entry.brokers)} have queues 0 to {entry.queues_per_broker - 1}"
        raise UsageError("a queue of the case, as broker-b/3", seen=shown(name), hint=known)
    if not abs(at_s) <= _LONGEST_S:
        raise UsageError("--at in seconds", seen=f"{at_s}", hint=f"the case lasted {entry.duration_s:g} s")
    queue = QueueOf(TopicKind.FED, matched["broker"], int(matched["number"]))
    yield f"{entry.name}"
    yield f"{queue}, {at_s:.3f} s after the first message was due"
    for each in (arm, *(other for other in Arm if other is not arm)):
        yield ""
        yield f"{run.subject(each)} ({each})"
        yield from _in_group(story, story.groups[each], queue, round(at_s * NS_PER_S) + (entry.origin_ns or 0))


def _in_group(story: CaseStory, group: GroupStory, queue: QueueOf, at_ns: int) -> Iterator[str]:
    membership, known = Membership(story, group), set[str]()
    for line, rule in (
        *_owners(story, group, queue, at_ns),
        *_due(story, group, membership, queue, at_ns),
        *_faults(story, at_ns),
        *_listings(story, group, at_ns),
        *(step for life in membership.living_at(at_ns) for step in _member(story, group, life, at_ns)),
    ):
        yield f"  {line}"
        if rule and rule not in known:
            known.add(rule)
            yield f"    rule: {rule}"


_Steps = Iterator[tuple[str, str]]
"""Lines, each with the rule behind it, empty for none."""


def _owners(story: CaseStory, group: GroupStory, queue: QueueOf, at_ns: int) -> _Steps:
    tenures = group.tenures_of(queue)
    now = [each for each in tenures if each.covers(at_ns)]
    for each in now:
        until = "the end" if each.until_ns is None else _at(story, each.until_ns)
        yield f"member {each.member} works on it, from {_at(story, each.from_ns)} to {until}", ""
    if now:
        return
    before = [each for each in tenures if each.until_ns is not None and each.until_ns <= at_ns]
    last = max(before, key=lambda each: each.until_ns or 0, default=None)
    following = next((each for each in tenures if each.from_ns > at_ns), None)
    since = "ever before" if last is None else f"since member {last.member} gave it up at {_at(story, last.until_ns)}"
    then = (
        "ever after"
        if following is None
        else f"until member {following.member} takes it at {_at(story, following.from_ns)}"
    )
    yield f"no member works on it, {since}, {then}", ""


def _due(story: CaseStory, group: GroupStory, membership: Membership, queue: QueueOf, at_ns: int) -> _Steps:
    if any(since_ns <= at_ns < until_ns for since_ns, until_ns in membership.unsettled):
        yield "the rules leave its owner open here: a fault or a change of members is not long enough ago", ""
        return
    topic = topics_of(story, group).get(TopicKind.FED)
    owner = None if topic is None else Expected(membership, topic).at(at_ns).get((queue.broker, queue.queue_id))
    if owner is not None:
        yield f"by the rules it is member {owner.member}'s", ""


def _faults(story: CaseStory, at_ns: int) -> _Steps:
    for fault in story.trace.faults:
        if fault.inject_ns <= at_ns and is_felt(fault):
            healed = "" if fault.healed_ns is None else f", healed at {_at(story, fault.healed_ns)}"
            of = "" if fault.hit is None else f" of {fault.hit}"
            yield f"{fault.node}: {fault.kind}{of} at {_at(story, fault.inject_ns)}{healed}", ""


def _listings(story: CaseStory, group: GroupStory, at_ns: int) -> _Steps:
    for broker in story.trace.entry.brokers:
        seen = [each for each in group.listings if each.broker == broker and each.asked_ns <= at_ns]
        if not seen:
            continue
        last = seen[-1]
        if last.answered_ns is None:
            yield f"{broker} answers nothing about members since {_at(story, last.asked_ns)}", UNANSWERED
        else:
            ids = members_in_words(group, last.ids)
            yield f"{broker} lists {ids}, as seen since {_at(story, last.asked_ns)}", _rule_of(last.ids)


def _member(story: CaseStory, group: GroupStory, life: Life, at_ns: int) -> _Steps:
    rounds = [
        each
        for each in group.rounds
        if each.kind is TopicKind.FED and (each.member, each.incarnation) == (life.member, life.incarnation)
    ]
    if any(pause.from_ns <= at_ns and (pause.until_ns is None or at_ns < pause.until_ns) for pause in life.pauses):
        yield f"member {life.member}: its process is paused", FROZEN
    last = max((each for each in rounds if each.at_ns <= at_ns), key=lambda each: each.at_ns, default=None)
    following = next((each for each in rounds if each.at_ns > at_ns), None)
    if last is None:
        yield f"member {life.member}: no round yet since it joined", ROUND
    else:
        yield f"member {life.member}: last round at {_at(story, last.at_ns)}, {_outcome(group, last)}", _why(last, life)
    if following is None:
        yield f"member {life.member}: no further round", ""
    else:
        yield f"member {life.member}: next round at {_at(story, following.at_ns)}, {_outcome(group, following)}", ROUND


def _outcome(group: GroupStory, of: Round) -> str:
    if of.error is not None:
        return f"which threw {of.error}"
    return f"among {members_in_words(group, of.ids)}: {queues_in_words(of.result)} of {len(of.queues)} queues"


def _why(of: Round, life: Life) -> str:
    return ABSENT if life.client_id is not None and life.client_id not in of.ids else _rule_of(of.ids)


def _rule_of(ids: tuple[str, ...]) -> str:
    return REPEATED if any(times > 1 for times in Counter(ids).values()) else ""


def _at(story: CaseStory, at_ns: int | None) -> str:
    return "an unknown time" if at_ns is None else f"{(at_ns - (story.trace.entry.origin_ns or 0)) / NS_PER_S:.3f} s"
