"""One member of a group on a scripted broker, with a listener and an observer that remember."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from rocketmq_reference.api.push_consumer import PushConsumer
from rocketmq_reference.api.settings import ConsumerSettings
from rocketmq_reference.client.consuming.memory import OffsetEvent
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.consumer.allocation import AllocationError
from rocketmq_reference.rules.consumer.concurrent import ConsumeContext, ConsumeStatus
from rocketmq_reference.rules.consumer.offsets import TopicQueue
from rocketmq_reference.rules.consumer.settings import ConsumeFromWhere
from tests.reference_impl.consuming_broker import ConsumerBroker
from tests.reference_impl.fake_broker import FakeCluster

OK = ConsumeStatus.CONSUME_SUCCESS
FIRST = ConsumeFromWhere.FIRST
T0 = TopicQueue("T", Queue("broker-a", 0))


@dataclass
class Group:
    """One member of a group G on broker-a, with a listener that remembers."""

    broker: ConsumerBroker
    cluster: FakeCluster
    answer: Callable[[StoredMessage, ConsumeContext], ConsumeStatus | None] = lambda _message, _context: OK
    seen: list[tuple[str, str, int]] = field(default_factory=list)
    events: list[tuple[OffsetEvent, TopicQueue, int | None]] = field(default_factory=list)
    shares: list[tuple[str, int]] = field(default_factory=list)
    errors: list[AllocationError | None] = field(default_factory=list)
    owned: list[TopicQueue] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(
        self, messages: Sequence[StoredMessage], _of: TopicQueue, context: ConsumeContext
    ) -> ConsumeStatus | None:
        (message,) = messages
        with self.lock:
            self.seen.append((message.topic, message.body.decode(), message.reconsume_times))
        return self.answer(message, context)

    def allocated(
        self,
        topic: str,
        ids: Sequence[str],
        queues: Sequence[Queue],
        share: Sequence[Queue],
        error: AllocationError | None,
        /,
    ) -> None:
        assert ids
        self.errors.append(error)
        assert set(share) <= set(queues)
        self.shares.append((topic, len(share)))

    def offset_seen(self, event: OffsetEvent, of: TopicQueue, value: int | None) -> None:
        self.events.append((event, of, value))

    def owns(self, queues: Sequence[TopicQueue]) -> None:
        self.owned = list(queues)

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Longer than a pull is given up: up to 5.1.2 one outlives its connection if a write meets the reset before the reader does."""
        deadline = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < deadline, (self.seen, self.events, self.shares, self.owned)
            time.sleep(0.002)

    def member(self, release: str, expression: str = "*", **settings: Any) -> PushConsumer:
        chosen: dict[str, Any] = {
            "instance_name": "m0",
            "rebalance_min_interval_ms": 20,
            "pull_time_delay_when_exception_ms": 50,
            "persist_consumer_offset_interval_ms": 100,
            **settings,
        }
        name_servers = [self.cluster.name_server.address]
        consumer = PushConsumer(name_servers, "G", release, self, ConsumerSettings(**chosen), self)
        self.broker.ids = [consumer.client_id]
        consumer.subscribe("T", expression)
        return consumer

    @contextmanager
    def consuming(
        self, where: ConsumeFromWhere = FIRST, expression: str = "*", release: str = "5.3.3", **settings: Any
    ) -> Iterator[PushConsumer]:
        consumer = self.member(release, expression, consume_from_where=where, **settings)
        try:
            yield consumer.start()
        finally:
            consumer.shutdown()


@contextmanager
def group_on_a_broker() -> Iterator[Group]:
    """One member of group G on a broker with two queues of topic T."""
    broker = ConsumerBroker("broker-a")
    with FakeCluster({"broker-a": broker}) as cluster:
        cluster.set_route("T", {"broker-a": 2})
        cluster.set_route("%RETRY%G", {"broker-a": 1})
        yield Group(broker, cluster)
