"""
Is a message stored at most as often as its client's attempts explain, and only where its client sent it?

Examines every send against all queues. Each attempt may leave one copy in its queue (a timed-out one is stored when the
broker is resumed) unless it certainly failed, so several copies after several attempts are only counted. A divergence
is a queue with more copies than such attempts, or with a copy but no attempt. Where releases confuse answers
(asynchronous sends up to 4.6.1, near a fault), a refusal may belong to another message, so a refused attempt may have
left a copy too. Confusion explains nothing else, because requests are seen as they are written. A broker that is killed
and restarted delivers delayed messages again (it notes every 10 s how far it is), so there the kept-back copies count.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from rocketdiff.analysis.checks.case_facts import CaseFacts, counted, standing_with
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.sending.checks.calm_counts import CalmCount
from rocketdiff.analysis.sending.checks.context import CaseContext, CaseObserver, SendCheck
from rocketdiff.analysis.sending.checks.storage.loss import unread
from rocketdiff.analysis.sending.send_view import Copy, SendView
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import UNSEEN_ROUTE, Attempt
from rocketdiff.core.sends.outcome import Outcome, Reason
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.fault import BROKER_KILLS
from rocketdiff.core.tables.signatures import STORED_ELSEWHERE_THAN_CLAIMED, STORED_MORE_THAN_ATTEMPTED
from rocketdiff.core.tables.topology import topology_named

NAME = "duplication"
REFUSED = "duplication.refused"
"""
Tally of messages stored by attempts that their client believes refused, by an answer that may be another message's.
"""


class Duplication(CaseObserver):
    """Counts messages by number of copies; notes copies that no attempt explains."""

    def __init__(self, context: CaseContext) -> None:
        super().__init__(context)
        self._is_proxied = topology_named(context.entry.topology).has_proxies
        self._killed = {fault.node for fault in context.times.faults if fault.kind in BROKER_KILLS}

    def observe(self, send: AlignedSend) -> None:
        for side in send.sides:
            if not side.copies:
                continue
            self._collector.count(NAME, str(side.arm), str(side.phase), "message")
            if len(side.copies) > 1:
                self._collector.count(NAME, str(side.arm), str(side.phase), "stored-twice")
            # Without a witness, the number and places of the attempts are unknown.
            if side.attempts:
                self._account(send, side)

    def _account(self, send: AlignedSend, side: SendView) -> None:
        copies, attempts = side.copies or (), side.attempts
        self._collector.count(NAME, str(side.arm), str(side.phase), "accounted")
        if len(copies) == 1 and _answered_at(copies[0], attempts):
            return
        if self._is_proxied:
            self._account_in_all(send, side)
            return
        stored = Counter(self._places(side))
        claimed = {(attempt.broker, attempt.queue_id) for attempt in attempts}
        may_hold = Counter(
            (attempt.broker, attempt.queue_id) for attempt in attempts if not self._certainly_failed(side, attempt)
        )
        refused = Counter((attempt.broker, attempt.queue_id) for attempt in attempts if _was_refused(attempt))
        if refused and not stored <= may_hold and self._context.confuses_answers(side):
            unexplained = (stored - may_hold) & refused
            self._collector.count(REFUSED, str(side.arm), str(side.phase), "stored", n=unexplained.total())
            may_hold += refused
        over = sorted(place for place in stored if place in claimed and stored[place] > may_hold[place])
        if over:
            expected = "at most " + ", ".join(_copies(may_hold[place], place) for place in over)
            expected += ", one an attempt that did not certainly fail"
            observed = ", ".join(_copies(stored[place], place) for place in over)
            self._collector.differ(STORED_MORE_THAN_ATTEMPTED, send, side, expected=expected, observed=observed)
        elif stored.total() > may_hold.total():
            expected = f"at most {may_hold.total()} in all, one an attempt that did not certainly fail"
            observed = ", ".join(_copies(count, place) for place, count in sorted(stored.items()))
            self._collector.differ(STORED_MORE_THAN_ATTEMPTED, send, side, expected=expected, observed=observed)
        astray = sorted(place for place in stored if place not in claimed and not self._is_torn(place, claimed))
        if astray:
            expected = "copies only in " + ", ".join(f"{broker} queue {queue}" for broker, queue in sorted(claimed))
            observed = ", ".join(_copies(stored[place], place) for place in astray)
            self._collector.differ(STORED_ELSEWHERE_THAN_CLAIMED, send, side, expected=expected, observed=observed)

    def _places(self, side: SendView) -> Iterator[tuple[str, int]]:
        """Broker and queue of each copy that a request stored."""
        for copy in side.copies or ():
            if not (side.kept and copy.broker in self._killed):
                yield copy.broker, copy.queue_id
        for kept in side.kept:
            queue_id = kept.carried().get("REAL_QID", "")
            if kept.broker in self._killed and queue_id.isdigit():
                yield kept.broker, int(queue_id)

    def _account_in_all(self, send: AlignedSend, side: SendView) -> None:
        """Behind a proxy, which chooses the queue, count copies over all queues."""
        copies, attempts = side.copies or (), side.attempts
        may_hold = sum(not self._certainly_failed(side, attempt) for attempt in attempts)
        is_half_seen = side.row is not None and side.row.route == UNSEEN_ROUTE
        if len(copies) > may_hold and not is_half_seen:
            expected = f"at most {may_hold} in all, one an attempt that did not certainly fail"
            stored = Counter((copy.broker, copy.queue_id) for copy in copies)
            observed = ", ".join(_copies(count, place) for place, count in sorted(stored.items()))
            self._collector.differ(STORED_MORE_THAN_ATTEMPTED, send, side, expected=expected, observed=observed)

    def _is_torn(self, place: tuple[str, int], claimed: set[tuple[str, int]]) -> bool:
        """True if a request may have gone to the broker, or have had the queue id, that the hook read before or after a rewrite."""
        brokers, numbers = {broker for broker, _ in claimed}, {number for _, number in claimed}
        return self._context.rulebook.rewrites and (place[0] in brokers or place[1] in numbers)

    def _certainly_failed(self, side: SendView, attempt: Attempt) -> bool:
        """
        True if an attempt certainly left no copy.

        Hooks report the callback's error for an asynchronous send's last attempt. A retry without a connection is not
        reported, so its error may appear on the attempt before it, which was written; unless no retry was left.
        """
        retries = self._context.entry.settings.retry_times_when_send_async_failed
        is_asynchronous = side.row is not None and side.row.mode is SendMode.ASYNC
        may_hide_a_retry = is_asynchronous and attempt is side.attempts[-1] and len(side.attempts) <= retries
        return attempt.outcome is Outcome.FAILED and not (may_hide_a_retry and attempt.reason is Reason.CONNECT)


def _answered_at(copy: Copy, attempts: Sequence[Attempt]) -> bool:
    """True if a successful attempt explains the copy, regardless of the other attempts."""
    return any(
        attempt.outcome is Outcome.OK and (attempt.broker, attempt.queue_id) == (copy.broker, copy.queue_id)
        for attempt in attempts
    )


def _was_refused(attempt: Attempt) -> bool:
    return attempt.outcome is Outcome.FAILED and attempt.reason is Reason.BROKER


def _copies(count: int, place: tuple[str, int]) -> str:
    return f"{count} {'copy' if count == 1 else 'copies'} in {place[0]} queue {place[1]}"


def evaluate(facts: CaseFacts) -> Evidence:
    """Return evidence with the number of messages stored more than once."""
    accounted = {arm: facts.n(NAME, "accounted", arm=str(arm)) for arm in Arm}
    without = "no stored message of {} has a witnessed attempt to account for it"
    standing, reason = unread(facts) or standing_with(facts, accounted, without)
    measures = counted(facts, "stored-more-than-once", NAME, "stored-twice")
    if facts.n(REFUSED):
        measures += counted(facts, "stored-though-refused", REFUSED, "stored")
    return facts.evidence(NAME, standing, reason, decisions=sum(accounted.values()), measures=measures)


CODE: SendCheck = CheckCode(
    NAME,
    observers=(Duplication,),
    evaluate=evaluate,
    calm=(CalmCount(NAME, "message"), CalmCount(NAME, "accounted")),
)
