"""How long a send may take and how much may be reported of it, each limit with its reason."""

from dataclasses import dataclass

from rocketdiff.core.sends.plan import Plan
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.subjects.limits import OutputBounds

# Java's fixed limit for a request to a name server (MQClientAPIImpl, all releases).
_NAME_SERVER_TIMEOUT_S = 3.0

# Java scans asynchronous requests for timeouts every second and times them out a second late at the earliest
# (NettyRemotingAbstract.scanResponseTable, all releases). The third second is the delay of the first scan after the start.
_SCAN_S = 3.0

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
    each_s = max(settings.send_msg_timeout_ms, attempt_timeout_ms or 0) / 1_000 + _SCAN_S
    return attempts * each_s + _LOOKUPS_A_SEND * name_servers * _NAME_SERVER_TIMEOUT_S


@dataclass(frozen=True, slots=True)
class SendBounds:
    """
    Counts; a subject that exceeds one breaks the protocol (``too-much``) and is ended.

    attempts_a_send, callbacks_a_send: the C++ client always makes five attempts, four of an ordered send; no known client
    makes twice as many as configured. Four times that plus 16 is an endless loop.
    routes: at most two lookups per send and one every 30 s; 1,000 polls are eight hours.
    route_queues: in all routes together; 250 lists of 1,000 queues take 40 MB here.
    """

    attempts_a_send: int = 28
    callbacks_a_send: int = 28
    routes: int = 1_000
    route_queues: int = 250_000


def send_bounds_of(plan: Plan, settings: ClientSettings) -> SendBounds:
    """Return the bounds for a plan and settings."""
    most, least = 4 * _tries(settings) + 16, SendBounds()
    return SendBounds(attempts_a_send=most, callbacks_a_send=most, routes=least.routes + 2 * len(plan.sends))


def output_bounds_of(plan: Plan, settings: ClientSettings) -> OutputBounds:
    """Return the bounds in bytes: a record takes 250, some 600 with the message of an exception; so 1 KiB each."""
    records = len(plan.sends) * (2 + _tries(settings))
    return OutputBounds(output_bytes=OutputBounds().output_bytes + records * 1_024)


def _tries(settings: ClientSettings) -> int:
    return 1 + max(0, settings.retry_times_when_send_failed, settings.retry_times_when_send_async_failed)
