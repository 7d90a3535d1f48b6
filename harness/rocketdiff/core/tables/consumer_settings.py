"""
Settings of consumers under the client's own names in snake case; those that a scenario leaves out are the client's own defaults.

Defaults of a release differ from another's, so none is written here.
"""

from collections.abc import Mapping

from rocketdiff.core.tables.settings import Setting, Unit

CONSUME_FROM = ("first", "last")
"""Values of ``consume_from_where``: where a group without a committed offset begins (``setConsumeFromWhere``)."""

_LONGEST_MS = 3_600_000

CONSUMER_SETTINGS: Mapping[str, Setting] = {
    "consume_thread_min": Setting("setConsumeThreadMin", Unit.COUNT, 1, 1_000),
    "consume_thread_max": Setting("setConsumeThreadMax", Unit.COUNT, 1, 1_000),
    "consume_message_batch_max_size": Setting("setConsumeMessageBatchMaxSize", Unit.COUNT, 1, 1_024),
    "pull_batch_size": Setting("setPullBatchSize", Unit.COUNT, 1, 1_024),
    "pull_interval_ms": Setting("setPullInterval", Unit.MS, 0, 65_535),
    "pull_threshold_for_queue": Setting("setPullThresholdForQueue", Unit.COUNT, 1, 65_535),
    "consume_concurrently_max_span": Setting("setConsumeConcurrentlyMaxSpan", Unit.COUNT, 1, 65_535),
    "max_reconsume_times": Setting("setMaxReconsumeTimes", Unit.TIMES, -1, 16),
    "suspend_current_queue_time_ms": Setting("setSuspendCurrentQueueTimeMillis", Unit.MS, 10, 30_000),
    "consume_timeout_min": Setting("setConsumeTimeout", Unit.COUNT, 1, 180),
    "persist_consumer_offset_interval_ms": Setting(
        "setPersistConsumerOffsetInterval", Unit.PERIOD_MS, 100, _LONGEST_MS
    ),
    "heartbeat_broker_interval_ms": Setting("setHeartbeatBrokerInterval", Unit.PERIOD_MS, 100, _LONGEST_MS),
    "poll_name_server_interval_ms": Setting("setPollNameServerInterval", Unit.PERIOD_MS, 100, _LONGEST_MS),
    "pull_time_delay_when_exception_ms": Setting(
        "setPullTimeDelayMillsWhenException", Unit.MS, 0, 60_000, since="4.6.0"
    ),
    "await_termination_ms": Setting("setAwaitTerminationMillisWhenShutdown", Unit.MS, 0, 60_000, since="4.7.1"),
    "auto_commit_interval_ms": Setting(
        "setAutoCommitIntervalMillis", Unit.PERIOD_MS, 1_000, _LONGEST_MS, since="4.6.0"
    ),
    "poll_timeout_ms": Setting("setPollTimeoutMillis", Unit.MS, 100, 30_000, since="4.6.0"),
    "pull_threshold_for_all": Setting("setPullThresholdForAll", Unit.COUNT, 1, 1_000_000, since="4.6.0"),
    "pull_thread_nums": Setting("setPullThreadNums", Unit.COUNT, 1, 1_000, since="4.6.0"),
}
"""Limits are the client's own (``checkConfig``) where it has any."""

OF_LITE_PULL = frozenset({"auto_commit_interval_ms", "poll_timeout_ms", "pull_threshold_for_all", "pull_thread_nums"})
"""Settings that lite pull consumers alone have."""

OF_PUSH = frozenset(
    {
        "consume_thread_min",
        "consume_thread_max",
        "consume_message_batch_max_size",
        "pull_interval_ms",
        "max_reconsume_times",
        "suspend_current_queue_time_ms",
        "consume_timeout_min",
        "await_termination_ms",
    }
)
"""Settings that lite pull consumers do not have."""

AUTO_COMMIT_MS, POLL_MS = 5_000, 5_000
"""Defaults of auto_commit_interval_ms and poll_timeout_ms in every release."""

CONSUMER_PROPERTIES: Mapping[str, Setting] = {
    "rebalance_wait_interval_ms": Setting("rocketmq.client.rebalance.waitInterval", Unit.PERIOD_MS, 100, _LONGEST_MS),
    "rebalance_min_interval_ms": Setting("rocketmq.client.rebalance.minInterval", Unit.MS, 0, 60_000, since="5.2.0"),
    "lock_interval_ms": Setting("rocketmq.client.rebalance.lockInterval", Unit.PERIOD_MS, 100, _LONGEST_MS),
    "lock_max_live_time_ms": Setting("rocketmq.client.rebalance.lockMaxLiveTime", Unit.MS, 100, _LONGEST_MS),
}
"""System properties, which the client reads when its classes are loaded."""
