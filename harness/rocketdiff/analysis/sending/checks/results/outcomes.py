"""
Do the application's messages get through as often and as safely as the other client's, with truthful acknowledgements?

Three questions about every send of every case:

1. Exact, of one arm: an attempt that failed or was stored with a reserve without a known cause (``steps.causes``); an
   acknowledgement by a broker that was stopped or gone from before the request until after the answer; a SEND_OK while the
   slave that the broker waits for was; one that came before its answer.
2. Compared, over sends that both arms made: in how many moments of calm, and in how many fault periods, one arm had more sends
   that failed, were stored twice or with a reserve, or were held up (``slower_sends``); in calm also sends that succeeded after
   a failed attempt, and lost one-way messages.
3. Compared: how often a situation caused by a fault ended badly; for a client that does not report its attempts, how many sends failed
   without a request on the wire while a broker was gone, as those that a killed broker refuses.

Timeouts and SYSTEM_BUSY are never an exact difference, because a crowded machine causes them; with many of the
baseline's in calm, the case is invalid. Nothing holds up a send in calm: if many of the baseline's are, and more than
the candidate's, the case is indecisive.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from rocketdiff.analysis.fault_windows import FaultPeriods, outlasts
from rocketdiff.analysis.sending.checks.context import CaseContext, CaseObserver
from rocketdiff.analysis.sending.checks.results.refusals import refusal_of
from rocketdiff.analysis.sending.send_view import SendView
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.analysis.sending.steps.causes import SLOW, Cause
from rocketdiff.analysis.sending.steps.rulebook import reports_attempts
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import NEVER_CALLED_BACK, UNSEEN_ROUTE, Attempt, Send
from rocketdiff.core.sends.outcome import Outcome, class_of, is_stored_with_reserve, may_be
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.fault import BROKER_KILLS, OF_SLAVES, TAKE_A_SERVER, FaultKind, FaultRecord
from rocketdiff.core.tables.signatures import (
    ACKNOWLEDGED_BEFORE_ITS_ANSWER,
    ACKNOWLEDGED_BY_A_STOPPED_BROKER,
    ACKNOWLEDGED_WITHOUT_ITS_SLAVE,
    FAILED_WITHOUT_CAUSE,
    Signature,
)
from rocketdiff.core.tables.topology import master_of, topology_named
from rocketdiff.core.units import NS_PER_MS

NAME = "outcomes"
MORE = "outcomes.more"
"""Tally of time units in which an arm had more than the other."""

MET, ENDED = "outcomes.met", "outcomes.ended"
"""Tallies of a situation, and of its bad end."""

GONE, REFUSED_UNSEEN = "outcomes.failed-while-gone", "outcomes.failed-without-a-request"
"""Tallies of sends that failed while a broker was gone, and of those that did so by no timeout and without any attempt seen."""

CROWDED = "outcomes.crowded"
"""Tally of sends in calm, by the end for which a crowded machine or broker may be the cause."""

NOT_FAILED = "not failed"

REFUSED_BY_BROKER = "outcomes.refused-by-broker"
"""Tally of sends in calm that failed by a broker's answer, by its code."""

CALM, FAULTS = "calm", "faults"

MOMENT_NS = 500_000_000
"""
Sends that fail while the machine stalls share one cause and count once. A stall lasts a few hundred ms; above a second
it breaks the guard ``awake-machine``.
"""

FAILURES_APART_NS = 50_000_000
"""Sends due this long after the last failed one fail independently: those in between got through."""

FAILED, TWICE, RESERVED, RETRIED = "failed", "stored-twice", "stored-with-a-reserve", "failed-at-first"
UNSTORED, HELD_UP = "sent-one-way-and-not-stored", "held-up"
COMPARED = {CALM: (FAILED, TWICE, RESERVED, RETRIED, UNSTORED, HELD_UP), FAULTS: (FAILED, TWICE, RESERVED, HELD_UP)}
"""
Retries count in calm only, where there should be none: how many a fault costs depends on the rotation counter, and on
threads that tear each other's connections.
"""

AFTER_FAILURE, RESERVE = "failed/after-a-failed-attempt", "reserved/while-a-broker-waits"

SETTLED_NS = 50_000_000
"""A thread of a stopped process may finish its time slice: milliseconds on a crowded machine."""


class Outcomes(CaseObserver):
    """Notes unexplained failures and impossible acknowledgements; counts what happened to each arm, by time unit."""

    def __init__(self, context: CaseContext) -> None:
        super().__init__(context)
        self._causes = {arm: context.rulebook.causes(context.trace, arm) for arm in Arm}
        faults = context.times.faults
        self._is_witness = {arm: reports_attempts(context.trace, arm) for arm in Arm}
        self._stops: defaultdict[str, list[FaultRecord]] = defaultdict(list)
        for fault in faults:
            if fault.kind in TAKE_A_SERVER and fault.proven_ns is not None:
                self._stops[fault.node].append(fault)
        self._waits = [fault for fault in faults if fault.kind in OF_SLAVES | {FaultKind.FLUSH_TIMEOUT}]
        self._waits_for_slave = topology_named(context.entry.topology).waits_for_slave
        self._nodes = {master_of(fault.node) for fault in faults if fault.kind is not FaultKind.PAUSE_NAME_SERVER}
        self._periods = FaultPeriods.of(faults, context.entry.settings)
        self._units: defaultdict[tuple[str, int], dict[Arm, int]] = defaultdict(lambda: dict.fromkeys(Arm, 0))
        self._calm: defaultdict[tuple[str, Arm], list[int]] = defaultdict(list)

    def observe(self, send: AlignedSend) -> None:
        for side in send.sides:
            if side.row is not None and side.row.route != UNSEEN_ROUTE:
                self._require_cause(send, side, side.row)
            self._require_answered(send, side)
            self._require_running(send, side)
            self._require_copied(send, side)
            self._count_situations(side)
        self._compare(send)

    def finish(self) -> None:
        for (name, _), seen in self._units.items():
            if seen[Arm.BASELINE] != seen[Arm.CANDIDATE]:
                self._collector.count(MORE, str(max(seen, key=lambda arm: seen[arm])), FAULTS, name)
        for (name, arm), due in self._calm.items():
            self._collector.count(MORE, str(arm), CALM, name, n=moments_of(due))

    def _require_cause(self, send: AlignedSend, side: SendView, row: Send) -> None:
        if row.error == NEVER_CALLED_BACK or self._context.confuses_answers(side):
            return
        causes = list(self._causes_of(side, row))
        if self._periods.at(row.start_ns, row.end_ns) is None:
            crowded = next((end for cause, _, end in causes if cause is Cause.MACHINE), NOT_FAILED)
            self._collector.count(CROWDED, str(side.arm), CALM, crowded)
        other = send.side(Arm.CANDIDATE if side.arm is Arm.BASELINE else Arm.BASELINE)
        for cause, attempt, end in causes:
            if attempt is None and refusal_of(side) is not None:
                continue  # ``refusals`` compares it
            if cause is Cause.NONE and not _ended_so(other, attempt, end):
                where = "" if attempt is None else f" at {side.attempts[attempt].broker}"
                self._differ(
                    FAILED_WITHOUT_CAUSE,
                    send,
                    side,
                    "an answer: no known fault, closed connection or load explains this failure",
                    f"{'no attempt' if attempt is None else f'attempt {attempt}'}{where}, and {end}",
                    attempt,
                    place=end,
                )
                return

    def _causes_of(self, side: SendView, row: Send) -> Iterator[tuple[Cause, int | None, str]]:
        """Cause, number and end of each attempt not ended in SEND_OK, and of a failed send without any."""
        causes = self._causes[side.arm]
        if not row.attempts and row.error is not None:
            thrown = class_of(row.error)
            yield causes.of_no_attempt(thrown, row.end_ns), None, thrown
        is_asynchronous = row.mode is SendMode.ASYNC
        for attempt in row.attempts:
            if attempt.error is not None or is_stored_with_reserve(attempt.status):
                error, code = attempt.error, attempt.code
                is_last = is_asynchronous and attempt is row.attempts[-1]
                if is_last and may_be(row.error, "MQBrokerException"):
                    error, code = "MQBrokerException", row.code
                cause = causes.of(
                    side.thread,
                    attempt.broker,
                    attempt.start_ns,
                    attempt.end_ns,
                    error,
                    code,
                    attempt.status,
                    is_asynchronous=is_asynchronous,
                )
                if cause is Cause.NONE and is_last and causes.may_hide_a_retry(attempt.attempt, attempt.end_ns, error):
                    cause = Cause.FAULT
                yield cause, attempt.attempt, _end_of(error, code, attempt.status)

    def _require_answered(self, send: AlignedSend, side: SendView) -> None:
        """Both times are the client's own, so no clock and no load explains an acknowledgement before its answer."""
        row, last = side.row, side.attempts[-1] if side.attempts else None
        if row is None or last is None or row.error is not None or row.mode is SendMode.ONEWAY:
            return
        if not self._is_witness[side.arm] or self._context.confuses_answers(side):
            return
        if last.outcome is Outcome.OK and row.end_ns < last.end_ns:
            self._differ(
                ACKNOWLEDGED_BEFORE_ITS_ANSWER,
                send,
                side,
                f"no {row.status} before {last.broker} has answered",
                f"{(last.end_ns - row.end_ns) / NS_PER_MS:,.1f} ms before",
                last.attempt,
            )

    def _require_running(self, send: AlignedSend, side: SendView) -> None:
        row = side.row
        if row is not None and row.mode is SendMode.ONEWAY:
            return
        if self._context.confuses_answers(side):
            return  # the answer may be another message's
        for attempt in side.attempts:
            stops = self._stops.get(attempt.broker)
            if stops is None or attempt.status is None or attempt.outcome is not Outcome.OK:
                continue
            fault = next((each for each in stops if _was_down(each, attempt)), None)
            if fault is None:
                continue
            if fault.kind in BROKER_KILLS and any(copy.broker == attempt.broker for copy in side.copies or ()):
                continue  # restarted by something other than the harness
            word = fault.kind.traits.during
            took_ms = (attempt.end_ns - attempt.start_ns) // 1_000_000
            self._differ(
                ACKNOWLEDGED_BY_A_STOPPED_BROKER,
                send,
                side,
                f"no answer from {attempt.broker}, which was {word} from before the request until after the answer",
                f"attempt {attempt.attempt} ended with {attempt.status} after {took_ms:,} ms",
                attempt.attempt,
            )
            return

    def _require_copied(self, send: AlignedSend, side: SendView) -> None:
        """A broker that waits for its only slave cannot answer SEND_OK without it."""
        if not self._waits_for_slave or self._context.confuses_answers(side):
            return
        for attempt in side.attempts:
            fault = next(
                (each for each in self._waits if each.kind in OF_SLAVES and _keeps_waiting(each, attempt)), None
            )
            if fault is not None and attempt.error is None and attempt.status == "SEND_OK":
                self._differ(
                    ACKNOWLEDGED_WITHOUT_ITS_SLAVE,
                    send,
                    side,
                    f"a status other than SEND_OK: {fault.node} was paused or gone from before the request until after the answer",
                    f"attempt {attempt.attempt} at {attempt.broker} ended with SEND_OK",
                    attempt.attempt,
                )
                return

    def _count_situations(self, side: SendView) -> None:
        row = side.row
        if row is not None and row.error is not None and self._is_beside_a_kill(row):
            is_refused = not row.attempts and not may_be(row.error, *SLOW)
            self._collector.count(GONE, str(side.arm), FAULTS, FAILED)
            self._collector.count(REFUSED_UNSEEN, str(side.arm), FAULTS, FAILED, n=int(is_refused))
        if row is None or not row.attempts:
            return
        first, arm, hit = row.attempts[0], str(side.arm), side.contexts[0].hit
        if len(self._nodes) == 1 and hit is not None and first.error is not None:
            self._situation(arm, f"{AFTER_FAILURE}/{hit.kind}", has_ended=row.error is not None)
        waiting = next((fault for fault in self._waits if _keeps_waiting(fault, first)), None)
        if waiting is not None and first.error is None:
            self._situation(arm, f"{RESERVE}/{waiting.kind}", has_ended=is_stored_with_reserve(first.status))

    def _is_beside_a_kill(self, row: Send) -> bool:
        kills = (fault for stops in self._stops.values() for fault in stops if fault.kind in BROKER_KILLS)
        return any(outlasts(each, each.proven_ns or 0, row.start_ns, row.end_ns) for each in kills)

    def _situation(self, arm: str, name: str, *, has_ended: bool) -> None:
        self._collector.count(MET, arm, FAULTS, name)
        self._collector.count(ENDED, arm, FAULTS, name, n=int(has_ended))

    def _compare(self, send: AlignedSend) -> None:
        """Count what happened to a send that both arms made; in calm only what happened to one alone."""
        rows = {side.arm: side.row for side in send.sides if side.row is not None}
        if len(rows) < len(Arm):
            return
        periods = [self._periods.at(row.start_ns, row.end_ns) for row in rows.values()]
        period = next((period for period in periods if period is not None), None)
        phase = CALM if period is None else FAULTS
        befell = {side.arm: set(_befell(side, rows[side.arm])) for side in send.sides}
        for arm, row in rows.items():
            self._collector.count(NAME, str(arm), phase, "sends")
            if (code := _answered_code(row)) is not None:
                self._collector.count(REFUSED_BY_BROKER, str(arm), phase, f"code {code}")
            for what in sorted(befell[arm]) if befell[arm] else ():
                self._collector.count(NAME, str(arm), phase, what)
                if period is not None:
                    self._units[what, period][arm] += 1
                elif not all(what in each for each in befell.values()):
                    self._calm[what, arm].append(row.due_ns)

    def _differ(
        self,
        signature: Signature,
        send: AlignedSend,
        side: SendView,
        expected: str,
        observed: str,
        attempt: int | None,
        *,
        place: str = "",
    ) -> None:
        of_rules = side.arm is Arm.BASELINE
        self._collector.differ(
            signature,
            send,
            side,
            expected=expected,
            observed=observed,
            attempt=attempt,
            place=place,
            of_rules=of_rules,
        )


def moments_of(due: Sequence[int]) -> int:
    """Return in how many moments sends were due: those near each other share a cause."""
    last = began = -MOMENT_NS
    moments = 0
    for due_ns in sorted(due):
        if due_ns - last >= FAILURES_APART_NS or due_ns - began >= MOMENT_NS:
            began = due_ns
            moments += 1
        last = due_ns
    return moments


def _end_of(error: str | None, code: int | None, status: str | None) -> str:
    if error is None:
        return str(status)
    return error if code is None else f"{error}/code={code}"


def _ended_so(other: SendView | None, attempt: int | None, end: str) -> bool:
    """True if the other arm's attempt ended alike: then the message is refused (too long, say)."""
    if other is None or other.row is None:
        return False
    if attempt is None:
        return not other.attempts and class_of(other.row.error or "") == end
    return any(_end_of(made.error, made.code, made.status) == end for made in other.attempts)


def _was_down(fault: FaultRecord, attempt: Attempt) -> bool:
    return outlasts(fault, fault.injected_ns + SETTLED_NS, attempt.start_ns, attempt.end_ns)


def _keeps_waiting(fault: FaultRecord, attempt: Attempt) -> bool:
    """True if the attempt's broker waited in vain for a slave, or a disk, during all of the attempt."""
    if master_of(fault.node) != attempt.broker or fault.proven_ns is None:
        return False
    return outlasts(fault, fault.proven_ns, attempt.start_ns, attempt.end_ns)


def _answered_code(row: Send) -> int | None:
    """The code of a broker's answer by which a send failed; else None."""
    if row.error is None or may_be(row.error, "MQBrokerException"):
        return None if row.error is None else row.code
    last = row.attempts[-1] if row.attempts else None
    return last.code if last is not None and may_be(last.error, "MQBrokerException") else None


def _befell(side: SendView, row: Send) -> Iterator[str]:
    if row.error is not None and row.error != NEVER_CALLED_BACK and refusal_of(side) is None:
        yield FAILED
    if len(side.copies or ()) > 1:
        yield TWICE
    if row.mode is SendMode.ONEWAY and row.error is None and side.copies == ():
        yield UNSTORED
    if row.error is None and is_stored_with_reserve(row.status):
        yield RESERVED
    if row.error is None and any(attempt.error is not None for attempt in row.attempts):
        yield RETRIED
