"""
One client's knowledge of routes: routes by topic, broker addresses, and the topics to poll (MQClientInstance).

Models topicRouteTable, brokerAddrTable and the keys of topicPublishInfoTable. The caller decides when to ask a name server
and under which lock.
"""

from collections.abc import Iterator, Mapping

from rocketmq_reference.rules.client.route import MASTER_ID, TopicRoute, route_changed
from rocketmq_reference.rules.java import hash_order

_FIRST_BUCKETS = 16


class KnownRoutes:
    """
    The routes of one client; the same rules in every release.

    default_topic: the release's create-topic key. create_topic_key: the application's own. key_ignored: the release uses neither
    for polls, and its own for new topics (from 5.1.1). stand_in: the topic whose route is used for a topic that no name server
    knows. addresses: broker name → broker id → address.
    """

    __slots__ = ("_routes", "_topics", "addresses", "stand_in")

    def __init__(self, default_topic: str, create_topic_key: str | None = None, *, key_ignored: bool = False) -> None:
        chosen = create_topic_key or default_topic
        self.stand_in = default_topic if key_ignored else chosen
        self._topics: dict[str, None] = {} if key_ignored else {chosen: None}
        self._routes: dict[str, TopicRoute] = {}
        self.addresses: dict[str, Mapping[int, str]] = {}

    def want(self, topic: str) -> bool:
        """Poll the topic from now on because it is sent to, with or without a route; True the first time."""
        is_new = topic not in self._topics
        self._topics.setdefault(topic)
        return is_new

    def polled_topics(self) -> list[str]:
        """
        Return the topics of a route poll, in the order of Java's HashSet.

        Topics sent to or received as a route, and up to 5.1.0, from the start, the create-topic key as a placeholder.
        """
        return hash_order(list(self._topics), buckets=_FIRST_BUCKETS, concurrent=False)

    def any_topic(self) -> str | None:
        """Return the first topic of Java's table, used for probes of brokers; None if there is none."""
        return next(iter(hash_order(list(self._topics), buckets=_FIRST_BUCKETS, concurrent=True)), None)

    def take(self, topic: str, route: TopicRoute, *, can_select: bool) -> bool:
        """
        Store a route from a name server; True if it replaces the known one, which then needs a new publish list.

        It does if it differs, or (can_select is False) if there is no publish list yet or an empty one.
        """
        if can_select and not route_changed(self._routes.get(topic), route):
            return False
        self.addresses.update((broker, dict(members)) for broker, members in route.brokers.items())
        self._routes[topic] = route
        self._topics.setdefault(topic)
        return True

    def drop_offline(self) -> None:
        """Remove addresses that no topic's route contains any more (cleanOfflineBroker)."""
        online = {
            address
            for route in self._routes.values()
            for members in route.brokers.values()
            for address in members.values()
        }
        for broker, members in list(self.addresses.items()):
            kept = {number: address for number, address in members.items() if address in online}
            if kept:
                self.addresses[broker] = kept
            else:
                del self.addresses[broker]

    def route(self, topic: str) -> TopicRoute | None:
        return self._routes.get(topic)

    def master(self, broker: str) -> str | None:
        """Return the address of a broker's master, None if unknown (findBrokerAddressInPublish)."""
        return self.addresses.get(broker, {}).get(MASTER_ID)

    def masters(self) -> Iterator[str]:
        """Iterate over the masters' addresses for a round of heartbeats, in Java's order; each is looked up at its turn."""
        brokers = hash_order(self.addresses.copy(), buckets=_FIRST_BUCKETS, concurrent=True)
        return (address for address in map(self.master, brokers) if address is not None)

    def members(self) -> list[str]:
        """Return the addresses of masters and slaves, in Java's order."""
        brokers = hash_order(self.addresses.copy(), buckets=_FIRST_BUCKETS, concurrent=True)
        return [address for broker in brokers for address in self.addresses.get(broker, {}).values()]

    def is_known(self, address: str) -> bool:
        return address in self.members()
