"""
What one client knows of routes: of which topics, where their brokers are, and which topics it asks about (MQClientInstance).

The tables of topicRouteTable, brokerAddrTable and, as far as its keys go, topicPublishInfoTable. Who asks a name server,
when, and under which lock is the business of whoever holds this.
"""

from collections.abc import Iterator, Mapping

from rocketmq_reference.rules.client.route import MASTER_ID, TopicRoute, route_changed
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.java import hash_order

_FIRST_BUCKETS = 16


class KnownRoutes:
    """
    The routes of one client, the same rules in every release.

    stand_in: the topic whose route a topic gets that no name server knows. addresses: by broker name and id.
    """

    __slots__ = ("_routes", "_topics", "addresses", "stand_in")

    def __init__(self, dialect: Dialect, create_topic_key: str | None = None) -> None:
        chosen = create_topic_key or dialect.default_topic
        self.stand_in = dialect.default_topic if dialect.create_topic_key_ignored else chosen
        self._topics: dict[str, None] = {} if dialect.create_topic_key_ignored else {chosen: None}
        self._routes: dict[str, TopicRoute] = {}
        self.addresses: dict[str, Mapping[int, str]] = {}

    def want(self, topic: str) -> bool:
        """Somebody sends to the topic, so it is polled from now on, whether there is a route or not; True the first time."""
        is_new = topic not in self._topics
        self._topics.setdefault(topic)
        return is_new

    def polled_topics(self) -> list[str]:
        """
        What a route poll asks about, in the order of Java's HashSet.

        Topics that were sent to or learnt of, and to 5.1.0 the create-topic key from the start, which had a placeholder entry.
        """
        return hash_order(list(self._topics), buckets=_FIRST_BUCKETS, concurrent=False)

    def any_topic(self) -> str | None:
        """The first topic of Java's table, about which brokers are asked when any will do; None if there is none."""
        return next(iter(hash_order(list(self._topics), buckets=_FIRST_BUCKETS, concurrent=True)), None)

    def take(self, topic: str, route: TopicRoute, *, can_select: bool) -> bool:
        """
        A name server told a route: whether it replaces what is known, and so brings a new publish list.

        It does if it differs, or (can_select is False) if there is no list yet, or an empty one.
        """
        if can_select and not route_changed(self._routes.get(topic), route):
            return False
        self.addresses.update((broker, dict(members)) for broker, members in route.brokers.items())
        self._routes[topic] = route
        self._topics.setdefault(topic)
        return True

    def drop_offline(self) -> None:
        """Forget addresses that no topic's route names any more (cleanOfflineBroker)."""
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

    def master(self, broker: str) -> str | None:
        """Address of a broker's master; None if no route named one (findBrokerAddressInPublish)."""
        return self.addresses.get(broker, {}).get(MASTER_ID)

    def masters(self) -> Iterator[str]:
        """Addresses that a round of heartbeats goes to, in the order of Java's table, each looked up when its turn comes."""
        brokers = hash_order(self.addresses.copy(), buckets=_FIRST_BUCKETS, concurrent=True)
        return (address for address in map(self.master, brokers) if address is not None)

    def members(self) -> list[str]:
        """Addresses of all members of all brokers."""
        return [address for members in self.addresses.copy().values() for address in members.values()]

    def is_known(self, address: str) -> bool:
        """Whether it is the address of a broker of some route."""
        return address in self.members()
