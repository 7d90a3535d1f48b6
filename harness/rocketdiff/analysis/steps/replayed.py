"""
Every send judged against the rules of one release.

The set of hidden states that explains the trace is kept, and a send that empties it is a difference. In: an arm's sends in context, by (thread, send). Out: the same with the oracle's judgement. The oracle keeps state over
a whole thread, so a thread must come whole and in order; the reader has checked that. Threads that share a fault table,
and asynchronous sends, whose queues are chosen by threads of the client's, are judged together, which takes the whole arm
into memory; all others stream.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from rocketdiff.analysis.steps.attempts_in_context import SendInContext
from rocketdiff.analysis.steps.excuses import Excuses
from rocketdiff.analysis.steps.rulebook import ArmRules
from rocketdiff.analysis.steps.torn_connections import TornConnections
from rocketdiff.core.fault import HOLD_ANSWERS_BACK
from rocketdiff.oracle.durations import GAVE_UP_EARLY, OUTLASTED, WAITED, Outlasted
from rocketdiff.oracle.judgement import Difference, Judgement
from rocketdiff.oracle.replay import Replay
from rocketdiff.oracle.trace import AttemptTrace, SendTrace
from rocketdiff.traces.rows import AttemptRow, SendRow


@dataclass(frozen=True, slots=True)
class JudgedSend:
    """A send in context and what the rules say to it; None: there are no rules to judge by, or it never returned."""

    context: SendInContext
    judgement: Judgement | None


def replayed(sends: Iterable[SendInContext], rules: ArmRules | None) -> Iterator[JudgedSend]:
    """Every send with its judgement."""
    if rules is None:
        return (JudgedSend(context, None) for context in sends)
    judged = _together(sends, rules) if rules.shared or rules.asynchronous else _by_thread(sends, rules)
    return forgiven(judged, rules.torn_connections(), rules.excuses())


def forgiven(sends: Iterable[JudgedSend], torn: TornConnections, excuses: Excuses) -> Iterator[JudgedSend]:
    """
    Some differences are none, as things were.

    A timeout that came too early, where the request's connection may have been closed under it. A one-way call that took long,
    where its broker was well, or a connection may have had to be made. An attempt that outlasted its timeout, on a machine that
    made the other arm late as well or while its client connected.
    Whatever else is wrong with that send then takes its place.
    """
    for one in sends:
        judgement = one.judgement
        if (
            judgement is not None
            and judgement.difference is not None
            and _is_forgiven(one, judgement.difference, torn, excuses)
        ):
            left = (other for other in judgement.further if not _is_forgiven(one, other, torn, excuses))
            yield replace(one, judgement=replace(judgement, difference=next(left, None)))
        else:
            yield one


def _is_forgiven(one: JudgedSend, found: Difference, torn: TornConnections, excuses: Excuses) -> bool:
    if found.signature not in (GAVE_UP_EARLY, WAITED, OUTLASTED):
        return False
    traced = one.context.traced
    attempt = traced.attempts[found.attempt or 0]
    if found.signature == OUTLASTED:
        return excuses.cover(Outlasted.of(found), attempt.broker, attempt.start_ns, attempt.end_ns)
    if found.signature == WAITED:
        hit = one.context.contexts[found.attempt or 0].hit
        return hit is None or hit.kind not in HOLD_ANSWERS_BACK or not torn.are_kept(attempt.broker)
    return torn.may_have_torn(traced.thread, attempt.broker, attempt.start_ns, attempt.end_ns)


def _by_thread(sends: Iterable[SendInContext], rules: ArmRules) -> Iterator[JudgedSend]:
    thread: int | None = None
    replay: Replay | None = None
    for context in sends:
        traced = context.traced
        if replay is None or traced.thread != thread:
            thread, replay = traced.thread, rules.fresh()
        judgement = (
            None
            if traced.row is None
            else replay.judge(trace_of(traced.thread, traced.row, tells_cause=rules.tells_cause))
        )
        yield JudgedSend(context, judgement)


def _together(sends: Iterable[SendInContext], rules: ArmRules) -> Iterator[JudgedSend]:
    held = list(sends)
    traces = [
        trace_of(one.traced.thread, one.traced.row, tells_cause=rules.tells_cause)
        for one in held
        if one.traced.row is not None
    ]
    judgements = {(judged.thread, judged.send): judged for judged in rules.judge_together(traces)}
    for context in held:
        yield JudgedSend(context, judgements.get(context.traced.order))


def trace_of(thread: int, row: SendRow, *, tells_cause: bool = True) -> SendTrace:
    """A send as the oracle reads it."""
    return SendTrace(
        send=row.send,
        thread=thread,
        kind=row.kind,
        argument=row.argument,
        start_ns=row.start_ns,
        end_ns=row.end_ns,
        error=row.error,
        cause=row.cause,
        code=row.code,
        status=row.status,
        broker=row.broker,
        queue_id=row.queue_id,
        route=row.route,
        route_after=row.route_after,
        attempts=tuple(map(_attempt, row.attempts)),
        mode=row.mode,
        tells_cause=tells_cause,
    )


def _attempt(row: AttemptRow) -> AttemptTrace:
    return AttemptTrace(
        attempt=row.attempt,
        broker=row.broker,
        queue_id=row.queue_id,
        start_ns=row.start_ns,
        end_ns=row.end_ns,
        error=row.error,
        code=row.code,
        status=row.status,
        chooser=row.chooser,
    )
