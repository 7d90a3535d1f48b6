"""
Rules of a send by a gRPC client: number of attempts and end.

Source: ProducerImpl.send0 of rocketmq-client-java 5.2.0. A successful attempt ends the send. A failed one is followed
by another, up to ``maxAttempts`` (here the retries plus one), and the last failure is the send's. No state is hidden,
so nothing is replayed. The number of attempts is unknown if the send overlaps a time in which its proxy refused
connections, or failed with a lost connection: such attempts may leave nothing on the wire.
"""

from rocketdiff.core.records.sending import NEVER_CALLED_BACK, UNSEEN_ROUTE, Attempt, Send
from rocketdiff.core.sends.outcome import Reason
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.tables.signatures import (
    FAILURE_THOUGH_AN_ATTEMPT_SUCCEEDED,
    GAVE_UP_EARLY,
    NONE_FOR_A_MESSAGE_SAID_TO_BE_SENT,
    SUCCESS_THOUGH_EVERY_ATTEMPT_FAILED,
    TOO_MANY,
    WENT_ON_AFTER_SUCCESS,
)
from rocketdiff.oracle.producer.judgement import DifferenceKind, RuleDifference, SendJudgement

_SEEN_TO_THE_END = frozenset((Reason.TIMEOUT, Reason.BROKER))
"""
Reasons of a failed send whose last attempt, and so every earlier one, had a connection. The same holds with a response
code.
"""


def judge_calls(send: Send, settings: ClientSettings) -> SendJudgement:
    """Judge a send that returned."""
    if send.route == UNSEEN_ROUTE or send.error == NEVER_CALLED_BACK:
        return SendJudgement(
            send.send, send.thread, (), None, 0, "some of its attempts may have left nothing on the wire"
        )
    return SendJudgement(send.send, send.thread, (), _difference(send, 1 + settings.retry_times_when_send_failed), 1)


def _difference(send: Send, most: int) -> RuleDifference | None:
    succeeded = next((attempt for attempt in send.attempts if attempt.error is None), None)
    if succeeded is not None:
        return _after_success(send, succeeded)
    made = len(send.attempts)
    if send.error is None:
        signature, seen = (
            (SUCCESS_THOUGH_EVERY_ATTEMPT_FAILED.name, f"{made} attempts, all failed")
            if made
            else (NONE_FOR_A_MESSAGE_SAID_TO_BE_SENT.name, "no attempt")
        )
        kind = DifferenceKind.ERROR if made else DifferenceKind.ATTEMPTS
        return RuleDifference(kind, signature, None, "a failed send", f"success, after {seen}")
    if made > most:
        return _number(TOO_MANY.name, most, f"at most {most} attempts", made)
    if made < most and (send.reason in _SEEN_TO_THE_END or send.code is not None):
        return _number(GAVE_UP_EARLY.name, made - 1 if made else None, f"{most} attempts", made)
    return None


def _after_success(send: Send, succeeded: Attempt) -> RuleDifference | None:
    if succeeded.attempt + 1 < len(send.attempts):
        following = succeeded.attempt + 1
        seen = f"attempt {following}, though attempt {succeeded.attempt} was answered with {succeeded.status}"
        return RuleDifference(
            DifferenceKind.ATTEMPTS, WENT_ON_AFTER_SUCCESS.name, following, "no attempt after a success", seen
        )
    if send.error is not None:
        seen = f"{send.error}, though attempt {succeeded.attempt} was answered with {succeeded.status}"
        return RuleDifference(
            DifferenceKind.ERROR, FAILURE_THOUGH_AN_ATTEMPT_SUCCEEDED.name, succeeded.attempt, "success", seen
        )
    return None


def _number(signature: str, attempt: int | None, expected: str, made: int) -> RuleDifference:
    return RuleDifference(DifferenceKind.ATTEMPTS, signature, attempt, expected, f"{made}")
