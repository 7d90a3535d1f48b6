"""State of one consumer between requests, and what it shows to an observer. Only storage; the rules decide."""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Protocol

from rocketmq_reference.remoting.consuming import ConsumerGroup, Subscription
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.client.route import TopicRoute, subscribe_list
from rocketmq_reference.rules.consumer.allocation import AllocationError
from rocketmq_reference.rules.consumer.consumer_rules import ConsumerRules
from rocketmq_reference.rules.consumer.offsets import Offsets, TopicQueue
from rocketmq_reference.rules.consumer.process_queue import ProcessQueue
from rocketmq_reference.rules.consumer.settings import ConsumeFromWhere, ConsumeSettings


class OffsetEvent(StrEnum):
    """What was done with the offset of one queue."""

    QUERY = "query"
    UPDATE = "update"
    COMMIT = "commit"
    FORGET = "forget"
    FREEZE = "freeze"


class Observer(Protocol):
    """Observer of a consumer; called in the client's threads, so it must be fast and must not call the consumer."""

    def allocated(
        self,
        topic: str,
        ids: Sequence[str],
        queues: Sequence[Queue],
        share: Sequence[Queue],
        error: AllocationError | None,
        /,
    ) -> None:
        """The member has computed its share of a topic, or its strategy failed; lists in the order in which it has them."""
        ...

    def offset_seen(self, event: OffsetEvent, of: TopicQueue, value: int | None) -> None: ...

    def owns(self, queues: Sequence[TopicQueue]) -> None:
        """The set of queues that it works on has changed."""
        ...


class ConsumerMemory:
    """
    The memory of one member; a Role of its client.

    queues: readable queues of each subscribed topic. process: the queues that it works on. brokers: the broker id that a queue's
    last answer suggested. is_orderly: it consumes each queue in order. is_suspended: it neither pulls nor rebalances. polls: it is a
    lite pull consumer.
    """

    __slots__ = (
        "brokers",
        "client_id",
        "group",
        "is_orderly",
        "is_suspended",
        "observer",
        "offsets",
        "polls",
        "process",
        "queues",
        "rules",
        "settings",
        "subscriptions",
    )

    def __init__(
        self,
        group: str,
        client_id: str,
        rules: ConsumerRules,
        settings: ConsumeSettings,
        observer: Observer | None,
        *,
        is_orderly: bool = False,
        polls: bool = False,
    ) -> None:
        self.group = group
        self.client_id = client_id
        self.rules = rules
        self.settings = settings
        self.observer = observer
        self.is_orderly = is_orderly
        self.is_suspended = False
        self.polls = polls
        self.subscriptions: dict[str, Subscription] = {}
        self.queues: dict[str, tuple[Queue, ...]] = {}
        self.process: dict[TopicQueue, ProcessQueue[StoredMessage]] = {}
        self.offsets = Offsets()
        self.brokers: dict[TopicQueue, int] = {}

    def needs_route(self, topic: str) -> bool:
        return topic in self.subscriptions and topic not in self.queues

    def take_route(self, topic: str, route: TopicRoute) -> None:
        if topic in self.subscriptions:
            self.queues[topic] = tuple(Queue(*each) for each in subscribe_list(route))

    def as_group(self) -> ConsumerGroup:
        """A lite pull consumer does not tell where it begins."""
        where = ConsumeFromWhere.LAST if self.polls else self.settings.consume_from_where
        model = self.settings.message_model
        return ConsumerGroup(self.group, where.value, model.value, tuple(self.subscriptions.values()), self.polls)

    def renew(self, topic: str, version: int) -> None:
        """Give a subscription a new version, because the member's queues of its topic have changed."""
        self.subscriptions[topic] = replace(self.subscriptions[topic], version=version)

    def take(self, of: TopicQueue, queue: ProcessQueue[StoredMessage]) -> None:
        self.process[of] = queue
        self._show_owned()

    def stop_working_on(self, queue: ProcessQueue[StoredMessage]) -> None:
        """The queue stays in the table until it is given up."""
        queue.is_dropped = True
        self._show_owned()

    def drop(self, of: TopicQueue) -> None:
        self.process.pop(of).is_dropped = True
        self._show_owned()

    def lose(self, of: TopicQueue) -> None:
        """Take a queue out of the table; the work on it goes on, unless it was stopped before."""
        self.process.pop(of, None)
        self._show_owned()

    def drop_all(self) -> None:
        """Give every queue up without a commit, so that results of calls under way are thrown away."""
        for of in list(self.process):
            self.drop(of)

    def working_on(self, topic: str) -> set[Queue]:
        return {of.queue for of, queue in self.process.items() if of.topic == topic and not queue.is_dropped}

    def note(self, event: OffsetEvent, of: TopicQueue, value: int | None = None) -> None:
        if self.observer is not None:
            self.observer.offset_seen(event, of, value)

    def _show_owned(self) -> None:
        if self.observer is not None:
            self.observer.owns([of for of, queue in self.process.items() if not queue.is_dropped])
