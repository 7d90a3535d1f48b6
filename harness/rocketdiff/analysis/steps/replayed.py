"""
Every send judged against the rules of one release.

The set of hidden states that explains the trace is kept, and a send that empties it is a difference. In: an arm's sends in context, by (thread, send). Out: the same with the oracle's judgement. The oracle keeps state over
a whole thread, so a thread must come whole and in order; the reader has checked that. Threads that share a fault table,
and asynchronous sends, whose queues are chosen by threads of the client's, are judged together, which takes the whole arm
into memory; all others stream.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from rocketdiff.analysis.send_view import SendView
from rocketdiff.analysis.steps.excuses import Excuses
from rocketdiff.analysis.steps.rulebook import ArmRules
from rocketdiff.analysis.steps.torn_connections import TornConnections
from rocketdiff.core.fault import HOLD_ANSWERS_BACK
from rocketdiff.oracle.durations import GAVE_UP_EARLY, OUTLASTED, WAITED, Outlasted
from rocketdiff.oracle.judgement import RuleDifference
from rocketdiff.oracle.replay import Replay


def replayed(sends: Iterable[SendView], rules: ArmRules | None) -> Iterator[SendView]:
    """Every send with its judgement."""
    if rules is None:
        return iter(sends)
    judged = _together(sends, rules) if rules.shared or rules.asynchronous else _by_thread(sends, rules)
    return forgiven(judged, rules.torn_connections(), rules.excuses())


def forgiven(sends: Iterable[SendView], torn: TornConnections, excuses: Excuses) -> Iterator[SendView]:
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


def _is_forgiven(one: SendView, found: RuleDifference, torn: TornConnections, excuses: Excuses) -> bool:
    if found.signature not in (GAVE_UP_EARLY, WAITED, OUTLASTED):
        return False
    attempt = one.attempts[found.attempt or 0]
    if found.signature == OUTLASTED:
        return excuses.cover(Outlasted.of(found), attempt.broker, attempt.start_ns, attempt.end_ns)
    if found.signature == WAITED:
        hit = one.contexts[found.attempt or 0].hit
        return hit is None or hit.kind not in HOLD_ANSWERS_BACK or not torn.are_kept(attempt.broker)
    return torn.may_have_torn(one.thread, attempt.broker, attempt.start_ns, attempt.end_ns)


def _by_thread(sends: Iterable[SendView], rules: ArmRules) -> Iterator[SendView]:
    thread: int | None = None
    replay: Replay | None = None
    for send in sends:
        if replay is None or send.thread != thread:
            thread, replay = send.thread, rules.fresh()
        yield send if send.row is None else replace(send, judgement=replay.judge(send.row))


def _together(sends: Iterable[SendView], rules: ArmRules) -> Iterator[SendView]:
    held = list(sends)
    judged = rules.judge_together([send.row for send in held if send.row is not None])
    judgements = {(one.thread, one.send): one for one in judged}
    for send in held:
        yield replace(send, judgement=judgements.get(send.order))
