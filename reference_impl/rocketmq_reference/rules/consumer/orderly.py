"""How a queue is consumed in order, and what follows a call of the listener (ConsumeMessageOrderlyService)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rocketmq_reference.rules.consumer.process_queue import ProcessQueue
from rocketmq_reference.rules.consumer.settings import ConsumeSettings

FIRST_RENEWAL_MS = 1_000
"""From the start to the first renewal of all locks."""

LOCK_TIMEOUT_MS = 1_000
UNLOCK_DELAY_MS = 20_000
"""A queue with messages is unlocked so long after it was given up; from 5.2.0 a listener is waited for no longer."""

GIVE_UP_WAIT_MS, GIVE_UP_WAIT_SINCE_5_2_0_MS = 1_000, 500
"""How long a round waits for the listener to return from a queue that it gives up."""

CONTINUOUSLY_MS = 60_000
"""A run of a queue ends after this time (rocketmq.client.maxTimeConsumeContinuously), and another one begins after LEAST_SUSPEND_MS."""

LEAST_SUSPEND_MS, MOST_SUSPEND_MS = 10, 30_000
WITHOUT_LOCK_MS = 100
"""A run that finds its queue without a lock asks for one after this time, one that loses it after LEAST_SUSPEND_MS."""

REFUSED_MS = 3_000
"""From a lock that such a run is refused to the next run."""

DEFAULT_SUSPEND = -1


class OrderlyStatus(StrEnum):
    """What a listener returns (ConsumeOrderlyStatus); None and an exception are SUSPEND."""

    SUCCESS = "SUCCESS"
    ROLLBACK = "ROLLBACK"
    COMMIT = "COMMIT"
    SUSPEND = "SUSPEND_CURRENT_QUEUE_A_MOMENT"


@dataclass(slots=True)
class OrderlyContext:
    """What a listener may set during its call (ConsumeOrderlyContext); without auto_commit it commits and rolls back itself."""

    auto_commit: bool = True
    suspend_ms: int = DEFAULT_SUSPEND


class Then(StrEnum):
    """What becomes of the messages of a call. FAIL: as their reconsume times allow. KEEP: they stay taken."""

    COMMIT = "commit"
    KEEP = "keep"
    ROLL_BACK = "roll-back"
    FAIL = "fail"


def follows(status: OrderlyStatus | None, context: OrderlyContext) -> Then:
    """Return what follows a call; with automatic commit COMMIT and ROLLBACK are taken for successes."""
    if status is None or status is OrderlyStatus.SUSPEND:
        return Then.FAIL
    if context.auto_commit or status is OrderlyStatus.COMMIT:
        return Then.COMMIT
    return Then.ROLL_BACK if status is OrderlyStatus.ROLLBACK else Then.KEEP


def suspended_ms(context: OrderlyContext, settings: ConsumeSettings) -> int:
    """Return how long the queue waits after a call that failed or was rolled back."""
    is_default = context.suspend_ms == DEFAULT_SUSPEND
    return bounded_suspend_ms(settings.suspend_current_queue_time_ms if is_default else context.suspend_ms)


def bounded_suspend_ms(asked_ms: int) -> int:
    """Return how long a client waits that is asked for so long."""
    return min(max(asked_ms, LEAST_SUSPEND_MS), MOST_SUSPEND_MS)


def has_failed_too_often(times: int, settings: ConsumeSettings) -> bool:
    """True if a message with these reconsume times is sent to the retry topic, from where its broker takes it to the dead letters."""
    return settings.max_reconsume_times != -1 and times >= settings.max_reconsume_times


def may_consume(queue: ProcessQueue[Any], now_ms: int, settings: ConsumeSettings) -> bool:
    """True while the member has the queue's lock; a broadcasting one needs none."""
    is_held = queue.is_locked and not queue.is_lock_expired(now_ms, settings.lock_max_live_time_ms)
    return settings.is_broadcasting or is_held
