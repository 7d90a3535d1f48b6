"""Sentences of the oracle for operators: legal queues with reasons, ends of calls."""

from collections.abc import Iterable, Sequence

from rocketdiff.core.records.sending import Send
from rocketdiff.oracle.interval import Interval, bounds
from rocketdiff.oracle.producer.states.hidden_state import HiddenState
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.attempt import Ending, Finish, Try

QUEUES_NAMED = 4
"""More legal queues are counted instead of listed, to keep the sentence readable."""


def queue_text(queue: Queue) -> str:
    """One queue."""
    return f"queue {queue.queue_id} of {queue.broker}"


def legal_text(legal: Sequence[Queue], total: int) -> str:
    """The legal queues of a choice."""
    if len(legal) <= QUEUES_NAMED:
        named = ", ".join(queue_text(queue) for queue in legal)
        return f"{named} ({len(legal)} of {total} queues)"
    brokers = ", ".join(sorted({queue.broker for queue in legal}))
    return f"one of {len(legal)} of {total} queues, on {brokers}"


def duration_text(lo_ms: int, hi_ms: int) -> str:
    """A duration with uncertain bounds."""
    return f"{lo_ms:,} ms" if lo_ms == hi_ms else f"{lo_ms:,}–{hi_ms:,} ms"


def ms_text(time_ms: int | Interval) -> str:
    """A duration of the rules; one below zero by rounding is shown as 0."""
    lo, hi = bounds(time_ms)
    return duration_text(max(lo, 0), max(hi, 0))


def remaining_ms(states: Iterable[HiddenState], now: tuple[int, int]) -> dict[str, tuple[int, int]]:
    """Lowest and highest remaining avoidance of every broker that some state avoids."""
    remaining: dict[str, tuple[int, int]] = {}
    for state in states:
        for item in state.faults.items.values():
            lo, hi = bounds(item.start_ms)
            left = (max(lo - now[1], 0), max(hi - now[0], 0))
            if left[1] > 0:
                before = remaining.get(item.broker, left)
                remaining[item.broker] = (min(before[0], left[0]), max(before[1], left[1]))
    return remaining


_ROUNDING_MS = 2
"""A broker just used successfully is available from that very millisecond on; in intervals a moment of avoidance seems left."""


def reasons_text(last_broker: str | None, remaining: dict[str, tuple[int, int]]) -> str:
    """Why brokers are not legal, as a subordinate clause; may be empty."""
    reasons = [
        f"{broker} is avoided for another {duration_text(*left)}"
        for broker, left in sorted(remaining.items())
        if left[1] > _ROUNDING_MS
    ]
    if last_broker is not None:
        reasons.append(f"{last_broker} failed the previous attempt")
    return "; " + " and ".join(reasons) if reasons else ""


def finish_text(finish: Finish) -> str:
    """How a call ends by the rules."""
    code = f" with code {finish.code}" if finish.code is not None else ""
    if finish.ending is Ending.RESULT:
        return f"the call returns {finish.status}"
    if finish.ending is Ending.RETHROWN:
        return f"the call throws the {finish.error} of its attempt{code}, because such an error is not retried"
    if finish.ending is Ending.GAVE_UP:
        cause = f" because of a {finish.cause}" if finish.cause else ""
        return f"the call gives up with {finish.error}{code}{cause}"
    if finish.ending is Ending.CALL_TIMEOUT:
        return f"the call throws {finish.error}, because the time for all attempts is spent"
    return f"the call throws {finish.error}{code}, because its topic has no route"


def try_text(step: Try) -> str:
    """The attempt the rules require."""
    return f"another attempt, on {queue_text(step.queue)}, with {ms_text(step.timeout_ms)} to wait"


def end_text(send: Send) -> str:
    """How a call was observed to end."""
    attempts = f"{len(send.attempts)} attempt{'' if len(send.attempts) == 1 else 's'}"
    if send.error is None:
        return f"the call returned {send.status or 'a result'} after {attempts}"
    code = f" with code {send.code}" if send.code is not None else ""
    why = f": {' '.join(send.message.split())}" if send.message and not send.attempts else ""
    return f"the call threw {send.error}{code} after {attempts}{why}"
