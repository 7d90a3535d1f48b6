"""
Judges the broker of every retry of an asynchronous send, without counters.

In every release (``AsyncSend`` passes the failed broker's name to the selection) a retry goes to another broker, if the
list has one; if the application named the queue or gave a selector, it stays at its queue. With fault latency on the
hidden fault table decides, and nothing is judged here.
"""

from collections.abc import Iterator
from itertools import pairwise

from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.sends.plan import SendKind
from rocketdiff.core.tables.signatures import LEFT_ITS_QUEUE, RETURNED_TO_FAILED_BROKER
from rocketdiff.oracle.producer.asynchronous.ends import Troubled
from rocketdiff.oracle.producer.judgement import DifferenceKind, RuleDifference
from rocketdiff.oracle.producer.replay import Replay

RETURNED = RETURNED_TO_FAILED_BROKER.text("retry")
LEFT = LEFT_ITS_QUEUE.text("retry")


def retry_broker_difference(replay: Replay, send: Send, troubled: Troubled) -> RuleDifference | None:
    """Return the first retry at a broker that the rules cannot have chosen."""
    if replay.settings.send_latency_fault_enable:
        return None
    find = _returned if send.kind is SendKind.PLAIN else _left
    return next(find(replay, send, troubled), None)


def _returned(replay: Replay, send: Send, troubled: Troubled) -> Iterator[RuleDifference]:
    """
    Retries at the broker that had just failed.

    Legal if the list has no other broker, or if an invisible retry at an unreachable other broker may have come in
    between.
    """
    lists = [{broker for broker, _ in replay.routes.get(route, ())} for route in (send.route, send.route_after)]
    others = set.intersection(*lists)
    for failed, retry in _retries(send):
        elsewhere = others - {failed.broker}
        may_be_unseen = any(troubled(broker, failed.start_ns, retry.start_ns) for broker in elsewhere)
        if retry.broker == failed.broker and elsewhere and not may_be_unseen:
            expected = (
                f"attempt {retry.attempt} at another broker than {failed.broker}, where attempt {failed.attempt} failed"
            )
            yield _difference(RETURNED, retry, expected)


def _left(_replay: Replay, send: Send, _troubled: Troubled) -> Iterator[RuleDifference]:
    """Retries at another queue than the one the application named."""
    for failed, retry in _retries(send):
        if (retry.broker, retry.queue_id) != (failed.broker, failed.queue_id):
            expected = (
                f"attempt {retry.attempt} at {failed.broker} queue {failed.queue_id}, as the application named it"
            )
            yield _difference(LEFT, retry, expected)


def _retries(send: Send) -> Iterator[tuple[Attempt, Attempt]]:
    """Pairs of a failed attempt and its retry; an attempt after the callback is no retry."""
    made = [attempt for attempt in send.attempts if attempt.attempt == 0 or attempt.start_ns < send.end_ns]
    return pairwise(made)


def _difference(signature: str, retry: Attempt, expected: str) -> RuleDifference:
    seen = f"attempt {retry.attempt} went to {retry.broker} queue {retry.queue_id}"
    return RuleDifference(DifferenceKind.QUEUE, signature, retry.attempt, expected, seen, {"broker": retry.broker})
