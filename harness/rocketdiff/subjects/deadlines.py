"""How long a subject may take for what; every figure with its reason."""

from dataclasses import dataclass

from rocketdiff.core.settings import ClientSettings


@dataclass(frozen=True, slots=True)
class Deadlines:
    """
    Seconds; a subject that exceeds one has stalled.

    hello_s: a JVM says hello in 0.2 s, a Python program in 0.4 s; ten times slower machines exist, and first starts that
    read everything from a cold disk.
    ready_s: warm-up takes 1 to 2 s; its sends may each take 5 s on a cluster that is only just up.
    send_margin_s: what a send may take beyond what its own settings explain (garbage collection, a starved machine).
    done_s: after the last answer there is nothing left to do but to say so; the protocol flushes within 20 ms.
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

# Asynchronous requests are looked through for timeouts every second, and one is over a second late at the earliest
# (NettyRemotingAbstract.scanResponseTable, all releases); the third second is the client's first scan after its start.
_SCAN_S = 3.0

# A send without a route asks for its topic and then for the default topic.
_LOOKUPS_A_SEND = 2


def longest_send_s(settings: ClientSettings, name_servers: int) -> float:
    """
    The longest a send can take in any release with these settings, without margin.

    Releases before 4.3.0 give every attempt the whole timeout; before the first attempt a route may be looked up, at
    name servers that are all paused.
    """
    attempts = 1 + settings.retry_times_when_send_failed
    return attempts * settings.send_msg_timeout_ms / 1_000 + _LOOKUPS_A_SEND * name_servers * _NAME_SERVER_TIMEOUT_S


def longest_callback_s(settings: ClientSettings, name_servers: int) -> float:
    """The longest an asynchronous send can take to call back, in any release with these settings, without margin."""
    attempts = 1 + settings.retry_times_when_send_async_failed
    each_s = settings.send_msg_timeout_ms / 1_000 + _SCAN_S
    return attempts * each_s + _LOOKUPS_A_SEND * name_servers * _NAME_SERVER_TIMEOUT_S
