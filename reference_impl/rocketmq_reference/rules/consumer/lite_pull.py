"""When a lite pull consumer pulls and commits (DefaultLitePullConsumerImpl, from 4.6.1)."""

from typing import Any

from rocketmq_reference.rules.consumer import pull_loop
from rocketmq_reference.rules.consumer.process_queue import ProcessQueue
from rocketmq_reference.rules.consumer.settings import ConsumeSettings
from rocketmq_reference.rules.java import INT_MAX

BROKER_SUSPEND_MS = 20_000
"""How long a broker holds a pull without messages (brokerSuspendMaxTimeMillis)."""

CLIENT_TIMEOUT_MS = 30_000
"""A pull waits for its answer so long, in one of the pull threads (consumerTimeoutMillisWhenSuspend)."""

FLOW_CONTROL_MS = 50
PAUSED_MS = 1_000
"""From a look at a paused queue to the next."""

MOST_BYTES = INT_MAX
"""A pull limits messages, not bytes; requests have the field from 5.0.0 on."""


def is_held_back(batches: int, queue: ProcessQueue[Any], settings: ConsumeSettings) -> bool:
    """
    True if as much waits for a poll as may, and the queue's task looks again after FLOW_CONTROL_MS.

    batches: that wait, of all queues; each counts as a whole one. Every limit is strict.
    """
    return batches * settings.pull_batch_size > settings.pull_threshold_for_all or pull_loop.is_held_back(
        queue, settings
    )


class AutoCommit:
    """
    When a poll commits what polls before it have handed out: the first does, and then each that begins an interval later.

    What is handed out is consumed, so the last polls before a shutdown are never committed.
    """

    __slots__ = ("_due_ms",)

    def __init__(self) -> None:
        self._due_ms: int | None = None

    def is_due(self, now_ms: int, settings: ConsumeSettings) -> bool:
        """Return True if the poll that begins now commits; the next is then due an interval later."""
        if not settings.auto_commit or (self._due_ms is not None and now_ms < self._due_ms):
            return False
        self._due_ms = now_ms + settings.auto_commit_interval_ms
        return True
