"""How much a subject may say; every figure with its reason. One that says more is no client that anybody can judge."""

from dataclasses import dataclass

from rocketdiff.core.plan import Plan
from rocketdiff.core.settings import ClientSettings

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Bounds:
    """
    Counts and bytes; a subject that exceeds one has broken the protocol (``too-much``) and is ended.

    attempts_a_send, callbacks_a_send: the C++ client makes five attempts whatever is set, an ordered send four; no known
    client makes twice as many as it is told. Four times that, and 16, is an endless loop.
    routes: a client looks its route up twice a send at most, and every 30 s; a thousand is eight hours of polls.
    route_queues: queues of all routes together. 250 lists of a thousand queues fit, and take us 40 MB.
    output_bytes: a record takes 250 bytes, with the message of an exception some 600; 1 KiB each, and what a client with
    much to tell says besides.
    stderr_bytes: a stack trace of 5 KB for each of thirteen thousand attempts.
    """

    attempts_a_send: int = 28
    callbacks_a_send: int = 28
    routes: int = 1_000
    route_queues: int = 250_000
    output_bytes: int = 32 * MIB
    stderr_bytes: int = 64 * MIB


def bounds_of(plan: Plan, settings: ClientSettings) -> Bounds:
    """What a subject may say about this plan with these settings."""
    tries = 1 + max(0, settings.retry_times_when_send_failed, settings.retry_times_when_send_async_failed)
    least, sends = Bounds(), len(plan.sends)
    most = 4 * tries + 16
    return Bounds(
        attempts_a_send=most,
        callbacks_a_send=most,
        routes=least.routes + 2 * sends,
        output_bytes=least.output_bytes + sends * (2 + tries) * 1_024,
    )
