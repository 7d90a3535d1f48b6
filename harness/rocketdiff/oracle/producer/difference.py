"""Describes a difference: a signature, two sentences, and machine-readable facts."""

from collections.abc import Sequence

from rocketdiff.core.records.sending import Send
from rocketdiff.core.sends.outcome import ErrorWord, is_error_word, word_of
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.signatures import (
    MUTATED_LIST,
    OTHER_CAUSE,
    OTHER_CLASS,
    OTHER_CODE,
    OTHER_STATUS,
    OUT_OF_TURN,
    RESULT_INCOMPLETE,
    RESULT_NAMES_OTHER_QUEUE,
    RETURNED_TO_FAILED_BROKER,
    STAYED_AWAY_FROM_AVAILABLE_BROKER,
    STOPPED_EARLY,
    USED_AVOIDED_BROKER,
    WENT_ON,
)
from rocketdiff.oracle.interval import wall_ms
from rocketdiff.oracle.producer.judgement import DifferenceKind, RuleDifference
from rocketdiff.oracle.producer.sentences import (
    end_text,
    finish_text,
    legal_text,
    queue_text,
    reasons_text,
    remaining_ms,
    try_text,
)
from rocketdiff.oracle.producer.states.decision_point import DecisionPoint
from rocketdiff.oracle.producer.states.hidden_state import HiddenState
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.attempt import Ending, Finish, Step, Try

Outcomes = Sequence[tuple[HiddenState, Step]]


def agrees(step: Step, point: DecisionPoint, *, causes_reported: bool = True) -> bool:
    """True if a step of the rules is the observed one; causes_told: the client can report causes of exceptions."""
    seen = point.followed_by
    if isinstance(step, Try):
        return seen is not None and step.queue == (seen.broker, seen.queue_id)
    return seen is None and ends_alike(step, point.send) and (not causes_reported or causes_alike(step, point.send))


def explained_difference(
    outcomes: Outcomes, point: DecisionPoint, pristine: Sequence[tuple[str, int]]
) -> RuleDifference:
    """Return the difference at a decision point where no outcome agrees; pristine: the publish list as the route gives it."""
    tries = [(state, step) for state, step in outcomes if isinstance(step, Try)]
    finishes = [step for _, step in outcomes if isinstance(step, Finish)]
    if point.followed_by is None:
        return (
            _wrong_end(_nearest(finishes, point.send), point.send) if finishes else _stopped_early(tries[0][1], point)
        )
    return _wrong_queue(tries, point, pristine) if tries else _went_on(finishes[0], point)


def result_difference(send: Send) -> RuleDifference | None:
    """A returned result that names another queue than its attempt's."""
    answered = [attempt for attempt in send.attempts if attempt.error is None]
    if send.error is not None or send.broker is None or not answered:
        return None
    last = answered[-1]
    if (send.broker, send.queue_id) == (last.broker, last.queue_id):
        return None
    return RuleDifference(
        DifferenceKind.QUEUE,
        RESULT_NAMES_OTHER_QUEUE.text("first" if len(send.attempts) == 1 else "retry"),
        last.attempt,
        f"a result from {queue_text(Queue(last.broker, last.queue_id))}, where the last answered attempt went",
        f"a result that names queue {send.queue_id} of {send.broker}",
        {"attempted": [last.broker, last.queue_id], "returned": [send.broker, send.queue_id]},
    )


def incomplete_difference(send: Send) -> RuleDifference | None:
    """A result without a status, from a client whose attempts are recorded."""
    if send.error is not None or send.status is not None or send.mode is not SendMode.SYNC:
        return None
    return RuleDifference(
        DifferenceKind.ERROR,
        RESULT_INCOMPLETE.name,
        None,
        "a result with a status",
        "the call returned a result without a status",
        {"broker": send.broker, "queue": send.queue_id},
    )


def route_difference(send: Send, legal: Sequence[Finish]) -> RuleDifference | None:
    """A call without queues that did not end with a missing route."""
    if any(ends_alike(finish, send) for finish in legal):
        return None
    return _wrong_end(legal[0], send)


def _wrong_queue(
    tries: Sequence[tuple[HiddenState, Try]], point: DecisionPoint, pristine: Sequence[tuple[str, int]]
) -> RuleDifference:
    seen = point.followed_by
    assert seen is not None
    observed = Queue(seen.broker, seen.queue_id)
    legal = sorted({step.queue for _, step in tries})
    last_broker = point.send.attempts[point.number - 1].broker if point.number else None
    states = [state for state, _ in tries]
    now = wall_ms(point.from_ns, point.to_ns)
    kind, name = _why_not(observed, legal, last_broker, tries, now, pristine)
    remaining = remaining_ms(states, now)
    return RuleDifference(
        kind,
        f"{name}/{_place(point.number)}",
        point.number,
        legal_text(legal, len(pristine)) + reasons_text(last_broker, remaining),
        f"attempt {point.number + 1} went to {queue_text(observed)}",
        {
            "legal": [list(queue) for queue in legal],
            "observed": list(observed),
            "remaining_ms": {broker: list(left) for broker, left in remaining.items()},
            "states": len(states),
        },
    )


def _why_not(
    observed: Queue,
    legal: Sequence[Queue],
    last_broker: str | None,
    tries: Sequence[tuple[HiddenState, Try]],
    now: tuple[int, int],
    pristine: Sequence[tuple[str, int]],
) -> tuple[DifferenceKind, str]:
    brokers = {queue.broker for queue in legal}
    elsewhere = observed.broker not in brokers
    if elsewhere and all(state.avoids(observed.broker, now[1]) for state, _ in tries):
        return DifferenceKind.AVOIDANCE, USED_AVOIDED_BROKER.name
    if elsewhere and observed.broker == last_broker:
        return DifferenceKind.QUEUE, RETURNED_TO_FAILED_BROKER.name
    if any(_is_rewritten(state, step, observed, pristine, elsewhere=elsewhere) for state, step in tries):
        return DifferenceKind.QUEUE, MUTATED_LIST.name
    if any(_is_next_past(brokers, state, step, observed) for state, step in tries):
        return DifferenceKind.AVOIDANCE, STAYED_AWAY_FROM_AVAILABLE_BROKER.name
    return DifferenceKind.QUEUE, OUT_OF_TURN.name


def _is_rewritten(
    state: HiddenState, step: Try, observed: Queue, pristine: Sequence[tuple[str, int]], *, elsewhere: bool
) -> bool:
    """
    True if a rewritten list accounts for the difference.

    On another broker: the chosen element was originally the observed queue. On the same broker: any element was
    rewritten.
    """
    for info in state.infos.values():
        if len(info.queues) != len(pristine) or info.queues == [*pristine]:
            continue
        if not elsewhere:
            return True
        pairs = zip(info.queues, pristine, strict=True)
        if any(now == step.queue and before == observed for now, before in pairs):
            return True
    return False


def _is_next_past(brokers: set[str], state: HiddenState, step: Try, observed: Queue) -> bool:
    """True if the observed queue is the next one in rotation when the legal brokers are skipped."""
    if not any(state.has_cause_to_avoid(broker) for broker in brokers):
        return False
    for info in state.infos.values():
        if step.queue not in info.queues:
            continue
        start = info.queues.index(step.queue)
        for queue in info.queues[start:] + info.queues[:start]:
            if queue.broker not in brokers:
                return queue == observed
    return False


def _went_on(finish: Finish, point: DecisionPoint) -> RuleDifference:
    seen = point.followed_by
    assert seen is not None
    return RuleDifference(
        DifferenceKind.ATTEMPTS,
        WENT_ON.text(_place(point.number)),
        point.number,
        f"no attempt {point.number + 1}: {finish_text(finish)}",
        f"attempt {point.number + 1} went to {queue_text(Queue(seen.broker, seen.queue_id))}",
        {"expected": finish.ending.value, "observed": [seen.broker, seen.queue_id]},
    )


def _stopped_early(step: Try, point: DecisionPoint) -> RuleDifference:
    return RuleDifference(
        DifferenceKind.ATTEMPTS,
        STOPPED_EARLY.text(_place(point.number)),
        point.number,
        try_text(step),
        end_text(point.send),
        {"expected": list(step.queue), "attempts": len(point.send.attempts), "error": point.send.error},
    )


def _nearest(finishes: Sequence[Finish], send: Send) -> Finish:
    return max(finishes, key=lambda finish: (error_alike(finish, send.error), _code(finish.code) == _code(send.code)))


def expected_error(finish: Finish, reported: str | None) -> str | None:
    """The error of the rules, as an error word if the client reports words."""
    is_word = finish.error is not None and is_error_word(reported)
    return word_of(finish.error or "", finish.code, finish.cause) if is_word else finish.error


def error_alike(finish: Finish, reported: str | None) -> bool:
    """True if the error, or its absence, is that of the rules."""
    return expected_error(finish, reported) == reported


def _wrong_end(finish: Finish, send: Send) -> RuleDifference:
    expected, seen = expected_error(finish, send.error) or "none", send.error or "none"
    observed = end_text(send)
    if expected != seen:
        signature = OTHER_CLASS.text(f"expected={expected}/seen={seen}")
    elif finish.error is not None and _code(finish.code) != _code(send.code):
        signature = OTHER_CODE.text(f"expected={_code(finish.code)}/seen={_code(send.code)}")
    elif finish.error is not None:  # not reached for error words: they have no causes
        signature = OTHER_CAUSE.text(f"expected={finish.cause or 'none'}/seen={send.cause or 'none'}")
        observed += f", because of a {send.cause}" if send.cause else ", without a cause"
    else:
        signature = OTHER_STATUS.text(f"expected={finish.status}/seen={send.status}")
    return RuleDifference(
        DifferenceKind.ERROR,
        f"{signature}/{_place(len(send.attempts) - 1)}",
        None,
        finish_text(finish),
        observed,
        {
            "expected": [finish.error, finish.code, finish.status, finish.cause],
            "observed": [send.error, send.code, send.status, send.cause],
        },
    )


CAUSE_IS_RULED = frozenset({Ending.GAVE_UP, Ending.CALL_TIMEOUT})
"""
Ends whose exception the client itself constructs, with a cause by rule: the last attempt's exception, or none. A
rethrown exception has whatever cause the network library gave it.
"""


def causes_alike(finish: Finish, send: Send) -> bool:
    """True if a failed call's cause is that of the rules; an error word stands for exception and cause."""
    return is_error_word(send.error) or finish.ending not in CAUSE_IS_RULED or finish.cause == send.cause


def ends_alike(finish: Finish, send: Send) -> bool:
    """
    True if a call ended as the rules end it.

    A status missing on one side is no difference, but a one-way call must have none. With an error word only a broker's
    code is compared: the word implies the client's own codes.
    """
    if send.mode is SendMode.ONEWAY and send.status is not None:
        return False
    if finish.error is None:
        return send.error is None and (None in (finish.status, send.status) or finish.status == send.status)
    has_code = not is_error_word(send.error) or send.error == ErrorWord.BROKER_CODE
    return error_alike(finish, send.error) and (not has_code or _code(finish.code) == _code(send.code))


def _code(code: int | None) -> int | None:
    """Java has −1 for a missing response code; subjects may report either."""
    return None if code == -1 else code


def _place(attempt: int) -> str:
    return "first" if attempt <= 0 else "retry"
