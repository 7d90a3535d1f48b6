"""What a member of a group can do that is the C++ client behind its Python interface: known before its hello, and its driver says the same."""

from collections.abc import Collection

from rocketdiff.core.consuming.plan import ListenerKind, MessageModel
from rocketdiff.core.records.consuming import LISTENER, TAGS

LISTENERS = (ListenerKind.CONCURRENT, ListenerKind.ORDERLY)

MEMBER_CLAIMS = (*map(str, LISTENERS), *map(str, MessageModel), TAGS, LISTENER + "later", LISTENER + "throw")
"""Its context has no delay level and no time to suspend for, its listener no null; it shows no allocations, owned queues or offsets."""

SETTABLE = frozenset({"consume_thread_min", "consume_thread_max", "consume_message_batch_max_size"})
"""What its interface sets; it has one number of threads."""

PACES = frozenset(
    {
        "heartbeat_broker_interval_ms",
        "persist_consumer_offset_interval_ms",
        "poll_name_server_interval_ms",
        "rebalance_wait_interval_ms",
        "rebalance_min_interval_ms",
        "lock_interval_ms",
        "pull_time_delay_when_exception_ms",
        "await_termination_ms",
    }
)
"""
How often and how soon a client does what it does anyway: ignored, as by every client that lacks a setting.

It persists every 5 s, divides queues every 10 s, sends heartbeats and asks for routes every 30 s.
"""

WHERE = "consume_from_where"
"""Always ``last``. Groups join a topic that is new, where ``first`` and ``last`` begin at 0 (a broker answers 0 for a queue with its first message)."""


def unsettable(settings: Collection[str]) -> tuple[str, ...]:
    """Return the settings that change what a member does, and that the interface cannot set; by name."""
    return tuple(sorted(set(settings) - SETTABLE - PACES - {WHERE}))
