"""Settings of a consumer that its rules read, under the client's names in snake case and with its defaults."""

from dataclasses import dataclass
from enum import StrEnum

SUSPEND_MS = 1_000
"""How long a failed message holds its queue up, in order, if its listener asks for nothing."""

LOCK_RENEWAL_MS = 20_000
"""Default of the period in which a member that consumes in order renews its locks."""


class ConsumeFromWhere(StrEnum):
    """Where a group without an offset begins, as heartbeats name it (ConsumeFromWhere)."""

    LAST = "CONSUME_FROM_LAST_OFFSET"
    FIRST = "CONSUME_FROM_FIRST_OFFSET"


class MessageModel(StrEnum):
    """Each message to one member of a group, or to each, as heartbeats name it (MessageModel)."""

    CLUSTERING = "CLUSTERING"
    BROADCASTING = "BROADCASTING"


@dataclass(frozen=True, slots=True)
class ConsumeSettings:
    """
    Defaults of DefaultMQPushConsumer, and from auto_commit on of DefaultLitePullConsumer, which alone has these; times in milliseconds.

    max_reconsume_times: −1 for the default: 16, in order no limit. rebalance_wait_interval_ms, rebalance_min_interval_ms, lock_interval_ms, lock_max_live_time_ms: system
    properties there (rocketmq.client.rebalance.waitInterval …). None: the release's own; a release without the setting ignores it.
    """

    message_model: MessageModel = MessageModel.CLUSTERING
    consume_from_where: ConsumeFromWhere = ConsumeFromWhere.LAST
    consume_thread_nums: int = 20
    consume_message_batch_max_size: int = 1
    pull_batch_size: int = 32
    pull_interval_ms: int = 0
    pull_threshold_for_queue: int = 1_000
    pull_threshold_size_for_queue_mib: int = 100
    consume_concurrently_max_span: int = 2_000
    consume_timeout_minutes: int = 15
    max_reconsume_times: int = -1
    suspend_current_queue_time_ms: int = SUSPEND_MS
    pull_time_delay_when_exception_ms: int | None = None
    persist_consumer_offset_interval_ms: int = 5_000
    rebalance_wait_interval_ms: int = 20_000
    rebalance_min_interval_ms: int | None = None
    lock_interval_ms: int = LOCK_RENEWAL_MS
    lock_max_live_time_ms: int = 30_000
    auto_commit: bool = True
    auto_commit_interval_ms: int = 5_000
    poll_timeout_ms: int = 5_000
    pull_threshold_for_all: int = 10_000
    pull_thread_nums: int = 20

    @property
    def is_broadcasting(self) -> bool:
        return self.message_model is MessageModel.BROADCASTING

    @property
    def most_reconsume_times(self) -> int:
        return 16 if self.max_reconsume_times == -1 else self.max_reconsume_times
