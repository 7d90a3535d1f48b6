"""
Does a message whose listener failed come back: once, after its delay, and with its failures counted?

A failed message is handed back to its broker, which keeps it for the delay and stores it in the group's retry topic, or in the dead
letters when it has failed too often. Its next delivery shows one failure more. If the broker was down, the client sends the message
itself, so that there may be two copies, with another delay; then only a copy that is missing counts.
"""

from collections import Counter, defaultdict

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.consuming.checks.group_check import JUDGED, GroupCheck, evidence_of
from rocketdiff.analysis.consuming.group_facts import GroupFacts
from rocketdiff.analysis.consuming.group_offsets import may_stay
from rocketdiff.analysis.consuming.story import CaseStory, Delivery, GroupStory, QueueOf, ReturnedCopy
from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.consuming.watched import TopicKind
from rocketdiff.core.sends.message import DELAY_S, delay_s
from rocketdiff.core.tables.signatures import (
    DEAD_TOO_EARLY,
    DEAD_TOO_LATE,
    RETRY_EARLY,
    RETRY_MISSING,
    RETRY_OTHER_LEVEL,
    RETRY_OTHER_TIMES,
    RETRY_TOO_OFTEN,
    Signature,
)
from rocketdiff.core.units import NS_PER_MS, NS_PER_S
from rocketdiff.oracle.consumer.finishing import BOTH_WAYS_NS

NAME = "retries"

FIRST_LEVEL = 3
"""Level of a first retry whose listener asks for none; each further one is one higher."""

DEFAULT_MOST = 16
"""Retries of a message whose group has no setting for it."""

DEAD, AT_ONCE = "dead", -1
"""Place of a copy that does not come back, and the delay level that asks for it."""

EARLY_NS = 100_000_000
"""A broker looks for due messages ten times a second."""


def observe(story: CaseStory, facts: GroupFacts) -> None:
    """Note what this check finds in a case."""
    for group in story.groups.values():
        copies: dict[int, list[ReturnedCopy]] = {}
        for copy in group.returned or ():
            if copy.send is not None:
                copies.setdefault(copy.send, []).append(copy)
        most = most_reconsume_times(group)
        for send, deliveries in group.by_send.items():
            failed = [each for each in deliveries if each.has_failed]
            facts.count(NAME, str(group.arm), "", JUDGED, n=len(failed))
            if not failed:
                continue
            _observe_missing(facts, group, deliveries, None if group.returned is None else copies.get(send, []))
            _observe_dead(facts, group, deliveries, copies.get(send, []), most)
            # Beside a fault the client may have sent the message itself, so that there are two copies.
            if not any(may_stay(story.trace.faults, each.end_ns) for each in failed):
                _observe_copies(facts, group, deliveries)
                _observe_levels(facts, group, failed, copies.get(send, []))


def most_reconsume_times(group: GroupStory) -> int:
    """Return how often a message may come back (getMaxReconsumeTimes of a concurrent listener)."""
    configured = int(group.settings.get("max_reconsume_times", -1))
    return DEFAULT_MOST if configured == -1 else configured


def _observe_dead(
    facts: GroupFacts,
    group: GroupStory,
    deliveries: tuple[Delivery, ...],
    copies: list[ReturnedCopy],
    most: int,
) -> None:
    """Compare the failures of a message with where its copies are. A level of -1 sends it to the dead letters at once."""
    last = deliveries[-1]
    again = next((each for each in deliveries if each.queue.kind is TopicKind.RETRY and each.times > most), None)
    if again is not None:
        facts.differ(
            DEAD_TOO_LATE,
            group,
            at_ns=again.start_ns,
            send=again.send,
            delivery=again,
            expected=f"message {again.send} in the dead letters after {most} retries",
            observed=f"a delivery with {again.times} failures counted",
        )
    elif any(copy.place == DEAD for copy in copies) and not any(
        each.has_failed and (each.times >= most or each.delay_level == AT_ONCE) for each in deliveries
    ):
        facts.differ(
            DEAD_TOO_EARLY,
            group,
            at_ns=last.end_ns or last.start_ns,
            send=last.send,
            delivery=last,
            expected=f"message {last.send} in the dead letters after {most} retries",
            observed=f"it is there after {last.times}",
        )


def _observe_missing(
    facts: GroupFacts, group: GroupStory, deliveries: tuple[Delivery, ...], copies: list[ReturnedCopy] | None
) -> None:
    last = deliveries[-1]
    if not last.has_failed or last.end_ns is None or copies is None:
        return
    tenure = group.tenure_at(last)
    given_up_ns = None if tenure is None else tenure.until_ns
    over_ns = min(at_ns for at_ns in (group.first_leave_ns, given_up_ns) if at_ns is not None)
    is_cut_off = last.end_ns > over_ns - BOTH_WAYS_NS
    if is_cut_off or any(copy.times > last.times or copy.place == DEAD for copy in copies):
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


def _observe_copies(facts: GroupFacts, group: GroupStory, deliveries: tuple[Delivery, ...]) -> None:
    """
    Find for each copy a failure with one less counted.

    A message may fail again after a change of owners, so that there may be several chains of copies; each failure makes one.
    """
    copies: dict[tuple[QueueOf, int], Delivery] = {}
    for each in deliveries:
        if each.queue.kind is TopicKind.RETRY:
            copies.setdefault((each.queue, each.queue_offset), each)
    failed = sorted((each for each in deliveries if each.has_failed), key=lambda each: each.end_ns or 0)
    if len(copies) > len(failed):
        extra = list(copies.values())[-1]
        _note(
            facts,
            group,
            RETRY_TOO_OFTEN,
            extra,
            expected=f"no further delivery after {len(failed)} calls that failed",
            observed=f"one from the retry topic, {extra.times} failures counted",
        )
        return
    by_times: defaultdict[int, list[Delivery]] = defaultdict(list)
    for each in failed:
        by_times[each.times].append(each)
    taken: Counter[int] = Counter()
    for copy in copies.values():
        causes, place = by_times.get(copy.times - 1, []), taken[copy.times]
        taken[copy.times] += 1
        if place >= len(causes):
            counted = " or ".join(str(times + 1) for times in sorted(by_times))
            expected, observed = f"{counted} failures counted", f"{copy.times}"
            _note(facts, group, RETRY_OTHER_TIMES, copy, expected=expected, observed=observed)
            return
        if _is_early(facts, group, causes[place], copy):
            return


def _observe_levels(facts: GroupFacts, group: GroupStory, failed: list[Delivery], copies: list[ReturnedCopy]) -> None:
    """Compare the delay level of each copy with those that failures with one less counted ask for."""
    for copy in copies:
        causes = [each for each in failed if each.times == copy.times - 1]
        if copy.place == DEAD or copy.level is None or not causes:
            continue
        asked = {_level(each) for each in causes}
        if AT_ONCE not in asked and copy.level not in asked:
            expected = " or ".join(f"a delay of {delay_s(level)} s (level {level})" for level in sorted(asked))
            observed = f"a copy under level {copy.level}"
            _note(facts, group, RETRY_OTHER_LEVEL, causes[0], expected=expected, observed=observed)
            return


def _level(cause: Delivery) -> int:
    """Return the delay level that a failure asks for; a broker lowers one that it does not have."""
    return min(cause.delay_level or FIRST_LEVEL + cause.times, len(DELAY_S))


def _is_early(facts: GroupFacts, group: GroupStory, cause: Delivery, copy: Delivery) -> bool:
    """Note a copy that comes before its delay."""
    level = _level(cause)
    waited_ns = copy.start_ns - (cause.end_ns or 0)
    if waited_ns >= delay_s(level) * NS_PER_S - EARLY_NS:
        return False
    expected = f"a delay of {delay_s(level)} s (level {level})"
    observed = f"{waited_ns / NS_PER_MS:.0f} ms after the call ended"
    _note(facts, group, RETRY_EARLY, copy, expected=expected, observed=observed)
    return True


def _note(
    facts: GroupFacts, group: GroupStory, signature: Signature, at: Delivery, *, expected: str, observed: str
) -> None:
    facts.differ(signature, group, at_ns=at.start_ns, send=at.send, delivery=at, expected=expected, observed=observed)


def evaluate(facts: CaseFacts) -> Evidence:
    """Return the evidence of one case."""
    if not facts.n(NAME, JUDGED):
        return facts.evidence(NAME, Standing.NOT_APPLICABLE, "no call of a listener failed")
    return evidence_of(facts, NAME, "no call of {} failed")


CODE: GroupCheck = CheckCode(NAME, observers=(observe,), evaluate=evaluate)
