"""
Judge every send by the rules of one release.

The oracle keeps the set of hidden states that explain a thread, so a thread must be complete and in order (checked by
the reader). Sends of threads that share a fault table, and asynchronous sends, whose queues the client's own threads
choose, are judged together, with the whole arm in memory. All others stream.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import cast

from rocketdiff.analysis.sending.send_view import SendView
from rocketdiff.analysis.sending.steps.excuses import Excuses
from rocketdiff.analysis.sending.steps.rulebook import ArmRules
from rocketdiff.analysis.sending.steps.torn_connections import TornConnections
from rocketdiff.core.tables.fault import HOLD_ANSWERS_BACK
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.tables.signatures import GAVE_UP_BEFORE_TIMEOUT, OUTLASTED_TIMEOUT, WAITED_FOR_AN_ANSWER
from rocketdiff.oracle.producer.durations import Outlasted
from rocketdiff.oracle.producer.grpc_attempts import judge_calls
from rocketdiff.oracle.producer.judgement import RuleDifference
from rocketdiff.oracle.producer.replay import Replay


def replayed(sends: Iterable[SendView], rules: ArmRules | None) -> Iterator[SendView]:
    """Add the oracle's judgement to every send; without rules, return the sends unchanged."""
    if rules is None:
        return iter(sends)
    judged = _together(sends, rules) if rules.shared or rules.asynchronous else _by_thread(sends, rules)
    return forgiven(judged, rules.torn_connections(), rules.excuses())


def called(sends: Iterable[SendView], settings: ClientSettings) -> Iterator[SendView]:
    """Add a judgement to every send of a gRPC client."""
    for send in sends:
        if send.row is not None:
            send.judgement = judge_calls(send.row, settings)
        yield send


def forgiven(sends: Iterable[SendView], torn: TornConnections, excuses: Excuses) -> Iterator[SendView]:
    """
    Drop differences that the circumstances excuse; the send's next unexcused difference, if any, takes the place.

    Excused are: a timeout that came too early, if the connection may have been closed; a slow one-way call, if its
    broker was healthy, the machine slow, or the client may have had to connect; an attempt that outlasted its timeout, if the other arm
    was late too or the client was connecting.
    """
    for send in sends:
        judgement = send.judgement
        if (
            judgement is not None
            and judgement.difference is not None
            and _is_forgiven(send, judgement.difference, torn, excuses)
        ):
            left = (other for other in judgement.further if not _is_forgiven(send, other, torn, excuses))
            send.judgement = replace(judgement, difference=next(left, None))
        yield send


def _is_forgiven(send: SendView, found: RuleDifference, torn: TornConnections, excuses: Excuses) -> bool:
    if found.signature not in (GAVE_UP_BEFORE_TIMEOUT.name, WAITED_FOR_AN_ANSWER.name, OUTLASTED_TIMEOUT.name):
        return False
    attempt = send.attempts[found.attempt or 0]
    if found.signature == OUTLASTED_TIMEOUT.name:
        return excuses.cover(Outlasted.of(found), attempt.broker, attempt.start_ns, attempt.end_ns)
    if found.signature == WAITED_FOR_AN_ANSWER.name:
        hit = send.contexts[found.attempt or 0].hit
        is_held_back = hit is not None and hit.kind in HOLD_ANSWERS_BACK and torn.are_kept(attempt.broker)
        return not is_held_back or cast("int", found.detail["waited_ms"]) <= excuses.machine_ms(0)
    return torn.may_have_torn(send.thread, attempt.broker, attempt.start_ns, attempt.end_ns)


def _by_thread(sends: Iterable[SendView], rules: ArmRules) -> Iterator[SendView]:
    thread: int | None = None
    replay: Replay | None = None
    for send in sends:
        if replay is None or send.thread != thread:
            thread, replay = send.thread, rules.fresh()
        if send.row is not None:
            send.judgement = replay.judge(send.row)
        yield send


def _together(sends: Iterable[SendView], rules: ArmRules) -> Iterator[SendView]:
    held = list(sends)
    judged = rules.judge_together([send.row for send in held if send.row is not None])
    judgements = {(judgement.thread, judgement.send): judgement for judgement in judged}
    for send in held:
        send.judgement = judgements.get(send.order)
        yield send
