"""Deadlines and output bounds of a subject, each with its reason."""

from dataclasses import dataclass

from rocketdiff.core.sends.plan import Plan
from rocketdiff.core.tables.settings import REQUEST_SCAN_S, ClientSettings

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Deadlines:
    """
    In seconds; a subject that exceeds one has stalled.

    hello_s: a JVM needs 0.2 s, a Python program 0.4 s; machines may be ten times slower, and first starts read a cold disk.
    ready_s: warm-up takes 1 to 2 s; its sends may each take 5 s on a cluster that has just started.
    send_margin_s: time beyond what the settings explain (garbage collection, an overloaded machine).
    done_s: only done is missing after the last answer; records are flushed within 20 ms.
    read_s: a subject reads its commands all the time; the pipe buffers another 64 KiB.
    exit_s: the Java driver halts at most 0.7 s after stop.
    """

    hello_s: float = 30.0
    ready_s: float = 60.0
    send_margin_s: float = 5.0
    done_s: float = 5.0
    read_s: float = 30.0
    exit_s: float = 2.0


# Java's fixed limit for a request to a name server (MQClientAPIImpl, all releases).
_NAME_SERVER_TIMEOUT_S = 3.0

# A send without a route looks up its topic, then the default topic.
_LOOKUPS_A_SEND = 2


def longest_send_s(settings: ClientSettings, name_servers: int, attempt_timeout_ms: int | None = None) -> float:
    """
    Return the longest time of a send, in any release, with these settings and without margin.

    Releases before 4.3.0 give every attempt the whole timeout. The first attempt may need a route lookup while all name
    servers are paused. attempt_timeout_ms: the client's own, longer timeout of an attempt.
    """
    attempts = 1 + settings.retry_times_when_send_failed
    each_s = max(settings.send_msg_timeout_ms, attempt_timeout_ms or 0) / 1_000
    return attempts * each_s + _LOOKUPS_A_SEND * name_servers * _NAME_SERVER_TIMEOUT_S


def longest_callback_s(settings: ClientSettings, name_servers: int, attempt_timeout_ms: int | None = None) -> float:
    """Return the longest time until the callback of an asynchronous send."""
    attempts = 1 + settings.retry_times_when_send_async_failed
    each_s = max(settings.send_msg_timeout_ms, attempt_timeout_ms or 0) / 1_000 + REQUEST_SCAN_S
    return attempts * each_s + _LOOKUPS_A_SEND * name_servers * _NAME_SERVER_TIMEOUT_S


@dataclass(frozen=True, slots=True)
class Bounds:
    """
    Counts and bytes; a subject that exceeds one breaks the protocol (``too-much``) and is ended.

    attempts_a_send, callbacks_a_send: the C++ client always makes five attempts, four of an ordered send; no known client
    makes twice as many as configured. Four times that plus 16 is an endless loop.
    routes: at most two lookups per send and one every 30 s; 1,000 polls are eight hours.
    route_queues: in all routes together; 250 lists of 1,000 queues take 40 MB here.
    output_bytes: a record takes 250 bytes, some 600 with the message of an exception; so 1 KiB each, plus a reserve.
    stderr_bytes: a stack trace of 5 KB for each of 13,000 attempts.
    """

    attempts_a_send: int = 28
    callbacks_a_send: int = 28
    routes: int = 1_000
    route_queues: int = 250_000
    output_bytes: int = 32 * MIB
    stderr_bytes: int = 64 * MIB


def bounds_of(plan: Plan, settings: ClientSettings) -> Bounds:
    """Return the bounds for a plan and settings."""
    tries = 1 + max(0, settings.retry_times_when_send_failed, settings.retry_times_when_send_async_failed)
    least, sends = Bounds(), len(plan.sends)
    most = 4 * tries + 16
    return Bounds(
        attempts_a_send=most,
        callbacks_a_send=most,
        routes=least.routes + 2 * sends,
        output_bytes=least.output_bytes + sends * (2 + tries) * 1_024,
    )
