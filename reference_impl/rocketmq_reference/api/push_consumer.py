"""
The live push consumer: its life cycle; the rules make every decision.

Read in DefaultMQPushConsumer and DefaultMQPushConsumerImpl, 4.2.0 to 5.3.3.
"""

from collections.abc import Sequence
from typing import Self

from rocketmq_reference.api.checks import check_group
from rocketmq_reference.api.consuming import live_consumer, subscribe
from rocketmq_reference.api.settings import ConsumerSettings
from rocketmq_reference.client.codec import FAILURES
from rocketmq_reference.client.consuming.concurrent import Listen
from rocketmq_reference.client.consuming.memory import Observer
from rocketmq_reference.client.consuming.orderly import ListenInOrder
from rocketmq_reference.dialects import RELEASES
from rocketmq_reference.host.access import OPEN, Access
from rocketmq_reference.remoting.consuming import EVERYTHING
from rocketmq_reference.remoting.errors import MQClientException
from rocketmq_reference.rules.consumer.offsets import RETRY_PREFIX

FIRST_RELEASE = "4.2.0"
"""The first release whose consumers are imitated: earlier ones count bytes and expired messages otherwise."""


def is_imitated(release: str) -> bool:
    """Return True if consumers of a release are imitated; raises ValueError for an unknown one."""
    return RELEASES.index(release.partition("+")[0]) >= RELEASES.index(FIRST_RELEASE)


class PushConsumer:
    """
    A consumer that behaves as the Java client of a release.

    listener: called in up to ``consume_thread_nums`` threads at once, for each queue in one if is_orderly. observer: sees allocations, offsets and owned queues.
    parts: for clients with a defect. Raises ValueError for a release before FIRST_RELEASE.
    """

    def __init__(
        self,
        name_servers: Sequence[str],
        group: str,
        release: str,
        listener: Listen | ListenInOrder,
        settings: ConsumerSettings | None = None,
        observer: Observer | None = None,
        *,
        access: Access = OPEN,
        is_orderly: bool = False,
    ) -> None:
        if not is_imitated(release):
            raise ValueError(f"expected a release from {FIRST_RELEASE} on, saw {release}")
        self.group = group
        self.parts = live_consumer(
            name_servers,
            group,
            release,
            settings or ConsumerSettings(),
            listener,
            observer,
            access,
            is_orderly=is_orderly,
        )
        self._is_started = False
        self._has_left = False

    @property
    def client_id(self) -> str:
        return self.parts.client.client_id

    def subscribe(self, topic: str, expression: str = EVERYTHING) -> None:
        """Consume a topic; expression: tags separated by ``||``. Before the start."""
        subscribe(self.parts.client, self.parts.memory, topic, expression)

    def start(self) -> Self:
        """
        Join the group.

        Raises MQClientException for an illegal group or a second start, and from 4.6.0 IllegalStateException if no name server
        answers: up to 5.3.1 the consumer then lives on, and joins the group when one does.
        """
        check_group(self.group)
        if self._is_started:
            raise MQClientException("The PushConsumer service state not OK, maybe started once")
        self._is_started = True
        if not self.parts.memory.settings.is_broadcasting:
            self.subscribe(RETRY_PREFIX + self.group)
        client = self.parts.client
        if self.parts.in_order is not None:
            client.host.post(self.parts.in_order.start)
        if self.parts.concurrent is not None:
            client.host.post(self.parts.concurrent.start)
        client.host.post(client.background.start)
        client.host.post(self.parts.rebalancing.start)
        try:
            client.host.run(self.parts.rebalancing.join())
        except FAILURES:
            if self.parts.memory.rules.leaves_after_failed_start:
                self.shutdown()
            raise
        return self

    @property
    def has_left(self) -> bool:
        """True from the call of ``shutdown`` on."""
        return self._has_left

    def shutdown(self) -> None:
        """Leave the group once: commit, unregister, close all connections. Messages under way are consumed again by others."""
        if self._has_left:
            return
        self._has_left = True
        client = self.parts.client
        if self.parts.concurrent is not None:
            client.host.post(self.parts.concurrent.stop)
        if self.parts.in_order is not None and self._is_started:
            client.host.run(self.parts.in_order.stop())
        client.host.run(self.parts.committing.commit_all())
        client.host.run(client.background.await_reset())
        client.host.post(self.parts.rebalancing.stop)
        client.host.post(self.parts.pulling.stop)
        client.shutdown(unregister_client=self._is_started)
        client.host.post(self.parts.memory.drop_all)
