"""
Every send judged against the rules of one release: the set of hidden states that explains the trace is kept, and a send
that empties it is a difference.

In: an arm's sends in context, thread by thread. Out: the same with the oracle's judgement. The oracle keeps state over
a whole thread, so a thread must come whole and in order; the reader has checked that.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from harness.analysis.steps.attempts_in_context import SendInContext
from harness.oracle.replay import Judgement, Replay
from harness.oracle.trace import AttemptTrace, SendTrace
from harness.traces.rows import AttemptRow, SendRow

ReplayOfThread = Callable[[int], Replay]


@dataclass(frozen=True, slots=True)
class JudgedSend:
    """A send in context and what the rules say to it; None: there are no rules to judge by, or it never returned."""

    context: SendInContext
    judgement: Judgement | None


def replayed(sends: Iterable[SendInContext], replay_of: ReplayOfThread | None) -> Iterator[JudgedSend]:
    """Every send with its judgement; a new replay begins with each thread."""
    thread: int | None = None
    replay: Replay | None = None
    for context in sends:
        traced = context.traced
        if replay_of is not None and traced.thread != thread:
            thread, replay = traced.thread, replay_of(traced.thread)
        if replay is None or traced.row is None:
            yield JudgedSend(context, None)
        else:
            yield JudgedSend(context, replay.judge(_trace(traced.thread, traced.row)))


def _trace(thread: int, row: SendRow) -> SendTrace:
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
    )
