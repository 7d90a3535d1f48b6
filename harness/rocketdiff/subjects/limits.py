"""How long a subject may take, and how much it may write: deadlines and bounds, each figure with its reason."""

from dataclasses import dataclass

from rocketdiff.core.sends.plan import Plan
from rocketdiff.core.tables.settings import ClientSettings

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Deadlines:
    """
    Seconds; a subject that exceeds one has stalled.

    hello_s: a JVM sends hello in 0.2 s, a Python program in 0.4 s; there are machines ten times slower, and first starts from a
    cold disk.
    ready_s: warm-up takes 1 to 2 s; its sends may each take 5 s on a cluster that is only just up.
    send_margin_s: what a send may take beyond what its own settings explain (garbage collection, a starved machine).
    done_s: after the last answer only done is missing; records are flushed within 20 ms.
    read_s: a subject reads its commands at all times; the pipe holds 64 KiB beyond that.
    exit_s: the Java driver halts 0.7 s after stop at the latest.
    """

    hello_s: float = 30.0
    ready_s: float = 60.0
    send_margin_s: float = 5.0
    done_s: float = 5.0
    read_s: float = 30.0
    exit_s: float = 2.0


# Java's fixed limit for a request to a name server (MQClientAPIImpl, all releases).
_NAME_SERVER_TIMEOUT_S = 3.0

# Asynchronous requests are checked for timeouts every second, and one counts as timed out a second late at the earliest
# (NettyRemotingAbstract.scanResponseTable, all releases); the third second is the client's first scan after its start.
_SCAN_S = 3.0

# A send without a route asks for its topic and then for the default topic.
_LOOKUPS_A_SEND = 2


def longest_send_s(settings: ClientSettings, name_servers: int, attempt_timeout_ms: int | None = None) -> float:
    """
    The longest time of a send in any release with these settings, without margin.

    Releases before 4.3.0 give every attempt the whole timeout; before the first attempt a route may be looked up, at
    name servers that are all paused. attempt_timeout_ms: what the client says that an attempt may last.
    """
    attempts = 1 + settings.retry_times_when_send_failed
    each_s = max(settings.send_msg_timeout_ms, attempt_timeout_ms or 0) / 1_000
    return attempts * each_s + _LOOKUPS_A_SEND * name_servers * _NAME_SERVER_TIMEOUT_S


def longest_callback_s(settings: ClientSettings, name_servers: int, attempt_timeout_ms: int | None = None) -> float:
    """The same until the callback of an asynchronous send."""
    attempts = 1 + settings.retry_times_when_send_async_failed
    each_s = max(settings.send_msg_timeout_ms, attempt_timeout_ms or 0) / 1_000 + _SCAN_S
    return attempts * each_s + _LOOKUPS_A_SEND * name_servers * _NAME_SERVER_TIMEOUT_S


@dataclass(frozen=True, slots=True)
class Bounds:
    """
    Counts and bytes; a subject that exceeds one has broken the protocol (``too-much``) and is ended.

    attempts_a_send, callbacks_a_send: the C++ client always makes five attempts, an ordered send four; no known client
    makes twice as many as its settings say. Four times that plus 16 is an endless loop.
    routes: a client looks up its route at most twice per send, and every 30 s; a thousand is eight hours of polls.
    route_queues: queues of all routes together. 250 lists of a thousand queues fit, and take 40 MB here.
    output_bytes: a record takes 250 bytes, with the message of an exception some 600; so 1 KiB each, plus a reserve.
    stderr_bytes: a stack trace of 5 KB for each of thirteen thousand attempts.
    """

    attempts_a_send: int = 28
    callbacks_a_send: int = 28
    routes: int = 1_000
    route_queues: int = 250_000
    output_bytes: int = 32 * MIB
    stderr_bytes: int = 64 * MIB


def bounds_of(plan: Plan, settings: ClientSettings) -> Bounds:
    """The bounds for a plan and settings."""
    tries = 1 + max(0, settings.retry_times_when_send_failed, settings.retry_times_when_send_async_failed)
    least, sends = Bounds(), len(plan.sends)
    most = 4 * tries + 16
    return Bounds(
        attempts_a_send=most,
        callbacks_a_send=most,
        routes=least.routes + 2 * sends,
        output_bytes=least.output_bytes + sends * (2 + tries) * 1_024,
    )
