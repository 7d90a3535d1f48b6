"""
Does the pull loop ask the right broker for the right offset at the right time?

Only the relays before the members see it. A queue has one pull at a time (DefaultMQPushConsumerImpl.pullMessage): the next one follows
the answer, at the offset that it names: after messages when the interval that is set is over, after an error when the release's delay is.
Two pulls are compared only if they fell into the same tenure. Where a fault on the wire has lost an answer, the next pull comes in time.
A master is asked unless an answer suggested a slave, or the master was faulty and the client has not polled its route since, and a slave
is never sent an offset to commit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest
from math import inf

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.consuming.checks.group_check import JUDGED, GroupCheck, evidence_of
from rocketdiff.analysis.consuming.group_facts import GroupFacts
from rocketdiff.analysis.consuming.membership import windows_by_release
from rocketdiff.analysis.consuming.pulls import GO_AWAY, MOVED, WITH_OFFSET, WirePull, by_queue, pulls_of
from rocketdiff.analysis.consuming.story import CaseStory, GroupStory, Tenure
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.answers.verdict import Measure
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.fault import FaultKind, FaultRecord, RequestKind
from rocketdiff.core.tables.signatures import (
    COMMITS_AT_A_SLAVE,
    PULLED_FROM_ANOTHER,
    PULLED_NOT_OWNED,
    PULLED_OTHER_OFFSET,
    PULLED_TOO_LATE,
    PULLED_TOO_SOON,
    PULLED_TWICE_AT_ONCE,
    Signature,
)
from rocketdiff.core.tables.topology import master_of
from rocketdiff.core.units import NS_PER_MS, NS_PER_S
from rocketdiff.oracle.consumer.reach import closes_connections, is_down, is_of_name_server, over_ns
from rocketdiff.oracle.consumer.windows import MARGIN_NS, PULL_TIMEOUT_NS, PULL_TIMEOUT_SCAN_NS, REGISTERS_NS, Windows

NAME = "pulling"

IDLE = "idle"
"""Tally: pulls that brought no message, and for how many minutes they were held."""

GIVEN_UP_NS = 28 * NS_PER_S
"""A client may count its 30 s from before the request reached the relay."""

LOST_AFTER_NS = 3 * NS_PER_S
"""An answer that its connection followed so soon may not have reached the client."""

OWNED_NS = 2 * NS_PER_S
"""A member's set of queues is looked at every 20 ms, by a thread that may wait for a core; a stall of over 1 s makes the case invalid."""

NEWEST = "5.3.3"
"""Its delays are the shortest: for a baseline without rules of its own."""


def observe(story: CaseStory, facts: GroupFacts) -> None:
    """Note what this check finds in a case: each kind of difference once for each member and queue."""
    for group in story.groups.values():
        pulls = pulls_of(story.trace, group.arm)
        if pulls is None:
            continue
        facts.count(NAME, str(group.arm), "", JUDGED, n=len(pulls))
        for pull in pulls:
            if pull.code in WITH_OFFSET and pull.count == 0 and pull.answered_ns is not None:
                minutes = (pull.answered_ns - pull.in_ns) / NS_PER_S / 60
                facts.count(NAME, str(group.arm), "", IDLE, n=1, total=minutes)
        windows = windows_by_release(story, group, NEWEST)
        for own in by_queue(pulls).values():
            seen: set[str] = set()
            for signature, pull, expected, observed in _differences(story, group, own, windows):
                if signature.name not in seen:
                    seen.add(signature.name)
                    facts.differ(signature, group, at_ns=pull.in_ns, expected=expected, observed=observed)


Found = tuple[Signature, WirePull, str, str]
"""With the pull at which it was seen, what was expected and what was observed."""


def _differences(
    story: CaseStory, group: GroupStory, own: Sequence[WirePull], windows: Sequence[Windows]
) -> Iterator[Found]:
    """Yield what is wrong with a member's pulls of one queue, which are in order."""
    first, *_ = own
    tenures = [each for each in group.tenures_of(first.queue) if each.member == first.member]
    suggested: int | None = None
    for pull in own:
        yield from _place(story, pull, suggested, windows)
        if _is_known(group, pull.member) and not any(_covers(tenure, pull.in_ns, OWNED_NS) for tenure in tenures):
            yield (
                PULLED_NOT_OWNED,
                pull,
                f"no pull of {pull.queue} by member {pull.member}, which does not work on it",
                f"a pull from offset {pull.offset}",
            )
        suggested = pull.suggested if pull.suggested is not None else suggested
    stops = [pause for life in group.lives if life.member == first.member for pause in life.pauses]
    for tenure in tenures:
        within = [pull for pull in own if _covers(tenure, pull.in_ns)]
        for before, after in pairwise(within):
            # A process that was stopped may count an answer that has come as too late.
            if not any(pause.meets(before.in_ns, after.in_ns) for pause in stops):
                yield from _order(story, before, after, windows, group.pull_interval_ns)
        if not group.is_orderly and not stops:  # in order, a queue without its lock is not pulled
            yield from _late(story, group, tenure, within, windows)


def _place(story: CaseStory, pull: WirePull, suggested: int | None, windows: Sequence[Windows]) -> Iterator[Found]:
    if master_of(pull.node) != pull.queue.broker:
        yield PULLED_FROM_ANOTHER, pull, f"a pull of {pull.queue} at its broker", f"one at {pull.node}"
    if not pull.is_at_a_slave:
        return
    if not suggested and not _may_lack_its_master(story, pull, windows):
        words = "suggested the master" if suggested == 0 else "suggested none"
        expected = f"a pull of {pull.queue} at the master, which is there"
        yield PULLED_FROM_ANOTHER, pull, expected, f"one at {pull.node}, though the answer before {words}"
    if pull.commit is not None:
        yield COMMITS_AT_A_SLAVE, pull, f"no offset to commit in a pull at {pull.node}", f"{pull.commit}"


def _failed_ns(story: CaseStory, pull: WirePull, over_ns: int) -> int:
    """Return when the client may have known of a pull's failure: with its broker's fault, before the relay saw the connection end."""
    if pull.code is not None:
        return over_ns
    faults = (fault.inject_ns for fault in story.trace.faults if fault.node == pull.queue.broker)
    return min([over_ns, *(at_ns for at_ns in faults if pull.in_ns <= at_ns)])


def _order(
    story: CaseStory, before: WirePull, after: WirePull, windows: Sequence[Windows], interval_ns: int
) -> Iterator[Found]:
    """Compare a pull with the next one of the same tenure. interval_ns: what the members are set to wait after messages."""
    over_ns, apart_ns = before.over_ns, after.in_ns - before.in_ns
    is_under_way = apart_ns < GIVEN_UP_NS if over_ns is None else after.in_ns < min(over_ns, before.in_ns + GIVEN_UP_NS)
    if is_under_way:
        expected = f"one pull of {after.queue} at a time"
        observed = f"a second one {apart_ns / NS_PER_MS:.1f} ms after the first, which had no answer"
        yield PULLED_TWICE_AT_ONCE, after, expected, observed
        return
    if over_ns is None or before.code in (MOVED, GO_AWAY):
        return
    if after.offset not in _next_offsets(before):
        told = before.next_offset if before.code in WITH_OFFSET else before.offset
        yield PULLED_OTHER_OFFSET, after, f"a pull of {after.queue} from offset {told}", f"one from {after.offset}"
    failed_ns = _failed_ns(story, before, over_ns)
    least_ns = _least_delay_ns(before, over_ns, windows, interval_ns)
    if least_ns and after.in_ns - failed_ns < least_ns:
        cause = f"code {before.code}" if before.code else "no answer" if before.code is None else "messages"
        yield (
            PULLED_TOO_SOON,
            after,
            f"the next pull of {after.queue} at least {least_ns / NS_PER_MS:.0f} ms after {cause}",
            f"one after {(after.in_ns - failed_ns) / NS_PER_MS:.1f} ms",
        )


def _late(
    story: CaseStory, group: GroupStory, tenure: Tenure, within: Sequence[WirePull], windows: Sequence[Windows]
) -> Iterator[Found]:
    """Find a pull that got no answer because of a fault on the wire, and that no other follows in time."""
    faults = [fault for fault in story.trace.faults if fault.node == tenure.queue.broker and _is_met(fault)]
    life = group.life_of(tenure)
    ends = (tenure.until_ns, None if life is None else life.gone_ns, group.watched_until_ns)
    until_ns = min(at_ns for at_ns in ends if at_ns is not None)
    again_ns = max(each.after_failed_pull(None) for each in windows) + MARGIN_NS
    for before, after in zip_longest(within, within[1:]):
        gives_up_ns = before.in_ns + PULL_TIMEOUT_NS + PULL_TIMEOUT_SCAN_NS
        latest_ns = min(gives_up_ns, before.lost_ns or gives_up_ns) + again_ns
        met = [fault for fault in faults if fault.inject_ns <= latest_ns and before.in_ns <= (over_ns(fault) or inf)]
        next_ns = until_ns if after is None else after.in_ns
        if before.code is None and next_ns > latest_ns and met and all(fault.hit is not None for fault in met):
            yield (
                PULLED_TOO_LATE,
                before,
                f"a pull of {before.queue} within {(latest_ns - before.in_ns) / NS_PER_S:.1f} s after one without an answer",
                f"none for {(next_ns - before.in_ns) / NS_PER_S:.1f} s",
            )


def _is_met(fault: FaultRecord) -> bool:
    """True if a pull may get no answer."""
    is_of_pulls = fault.hit is not None and fault.hit.of is RequestKind.PULL
    return is_down(fault) or is_of_pulls or closes_connections(fault)


def _next_offsets(before: WirePull) -> set[int | None]:
    """Return where a member may go on; an answer that came late, or just before the connection ended, may be lost."""
    if before.code not in WITH_OFFSET or before.answered_ns is None:
        return {before.offset}
    is_late = before.answered_ns - before.in_ns >= GIVEN_UP_NS
    is_lost = before.lost_ns is not None and before.lost_ns - before.answered_ns < LOST_AFTER_NS
    return {before.next_offset, before.offset} if is_late or is_lost else {before.next_offset}


def _least_delay_ns(before: WirePull, over_ns: int, windows: Sequence[Windows], interval_ns: int) -> int:
    """Half of the pull interval after messages, else of the release's delay after an error; a pull that timed out has already waited."""
    if before.code in WITH_OFFSET and before.count:
        return interval_ns // 2
    if before.code in WITH_OFFSET or over_ns - before.in_ns >= min(GIVEN_UP_NS, PULL_TIMEOUT_NS):
        return 0
    return min(each.after_failed_pull(before.code) for each in windows) // 2


def _covers(tenure: Tenure, at_ns: int, margin_ns: int = 0) -> bool:
    until_ns = tenure.until_ns
    return tenure.begin_ns - margin_ns <= at_ns and (until_ns is None or at_ns < until_ns + margin_ns)


def _is_known(group: GroupStory, member: int) -> bool:
    """True if the queues that a member works on are known to the end."""
    lives = [life for life in group.lives if life.member == member]
    return any(tenure.member == member for tenure in group.tenures) and not any(life.is_cut_off for life in lives)


def _may_lack_its_master(story: CaseStory, pull: WirePull, windows: Sequence[Windows]) -> bool:
    """True if the client's route may be without the master: it was faulty, and the client has not polled the route since."""
    window, *_ = windows  # the interval is a setting, whose default is the same in every release
    polled_ns = window.route_poll_ns + MARGIN_NS
    for fault in story.trace.faults:
        if fault.node == pull.queue.broker and fault.inject_ns <= pull.in_ns:
            registers_ns = 0 if fault.kind is FaultKind.KILL else REGISTERS_NS
            if fault.healed_ns is None or pull.in_ns <= fault.healed_ns + registers_ns + polled_ns:
                return True
    return any(is_of_name_server(fault) for fault in story.trace.faults)


def evaluate(facts: CaseFacts) -> Evidence:
    """Return the evidence of one case, with the pulls a minute of a queue without messages."""
    evidence = evidence_of(facts, NAME, "no relay saw a pull of {}; run with --wire")
    return replace(evidence, measures=tuple(_idle(facts)))


def _idle(facts: CaseFacts) -> Iterator[Measure]:
    for arm in Arm:
        count, held = facts.n(NAME, IDLE, arm=str(arm)), facts.mean(NAME, IDLE, arm=str(arm))
        if count and held:
            yield Measure(f"pulls an idle minute {arm}", 1 / held, "count", count)


CODE: GroupCheck = CheckCode(NAME, observers=(observe,), evaluate=evaluate)
