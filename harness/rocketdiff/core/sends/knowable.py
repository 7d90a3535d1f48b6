"""
What can be known about a case, for the scenario format, the oracle and the checks.

The format refuses checks whose question these tables exclude; the oracle leaves undecided what cannot be known, so that no
check reports a difference there. Either the question cannot arise (no fault latency, no avoidance), or no witness
sees the decision (``unknown``).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.checks import CHECKS, OF_QUEUES, Aspect, Need

PROXY_CHOOSES = "behind a proxy it is the proxy that chooses the queue, regardless of what the client asks for"
"""SendMessageActivity.SendMessageQueueSelector of the proxy (5.3.3): round robin, or by a hash of the message group."""

NOTHING_GOT_THROUGH = "nothing got through"
"""Beginning of the reason of a case in which no message was stored."""


@dataclass(frozen=True, slots=True)
class Sending:
    """
    The properties of a case that determine what can be known.

    is_delayed: some message has a delay level.
    loses_a_broker: a broker or proxy is paused or killed.
    is_chooser_unseen: client threads make the first choice, and the witness does not report which (a property of the
        arm).
    is_proxied: the client speaks gRPC to a proxy.
    """

    mode: SendMode
    call: SendKind
    fault_latency: bool
    is_delayed: bool = False
    loses_a_broker: bool = False
    is_chooser_unseen: bool = False
    is_proxied: bool = False


def nothing_got_through(who: str, sends: int, end: str) -> str:
    """Return why a case without any stored message shows nothing. who: who refused, with the verb."""
    return f"{NOTHING_GOT_THROUGH}: {who} all {sends} messages ({end})"


def unknown(aspect: Aspect, sending: Sending) -> str:
    """Return why the rules cannot determine a client's decision, or an empty text."""
    if sending.is_proxied:
        return "" if aspect is Aspect.END else PROXY_CHOOSES
    if sending.mode is not SendMode.ASYNC or sending.call.names_queue or aspect is Aspect.END:
        return ""
    if aspect is Aspect.RETRY_QUEUE:
        return "mode: async; the counter of the thread that retries is moved by unobserved responses"
    if sending.fault_latency:
        return "mode: async with send_latency_fault_enable; callbacks write the fault table at unobserved times"
    if sending.is_chooser_unseen:
        return "mode: async; which of the client's threads chose is not observed"
    return ""


def unanswerable(check: str, sending: Sending) -> str:
    """Return why a check can never be decisive in a case, or an empty text."""
    asked = CHECKS[check]
    missing = next((_MISSING[need](sending) for need in asked.needs if not _IS_MET[need](sending)), "")
    return missing or (unknown(asked.rests_on, sending) if asked.rests_on else "")


def unknowable(sending: Sending) -> dict[str, str]:
    """Return the checks that cannot be answered, with reasons."""
    reasons = {name: unknown(check.rests_on, sending) for name, check in CHECKS.items() if check.rests_on}
    of_queues = dict.fromkeys(OF_QUEUES, PROXY_CHOOSES) if sending.is_proxied else {}
    return {name: why for name, why in (reasons | of_queues).items() if why}


def _waits(sending: Sending) -> bool:
    """Only a synchronous call shows how long the application is held up and what it does next."""
    return sending.mode is SendMode.SYNC


_IS_MET: Mapping[Need, Callable[[Sending], bool]] = {
    Need.FAULT_LATENCY: lambda sending: sending.fault_latency,
    Need.LOST_BROKER: lambda sending: sending.loses_a_broker,
    Need.OWN_QUEUE: lambda sending: not sending.is_proxied,
    Need.CHOSEN_QUEUE: lambda sending: not sending.call.names_queue,
    Need.SYNCHRONOUS: _waits,
    Need.KEPT_ORDER: lambda sending: _waits(sending) and sending.call.has_argument,
    Need.CALLBACK: lambda sending: sending.mode is SendMode.ASYNC,
    Need.DELAYED_MESSAGE: lambda sending: sending.is_delayed,
}

_WHO_KEEPS_ORDER = "order is only kept by a sender that waits for each answer"
"""Asynchronous requests pass through a thread pool, and several broker threads store them."""

_MISSING: Mapping[Need, Callable[[Sending], str]] = {
    Need.FAULT_LATENCY: lambda _: "send_latency_fault_enable is false",
    Need.LOST_BROKER: lambda _: "no broker that is paused or killed",
    Need.OWN_QUEUE: lambda _: PROXY_CHOOSES,
    Need.CHOSEN_QUEUE: lambda sending: f"call: {sending.call}",
    Need.SYNCHRONOUS: lambda sending: f"mode: {sending.mode}",
    Need.KEPT_ORDER: lambda sending: f"mode: {sending.mode}, call: {sending.call}; {_WHO_KEEPS_ORDER}",
    Need.CALLBACK: lambda sending: f"mode: {sending.mode}",
    Need.DELAYED_MESSAGE: lambda _: "no delay_level",
}
