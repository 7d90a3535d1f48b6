"""
Does a message whose listener failed come back: once, after its delay, soon then, and with its failures counted?

A failed message is handed back to its broker, which keeps it for the delay and stores it in the group's retry topic, or in the dead
letters when it has failed too often. A crowded broker may refuse a few, which the client then sends itself. Beside a fault there may be other copies, and none (``oracle.consumer.retrying``). A copy that came due
is delivered, at the latest after its delay, a tenth of a second of the broker's, a hold, and what a busy machine takes.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from operator import attrgetter

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.consuming.checks import retry_properties
from rocketdiff.analysis.consuming.checks.group_check import JUDGED, GroupCheck, evidence_of
from rocketdiff.analysis.consuming.failures import DEAD, RETRY, WAITING, Failures, copies_by_send
from rocketdiff.analysis.consuming.group_facts import GroupFacts
from rocketdiff.analysis.consuming.lateness import LateSeconds, Starvation, later_group
from rocketdiff.analysis.consuming.membership import Membership
from rocketdiff.analysis.consuming.promptly import Promptly
from rocketdiff.analysis.consuming.story import CaseStory, Delivery, GroupStory, Held, QueueOf, ReturnedCopy
from rocketdiff.analysis.consuming.waiting import Waiting
from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import TopicKind
from rocketdiff.core.sends.message import DELAY_S, delay_s
from rocketdiff.core.tables.signatures import (
    DEAD_TOO_EARLY,
    DEAD_TOO_LATE,
    RETRIES_LATER,
    RETRY_AT_ANOTHER_BROKER,
    RETRY_EARLY,
    RETRY_LATE,
    RETRY_MISSING,
    RETRY_NOT_DEAD,
    RETRY_OTHER_LEVEL,
    RETRY_OTHER_TIMES,
    RETRY_TOO_OFTEN,
    Signature,
)
from rocketdiff.core.units import NS_PER_MS, NS_PER_S
from rocketdiff.oracle.consumer.retrying import Copy, Failure, Settled, may_be_refused, settled

NAME = "retries"

EARLY_NS = 100 * NS_PER_MS
"""A broker looks for due messages ten times a second."""

LATER_MS = 500.0
"""More than both groups' brokers, whose looks are 100 ms apart, and two pulls that wait for a core."""

APART_NS = 2 * NS_PER_S
"""From a retry to the next disturbance."""


def observe(story: CaseStory, facts: GroupFacts) -> None:
    """Note what this check finds in a case."""
    late = {arm: LateSeconds() for arm in story.groups}
    for arm, group in story.groups.items():
        if group.is_orderly:  # its messages stay in their queue
            continue
        copies, known, promptly = copies_by_send(group), Failures(story, group), Promptly(story, group)
        lateness = _Lateness(story, group, promptly, late[arm])
        refused: list[_Different] = []
        judged = 0
        for send, deliveries in group.by_send.items():
            failed = [each for each in deliveries if each.has_failed and each.end_ns is not None]
            facts.count(NAME, str(group.arm), "", JUDGED, n=len(failed))
            judged += len(failed)
            failures = list(map(known.of, failed))
            own = copies.get(send, ())
            if any(copy.place != RETRY and known.may_be_unseen(copy) for copy in own):
                continue
            compared = (deliveries, failed, failures, own, known.most)
            different = None if group.returned is None else _different(*compared)
            if different is not None:
                sent = [replace(failure, is_certain=False) for failure in failures]
                is_counted = len(_made(own, failures)) == len(failures)
                if is_counted and not _different(deliveries, failed, sent, own, known.most):
                    refused.append(different)
                    continue
                different.note(facts, group)
            if all(failure.is_certain for failure in failures):
                timed = lateness if different is None else None
                _observe_deliveries(facts, group, deliveries, failed, promptly, timed)
        if not may_be_refused(len(refused), judged):
            for each in refused:
                each.note(facts, group)
        _observe_undelivered(story, facts, group)
    _compare(story, facts, late)


class _Lateness:
    """
    How late the retries of one group are in calm, by the second in which their messages were stored.

    late: where they are kept. What a pull interval or busy threads explain is left out.
    """

    def __init__(self, story: CaseStory, group: GroupStory, promptly: Promptly, late: LateSeconds) -> None:
        self._stored_ns, self._promptly, self._late = story.stored_ns, promptly, late
        self._starvation, self._pull_interval_ns = Starvation(story, group), group.pull_interval_ns
        self._disturbed = [*Membership(story, group).moving()]
        self._disturbed += [(fault.inject_ns, inf) for fault in story.trace.faults]

    def take(self, copy: Delivery, due_ns: int) -> None:
        """Note a retry that was due at an instant."""
        stored_ns = None if copy.send is None else self._stored_ns.get(copy.send)
        if stored_ns is None or self._promptly.calls_at(copy.member, due_ns) >= self._promptly.threads:
            return
        if any(
            since_ns - APART_NS <= copy.start_ns and stored_ns <= until_ns for since_ns, until_ns in self._disturbed
        ):
            return
        late_ns = copy.start_ns - due_ns - self._pull_interval_ns
        explained_ns = self._starvation.explains_ns(due_ns, copy.start_ns)
        self._late.take_longest(stored_ns // NS_PER_S, late_ns / NS_PER_MS, explained_ns / NS_PER_MS)


def _compare(story: CaseStory, facts: GroupFacts, late: Mapping[Arm, LateSeconds]) -> None:
    """Note a group whose retries are late in many seconds in which the other's are not."""
    later = later_group(late, lambda own_ms, other_ms: own_ms > other_ms + LATER_MS)
    if later is not None:
        second = later.seconds[0]
        facts.differ(
            RETRIES_LATER,
            story.groups[later.arm],
            at_ns=second * NS_PER_S,
            expected=f"failed messages back as soon after their delays as the other group's: {late[later.other].seen_ms[second]:.0f} ms",
            observed=(
                f"{late[later.arm].seen_ms[second]:.0f} ms; over {LATER_MS:.0f} ms later in {len(later.seconds)} of {later.of} seconds, "
                f"sooner in {later.against}"
            ),
        )


@dataclass(frozen=True, slots=True)
class _Different:
    """The first difference of a message's copies, and the delivery that shows it."""

    signature: Signature
    at: Delivery
    expected: str
    observed: str

    def note(self, facts: GroupFacts, group: GroupStory) -> None:
        _note(facts, group, self.signature, self.at, expected=self.expected, observed=self.observed)


def _different(
    deliveries: Sequence[Delivery],
    failed: Sequence[Delivery],
    failures: Sequence[Failure],
    copies: Sequence[ReturnedCopy],
    most: int,
) -> _Different | None:
    """Compare the copies of a message with those that its failures must have, and may have. deliveries: all of the message."""
    found = settled(failures, _made(copies, failures), most)
    if not found.missing and not found.further:
        return None
    signature, failure, expected, observed = _difference(found, failures, most)
    at = failed[failures.index(failure)] if failure in failures else deliveries[0]
    return _Different(signature, at, expected, observed)


def _made(copies: Iterable[ReturnedCopy], failures: Sequence[Failure]) -> list[Copy]:
    """Return each copy once: one that came due is in the delay topic as well."""
    waited = Counter((each.times, each.queue.broker) for each in copies if each.place == WAITING)
    made = []
    for each in copies:
        if each.place == RETRY and waited[each.times, each.queue.broker]:
            waited[each.times, each.queue.broker] -= 1
        else:
            causes = [failure for failure in failures if failure.times == each.times - 1]
            unseen = causes[0].level if causes else 0
            level = 0 if each.place == DEAD else unseen if each.level is None else _known(each.level)
            made.append(Copy(each.times, level, each.queue.broker, each.place == DEAD))
    return made


def _known(level: int) -> int:
    """A client may have asked for a level that no broker has."""
    return max(0, min(level, len(DELAY_S)))


def _difference(found: Settled, failures: Sequence[Failure], most: int) -> tuple[Signature, Failure | None, str, str]:
    """Return the signature, the failure that shows it, and what was expected and seen."""
    for failure in found.missing:
        own = [copy for copy in found.further if copy.times == failure.times + 1]
        back, expected = failure.handed_back(most), _words(failure.handed_back(most))
        if not own and not (own := found.further):
            return RETRY_NOT_DEAD if back.is_dead else RETRY_MISSING, failure, expected, "no copy of it"
        other = own[0]
        if other.is_dead != back.is_dead:
            return DEAD_TOO_EARLY if other.is_dead else DEAD_TOO_LATE, failure, expected, _words(other)
        if other.times != back.times:
            return RETRY_OTHER_TIMES, failure, expected, _words(other)
        signature = RETRY_OTHER_LEVEL if other.level != back.level else RETRY_AT_ANOTHER_BROKER
        return signature, failure, expected, _words(other)
    copy = found.further[0]
    causes = [failure for failure in failures if failure.times == copy.times - 1]
    cause = [None, *failures, *causes][-1]
    expected = f"no further copy after {len(failures)} calls that failed"
    signature = DEAD_TOO_EARLY if copy.is_dead and not any(each.is_dead(most) for each in failures) else RETRY_TOO_OFTEN
    return signature, cause, expected, _words(copy)


def _words(copy: Copy) -> str:
    counted = f"{copy.times} failure{'s' * (copy.times != 1)} counted, at {copy.broker}"
    if copy.is_dead:
        return f"a dead letter, {counted}"
    return f"a copy with a delay of {delay_s(copy.level)} s (level {copy.level}), {counted}"


def _observe_deliveries(
    facts: GroupFacts,
    group: GroupStory,
    deliveries: Sequence[Delivery],
    failed: Sequence[Delivery],
    promptly: Promptly,
    lateness: _Lateness | None,
) -> None:
    """
    Find for each copy that was delivered a failure with one less counted, and the time between them.

    A message may fail again after a change of owners, so that there may be several chains of copies; each failure makes one.
    """
    copies: dict[tuple[QueueOf, int], Delivery] = {}
    for each in deliveries:
        if each.queue.kind is TopicKind.RETRY:
            copies.setdefault((each.queue, each.queue_offset), each)
    if len(copies) > len(failed):
        extra = list(copies.values())[-1]
        expected = f"no further delivery after {len(failed)} calls that failed"
        observed = f"one from the retry topic, {extra.times} failures counted"
        _note(facts, group, RETRY_TOO_OFTEN, extra, expected=expected, observed=observed)
        return
    by_times: defaultdict[int, list[Delivery]] = defaultdict(list)
    for each in sorted(failed, key=attrgetter("end_ns")):
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
        if _is_out_of_time(facts, group, causes[place], copy, promptly, lateness):
            return


def _is_out_of_time(
    facts: GroupFacts,
    group: GroupStory,
    cause: Delivery,
    copy: Delivery,
    promptly: Promptly,
    lateness: _Lateness | None,
) -> bool:
    """Note a copy that comes before its delay, or long after it; else how late it is."""
    level = Failure(cause.times, cause.queue.broker, cause.delay_level).level
    if level < 0 or cause.end_ns is None:
        return False
    due_ns = cause.end_ns + delay_s(level) * NS_PER_S
    is_early = copy.start_ns < due_ns - EARLY_NS
    if not is_early and not promptly.is_late(copy, due_ns + EARLY_NS):
        if lateness is not None:
            lateness.take(copy, due_ns)
        return False
    expected = f"a delay of {delay_s(level)} s (level {level})"
    observed = f"{(copy.start_ns - cause.end_ns) / NS_PER_MS:.0f} ms after the call ended"
    _note(facts, group, RETRY_EARLY if is_early else RETRY_LATE, copy, expected=expected, observed=observed)
    return True


def _observe_undelivered(story: CaseStory, facts: GroupFacts, group: GroupStory) -> None:
    """Note copies that came due, and that no member was handed while the rules left it time."""
    delivered = {(each.queue, each.queue_offset) for each in group.deliveries}
    waiting = Waiting(story, group)
    for copy in group.returned or ():
        if copy.place != RETRY or copy.send is None or (copy.queue, copy.queue_offset) in delivered:
            continue
        held = Held(
            copy.queue,
            copy.queue_offset,
            copy.send,
            copy.store_ms,
            body_ok=True,
            properties=copy.properties,
            born_host="",
        )
        if (waited_ns := waiting.too_long_ns(held)) is not None:
            facts.differ(
                RETRY_MISSING,
                group,
                at_ns=group.watched_until_ns,
                send=copy.send,
                expected=f"a delivery of the copy of message {copy.send} at offset {copy.queue_offset} of {copy.queue}",
                observed=f"none for {waited_ns / NS_PER_S:.0f} s",
            )


def _note(
    facts: GroupFacts, group: GroupStory, signature: Signature, at: Delivery, *, expected: str, observed: str
) -> None:
    at_ns = at.start_ns if at.end_ns is None else at.end_ns
    facts.differ_at(signature, group, at, expected, observed, at_ns=at_ns)


def evaluate(facts: CaseFacts) -> Evidence:
    """Return the evidence of one case."""
    if not facts.n(NAME, JUDGED):
        return facts.evidence(NAME, Standing.NOT_APPLICABLE, "no call of a listener failed")
    return evidence_of(facts, NAME, "no call of {} failed")


CODE: GroupCheck = CheckCode(NAME, observers=(observe, retry_properties.observe), evaluate=evaluate)
