"""Members of groups with one defect each: changes to the reference consumer, made before it joins."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from rocketmq_reference.api.push_consumer import PushConsumer
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.rules.consumer.offsets import TopicQueue
from rocketmq_reference.rules.consumer.process_queue import ProcessQueue

Defect = Callable[[PushConsumer], None]
Pulled = ProcessQueue[StoredMessage]

_PERIOD = 10
_SILENCE_MS = 2_000


def _strikes(message: StoredMessage) -> bool:
    return message.queue_offset % _PERIOD == _PERIOD - 1


def honest(_consumer: PushConsumer) -> None:
    """Change nothing."""


def loses(consumer: PushConsumer) -> None:
    """Acknowledge every tenth message of a queue without calling the listener."""
    pulling = consumer.parts.pulling
    deliver = pulling.deliver

    def without_some(of: TopicQueue, queue: Pulled, messages: Sequence[StoredMessage]) -> None:
        queue.remove([message for message in messages if _strikes(message)])
        deliver(of, queue, [message for message in messages if not _strikes(message)])

    pulling.deliver = without_some


def doubles(consumer: PushConsumer) -> None:
    """Call the listener twice for every tenth message of a queue."""
    pulling = consumer.parts.pulling
    deliver = pulling.deliver

    def some_twice(of: TopicQueue, queue: Pulled, messages: Sequence[StoredMessage]) -> None:
        deliver(of, queue, messages)
        deliver(of, queue, [message for message in messages if _strikes(message)])

    pulling.deliver = some_twice


def commits_early(consumer: PushConsumer) -> None:
    """Remember the offset behind a message as soon as it is received."""
    pulling, committing = consumer.parts.pulling, consumer.parts.committing
    deliver = pulling.deliver

    def after_the_offset(of: TopicQueue, queue: Pulled, messages: Sequence[StoredMessage]) -> None:
        committing.update(of, messages[-1].queue_offset + 1)
        deliver(of, queue, messages)

    pulling.deliver = after_the_offset


def stands_still(consumer: PushConsumer) -> None:
    """Give up pulling from a queue that was silent for two seconds after it had messages."""
    parts = consumer.parts
    deliver = parts.pulling.deliver
    last_ms: dict[TopicQueue, int] = {}

    def until_a_silence(of: TopicQueue, queue: Pulled, messages: Sequence[StoredMessage]) -> None:
        now_ms = parts.client.host.now_ms
        if now_ms - last_ms.setdefault(of, now_ms) > _SILENCE_MS:
            return  # what it has pulled stays in the queue for ever, and holds further pulls back
        last_ms[of] = now_ms
        deliver(of, queue, messages)

    parts.pulling.deliver = until_a_silence


CONSUMER_TOYS: Mapping[str, Defect] = MappingProxyType(
    {
        "honest-member": honest,
        "loses": loses,
        "doubles": doubles,
        "commits-early": commits_early,
        "stands-still": stands_still,
    }
)
"""By the names of ``subjects.kinds.toy``."""
