"""How long a member may take to join, work and leave, and how much it may report, each limit with its reason."""

from dataclasses import dataclass

from rocketdiff.core.consuming.plan import GroupPlan
from rocketdiff.subjects.limits import OutputBounds

DEFAULT_RETRIES = 16
"""Retries of a concurrent listener without ``max_reconsume_times``."""

_RECORD_BYTES = 2_048
"""A call with one message and all its properties takes a KiB."""


def most_retries(plan: GroupPlan) -> int:
    """Return how often a failed message may come back; -1 in the settings is the client's default."""
    most = plan.settings.get("max_reconsume_times", DEFAULT_RETRIES)
    return most if isinstance(most, int) and most >= 0 else DEFAULT_RETRIES


@dataclass(frozen=True, slots=True)
class MemberLimits:
    """
    Times in seconds.

    join_s: three name-server timeouts for each topic, and a slow machine. call_s: a listener does nothing but wait for its work; at a load
    of 25 on two cores one took 5.6 s more.
    leave_s: a paused broker costs 3 s to unregister and 1 s to unlock; further time for each broker. calls: every message of
    the feed four times as often as its retries allow is an endless loop. other_records, others_a_second: a client persists each
    queue every 5 s and looks for new queues every second; an offset is updated once a call.
    """

    join_s: float = 60.0
    call_s: float = 20.0
    leave_s: float = 5.0
    done_s: float = 5.0
    calls: int = 1_000
    other_records: int = 3_000
    others_a_second: int = 50
    others_a_call: int = 4

    @classmethod
    def of(cls, plan: GroupPlan, messages: int, brokers: int) -> "MemberLimits":
        """Return the limits of a member of this group."""
        retries = most_retries(plan)
        work_s = plan.longest_work_ms / 1_000
        wait_ms = plan.settings.get("await_termination_ms", 0)
        least = cls()
        return cls(
            call_s=least.call_s + work_s * int(plan.settings.get("consume_message_batch_max_size", 1)),
            leave_s=least.leave_s + 4 * brokers + int(wait_ms) / 1_000,
            calls=least.calls + 4 * messages * (1 + retries * bool(plan.rules)),
        )

    @property
    def bounds(self) -> OutputBounds:
        """Bytes of all records."""
        records = self.calls * (2 + self.others_a_call)
        return OutputBounds(output_bytes=OutputBounds().output_bytes + records * _RECORD_BYTES)
