"""When a member pulls from a queue, and what follows an answer (DefaultMQPushConsumerImpl.pullMessage, from 4.2.0)."""

from typing import Any

from rocketmq_reference.rules.consumer.consumer_rules import ConsumerRules
from rocketmq_reference.rules.consumer.process_queue import ProcessQueue
from rocketmq_reference.rules.consumer.settings import ConsumeSettings

BROKER_SUSPEND_MS = 15_000
"""How long a broker holds a pull without messages."""

CLIENT_TIMEOUT_MS = 30_000
FLOW_CONTROL_MS = 50
SUSPENDED_MS = 1_000
"""From a pull of a member that does nothing, because offsets are reset, to the next."""

_FLOW_CONTROL = 215
_MIB = 1024 * 1024


def is_held_back(queue: ProcessQueue[Any], settings: ConsumeSettings, *, is_orderly: bool = False) -> bool:
    """
    True if the member has as many messages as it may, and pulls again after FLOW_CONTROL_MS; every limit is strict.

    A queue that is consumed in order has no limit of its span.
    """
    return (
        queue.count > settings.pull_threshold_for_queue
        or queue.bytes // _MIB > settings.pull_threshold_size_for_queue_mib
        or (not is_orderly and queue.span > settings.consume_concurrently_max_span)
    )


def delay_after_failure_ms(code: int | None, rules: ConsumerRules, settings: ConsumeSettings) -> int:
    """code: of the broker's answer, None without one."""
    if code == _FLOW_CONTROL and rules.broker_flow_control_delay_ms is not None:
        return rules.broker_flow_control_delay_ms
    own_ms = settings.pull_time_delay_when_exception_ms
    return rules.pull_failure_delay_ms if own_ms is None else own_ms
