"""
Does a message whose listener failed come back: once, after its delay, and with its failures counted?

A failed message is handed back to its broker, which keeps it for the delay and stores it in the group's retry topic, or in the dead
letters when it has failed too often. Its next delivery shows one failure more. If the broker was down, the client sends the message
itself, so that there may be two copies, with another delay; then only a copy that is missing counts.
"""

from itertools import pairwise

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.consuming.checks.group_check import JUDGED, GroupCheck, evidence_of
from rocketdiff.analysis.consuming.group_facts import GroupFacts
from rocketdiff.analysis.consuming.story import CaseStory, Delivery, GroupStory, ReturnedCopy
from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.consuming.watched import TopicKind
from rocketdiff.core.sends.message import delay_s
from rocketdiff.core.tables.signatures import RETRY_EARLY, RETRY_MISSING, RETRY_OTHER_TIMES, RETRY_TOO_OFTEN
from rocketdiff.core.units import NS_PER_MS, NS_PER_S

NAME = "retries"

FIRST_LEVEL = 3
"""Level of a first retry whose listener asks for none; each further one is one higher."""

BOTH_WAYS_NS = 8 * NS_PER_S
"""Longest time of a hand-back: 5 s for the broker, 3 s for the client's own send."""

EARLY_NS = 100_000_000
"""A broker looks for due messages ten times a second."""


def observe(story: CaseStory, facts: GroupFacts) -> None:
    """Note what this check finds in a case."""
    for group in story.groups.values():
        copies: dict[int, list[ReturnedCopy]] = {}
        for copy in group.returned or ():
            if copy.send is not None:
                copies.setdefault(copy.send, []).append(copy)
        for send, deliveries in group.by_send.items():
            failed = [each for each in deliveries if each.has_failed]
            facts.count(NAME, str(group.arm), "", JUDGED, n=len(failed))
            if not failed:
                continue
            _observe_missing(facts, group, deliveries, None if group.returned is None else copies.get(send, []))
            if not _may_be_doubled(story, failed):
                _observe_chain(facts, group, deliveries)


def _observe_missing(
    facts: GroupFacts, group: GroupStory, deliveries: tuple[Delivery, ...], copies: list[ReturnedCopy] | None
) -> None:
    last = deliveries[-1]
    if not last.has_failed or last.end_ns is None or copies is None:
        return
    is_cut_off = last.end_ns > group.first_leave_ns - BOTH_WAYS_NS
    if is_cut_off or any(copy.times > last.times or copy.place == "dead" for copy in copies):
        return
    facts.differ(
        RETRY_MISSING,
        group,
        at_ns=last.end_ns,
        send=last.send,
        delivery=last,
        expected=f"message {last.send} again after its call ended with {last.result}, or a copy that waits",
        observed="no further delivery, and no copy in the retry topic, the delay topic or the dead letters",
    )


def _observe_chain(facts: GroupFacts, group: GroupStory, deliveries: tuple[Delivery, ...]) -> None:
    for before, after in pairwise(deliveries):
        if after.queue.kind is not TopicKind.RETRY or before.end_ns is None:
            continue
        if not before.has_failed:
            facts.differ(
                RETRY_TOO_OFTEN,
                group,
                at_ns=after.start_ns,
                send=after.send,
                delivery=after,
                expected=f"no further delivery after a call that ended with {before.result}",
                observed=f"one from the retry topic, {after.times} failures counted",
            )
            return
        if after.times != before.times + 1:
            facts.differ(
                RETRY_OTHER_TIMES,
                group,
                at_ns=after.start_ns,
                send=after.send,
                delivery=after,
                expected=f"{before.times + 1} failures counted",
                observed=f"{after.times}",
            )
            return
        level = before.delay_level or FIRST_LEVEL + before.times
        least_ns = delay_s(level) * NS_PER_S - EARLY_NS
        if after.start_ns - before.end_ns < least_ns:
            facts.differ(
                RETRY_EARLY,
                group,
                at_ns=after.start_ns,
                send=after.send,
                delivery=after,
                expected=f"a delay of {delay_s(level)} s (level {level})",
                observed=f"{(after.start_ns - before.end_ns) / NS_PER_MS:.0f} ms after the call ended",
            )
            return


def _may_be_doubled(story: CaseStory, failed: list[Delivery]) -> bool:
    """True if a fault may have met the hand-back of a failed message, which the client then sends itself."""
    return any(
        fault.inject_ns <= each.end_ns + BOTH_WAYS_NS and (fault.healed_ns is None or each.end_ns <= fault.healed_ns)
        for each in failed
        if each.end_ns is not None
        for fault in story.trace.faults
    )


def evaluate(facts: CaseFacts) -> Evidence:
    """Return the evidence of one case."""
    if not facts.n(NAME, JUDGED):
        return facts.evidence(NAME, Standing.NOT_APPLICABLE, "no call of a listener failed")
    return evidence_of(facts, NAME, "no call of {} failed")


CODE: GroupCheck = CheckCode(NAME, observers=(observe,), evaluate=evaluate)
