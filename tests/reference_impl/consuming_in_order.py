"""One orderly member of a group on a scripted broker, with a listener that remembers."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rocketmq_reference.api.push_consumer import PushConsumer
from rocketmq_reference.api.settings import ConsumerSettings
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.rules.consumer.offsets import TopicQueue
from rocketmq_reference.rules.consumer.orderly import OrderlyContext, OrderlyStatus
from tests.reference_impl.consuming_group import FIRST, Group

Answer = Callable[[StoredMessage, OrderlyContext], OrderlyStatus | None]


@dataclass
class InOrder:
    """An orderly member of a group, whose listener remembers."""

    group: Group
    answer: Answer = lambda _message, _context: OrderlyStatus.SUCCESS
    release: str = "5.3.3"
    seen: list[tuple[str, int]] = field(default_factory=list)
    calling: int = 0
    most_at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(
        self, messages: Sequence[StoredMessage], _of: TopicQueue, context: OrderlyContext
    ) -> OrderlyStatus | None:
        (message,) = messages
        with self.lock:
            self.calling += 1
            self.most_at_once = max(self.most_at_once, self.calling)
            self.seen.append((message.body.decode(), message.reconsume_times))
        try:
            return self.answer(message, context)
        finally:
            with self.lock:
                self.calling -= 1

    def started(self, **settings: int) -> PushConsumer:
        return self.made(**settings).start()

    def made(self, **settings: int) -> PushConsumer:
        chosen = ConsumerSettings(
            instance_name="m0",
            consume_from_where=FIRST,
            rebalance_min_interval_ms=20,
            pull_time_delay_when_exception_ms=20,
            persist_consumer_offset_interval_ms=100,
            suspend_current_queue_time_ms=10,
            **settings,  # type: ignore[arg-type]  # numbers alone
        )
        name_servers = [self.group.cluster.name_server.address]
        consumer = PushConsumer(name_servers, "G", self.release, self, chosen, self.group, is_orderly=True)
        self.group.broker.ids = [consumer.client_id]
        consumer.subscribe("T")
        return consumer
