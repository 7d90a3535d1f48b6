"""
What can be known of a case, whoever its clients are: one table for the scenario format, the oracle and the checks.

The format refuses a check that can never be decisive; the oracle leaves open what cannot be known, so that no check has a
difference of it, planned or not. Two kinds of reasons: a question that cannot arise (no fault latency, no avoidance), and
something that is decided where no witness looks (``unknown``).
"""

from dataclasses import dataclass
from enum import StrEnum

from rocketdiff.core.plan import SendKind, SendMode

_ADDRESSED = (SendKind.QUEUE, SendKind.SELECTOR)
"""Calls that name their queue: no retry, no choice, no failover (sendKernelImpl is called once)."""


class Aspect(StrEnum):
    """What a client decides about a send."""

    FIRST_QUEUE = "queue of the first attempt"
    RETRY_QUEUE = "queue of a retry"
    END = "number of attempts, and the end"


@dataclass(frozen=True, slots=True)
class Sending:
    """
    What of a case decides on what can be known of it.

    is_delayed: some message has a delay level. loses_a_broker: one is paused or killed. is_chooser_unseen: first attempts
    are chosen by threads of the client's, and the witness does not tell which (a property of an arm, not of a scenario).
    """

    mode: SendMode
    call: SendKind
    fault_latency: bool
    is_delayed: bool = False
    loses_a_broker: bool = False
    is_chooser_unseen: bool = False


def unknown(aspect: Aspect, sending: Sending) -> str:
    """Why nobody can know by the rules what a client should have decided; empty where they say it."""
    if sending.mode is not SendMode.ASYNC or sending.call in _ADDRESSED or aspect is Aspect.END:
        return ""
    if aspect is Aspect.RETRY_QUEUE:
        return "mode: async; the counter of the thread that retries is moved by answers that nobody sees"
    if sending.fault_latency:
        return "mode: async with send_latency_fault_enable; callbacks write the fault table at instants nobody sees"
    if sending.is_chooser_unseen:
        return "mode: async; the witness does not tell which of the client's threads chose"
    return ""


def unanswerable(check: str, sending: Sending) -> str:
    """What of a case stands against a check ever being decisive; empty when nothing does."""
    return _not_arising(check, sending) or (unknown(_RESTS_ON[check], sending) if check in _RESTS_ON else "")


def unknowable(sending: Sending) -> dict[str, str]:
    """Checks that nobody can answer in a case, each with the reason."""
    return {check: why for check, aspect in _RESTS_ON.items() if (why := unknown(aspect, sending))}


_RESTS_ON = {"queue-choice": Aspect.FIRST_QUEUE, "attempts": Aspect.END, "error-kind": Aspect.END}
"""Checks that hold what was seen against the rules; ``avoidance`` is asked of synchronous sends only, of which all is known."""

_WAITED_FOR = ("timing", "failover-time", "avoidance")
"""Checks about how long an application is held up, or what it does next: only a call that waits shows that."""


def _not_arising(check: str, sending: Sending) -> str:
    mode, call = sending.mode, sending.call
    is_waited_for, is_addressed = mode is SendMode.SYNC, call in _ADDRESSED
    obstacles = (
        (("avoidance",), not sending.fault_latency, "send_latency_fault_enable is false"),
        (("failover-time",), not sending.loses_a_broker, "no broker that is paused or killed"),
        (("avoidance", "failover-time"), is_addressed, f"call: {call}"),
        (_WAITED_FOR, not is_waited_for, f"mode: {mode}"),
        (("order",), not (is_waited_for and is_addressed), f"mode: {mode}, call: {call}; {_WHO_KEEPS_ORDER}"),
        (("callbacks",), mode is not SendMode.ASYNC, f"mode: {mode}"),
        (("delay",), not sending.is_delayed, "no delay_level"),
    )
    return next((says for checks, stands, says in obstacles if stands and check in checks), "")


_WHO_KEEPS_ORDER = "order is kept by who waits for each answer"
"""A pool of threads hands asynchronous requests over, and several threads of a broker store what arrives."""
