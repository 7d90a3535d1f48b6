"""How a call of a concurrent listener ends, and what becomes of its messages (ConsumeMessageConcurrentlyService)."""

from dataclasses import dataclass
from enum import StrEnum

from rocketmq_reference.rules.consumer.settings import ConsumeSettings
from rocketmq_reference.rules.java import INT_MAX

LOCAL_RETRY_MS = 5_000
"""A message that could not be handed back is consumed again by the same member after this time."""

SEND_BACK_TIMEOUT_MS = 5_000
FIRST_RETRY_LEVEL = 3
"""Delay level of a first retry by the client's own send; each further one is one higher."""

MOST_EXPIRED = 16
"""Of one queue that a search for calls that take too long sends back, each with EXPIRED_LEVEL."""

EXPIRED_LEVEL = 3


class ConsumeStatus(StrEnum):
    """What a listener returns (ConsumeConcurrentlyStatus); None and an exception are RECONSUME_LATER."""

    CONSUME_SUCCESS = "CONSUME_SUCCESS"
    RECONSUME_LATER = "RECONSUME_LATER"


@dataclass(slots=True)
class ConsumeContext:
    """
    What a listener may set during its call (ConsumeConcurrentlyContext).

    ack_index: place of the last message that is acknowledged by a success. delay_level: of the retry: 0 for the default, −1
    for the dead letters at once.
    """

    ack_index: int = INT_MAX
    delay_level: int = 0


def acknowledged(status: ConsumeStatus | None, context: ConsumeContext, messages: int) -> int:
    """Return how many messages of a call are acknowledged; the rest is sent back."""
    if status is not ConsumeStatus.CONSUME_SUCCESS:
        return 0
    return min(context.ack_index, messages - 1) + 1


def timeout_ms(settings: ConsumeSettings) -> int:
    """Return how long a call may take, and how often is searched for those that take longer."""
    return settings.consume_timeout_minutes * 60_000
