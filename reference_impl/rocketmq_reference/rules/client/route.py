"""
Conversion of a topic's route into the publish list (MQClientInstance of every release).

Not modelled: static topics, whose logical queues are mapped to brokers (from 5.0.0).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rocketmq_reference.rules.client.publish import PublishInfo

READABLE = 0b100
"""Permission bit for reading (PermName)."""

WRITABLE = 0b010
"""Permission bit for writing (PermName)."""

MASTER_ID = 0
"""Broker id of a master (MixAll.MASTER_ID); a producer sends only to masters."""


@dataclass(frozen=True, slots=True)
class BrokerQueues:
    """Queues of a topic on one broker, with their permission bits."""

    broker: str
    read_queues: int
    write_queues: int
    permission: int


@dataclass(frozen=True, slots=True)
class TopicRoute:
    """
    Route of one topic.

    brokers: broker name → broker id → address. order_conf: ``broker:queues;broker:queues`` or None.
    """

    queues: tuple[BrokerQueues, ...]
    brokers: Mapping[str, Mapping[int, str]]
    order_conf: str | None = None

    @property
    def sorted_queues(self) -> tuple[BrokerQueues, ...]:
        """Return the queues by broker name in Java's order (UTF-16 units), "broker-10" before "broker-2"; the sort is stable."""
        return tuple(sorted(self.queues, key=lambda data: data.broker.encode("utf-16-be")))


def subscribe_list(route: TopicRoute) -> list[tuple[str, int]]:
    """Return every readable queue by broker name, also of a broker without a master (topicRouteData2TopicSubscribeInfo)."""
    return [
        (data.broker, queue_id)
        for data in route.sorted_queues
        if data.permission & READABLE
        for queue_id in range(data.read_queues)
    ]


def publish_list(route: TopicRoute) -> list[tuple[str, int]]:
    """
    Return the queues a producer may select, grouped by broker: a0 a1 a2 a3 b0 b1 ….

    With an order configuration: exactly its queues, unchecked. Otherwise: the writable queues of brokers that have a master,
    by broker name. Raises ValueError for a malformed order configuration.
    """
    if route.order_conf:
        parts = [part.split(":") for part in route.order_conf.split(";") if part]
        return [(part[0], queue_id) for part in parts for queue_id in range(int(part[1]))]
    return [
        (data.broker, queue_id)
        for data in route.sorted_queues
        if data.permission & WRITABLE and MASTER_ID in route.brokers.get(data.broker, {})
        for queue_id in range(data.write_queues)
    ]


def write_queue_numbers(route: TopicRoute, *, writable_only: bool) -> dict[str, int]:
    """
    Return the number of write queues of every broker of the route, for the fallback up to 5.1.3.

    Includes brokers without a master and read-only brokers; 4.9.8 omits the read-only ones.
    """
    numbers: dict[str, int] = {}
    for data in route.sorted_queues:
        if data.permission & WRITABLE or not writable_only:
            numbers.setdefault(data.broker, data.write_queues)
    return numbers


def publish_info(route: TopicRoute, *, writable_only: bool) -> PublishInfo:
    """Make a new publish list; a changed route always gets one, and with it new counters in every thread."""
    return PublishInfo(publish_list(route), write_queue_numbers(route, writable_only=writable_only))


def route_changed(old: TopicRoute | None, new: TopicRoute) -> bool:
    """True if a newly fetched route replaces the old one; the order of brokers does not matter."""
    if old is None:
        return True
    return (old.order_conf, old.brokers, _in_order(old)) != (new.order_conf, new.brokers, _in_order(new))


def route_of_new_topic(default_route: TopicRoute, default_topic_queues: int) -> TopicRoute:
    """
    Return the route assumed for a topic that does not exist yet: that of the default topic with fewer queues.

    Read and write queues become the smaller of default_topic_queues and the default topic's read queues.
    """
    queues = tuple(
        replace(data, read_queues=number, write_queues=number)
        for data in default_route.queues
        for number in [min(default_topic_queues, data.read_queues)]
    )
    return replace(default_route, queues=queues)


def _in_order(route: TopicRoute) -> tuple[BrokerQueues, ...]:
    return route.sorted_queues
