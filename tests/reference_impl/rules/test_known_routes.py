"""A client's routes, addresses and polled topics."""

import pytest

from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.client.known_routes import KnownRoutes
from rocketmq_reference.rules.client.route import BrokerQueues, TopicRoute


def route(**brokers: int) -> TopicRoute:
    """Return a route with a master and a slave per broker, and this number of queues."""
    queues = tuple(BrokerQueues(name, number, number, 6) for name, number in brokers.items())
    return TopicRoute(queues, {name: {0: f"{name}:1", 1: f"{name}:2"} for name in brokers})


def routes_of(release: str, key: str | None = None) -> KnownRoutes:
    dialect = dialect_of(release)
    return KnownRoutes(dialect.producer.default_topic, key, key_ignored=dialect.producer.create_topic_key_ignored)


def known(release: str = "5.3.3", **topics: TopicRoute) -> KnownRoutes:
    made = routes_of(release)
    for topic, reported in topics.items():
        assert made.take(topic, reported, can_select=False)
    return made


@pytest.mark.parametrize(
    ("release", "key", "stand_in", "polled"),
    [
        ("5.1.0", None, "TBW102", ["TBW102"]),
        ("5.1.0", "Key", "Key", ["Key"]),
        ("4.3.0", None, "AUTO_CREATE_TOPIC_KEY", ["AUTO_CREATE_TOPIC_KEY"]),
        ("5.1.1", "Key", "TBW102", []),
    ],
)
def test_the_topic_that_stands_in_for_new_ones(release: str, key: str | None, stand_in: str, polled: list[str]) -> None:
    """To 5.1.0 the default topic is the create-topic key, polled from the start; then always TBW102, not polled."""
    made = routes_of(release, key)
    assert (made.stand_in, made.polled_topics()) == (stand_in, polled)


def test_the_default_topic_is_polled_unless_the_key_is_ignored() -> None:
    """Of a client without a producer, as of one up to 5.1.0."""
    assert KnownRoutes("TBW102").polled_topics() == ["TBW102"]


def test_a_route_is_taken_if_it_differs_or_there_is_nothing_to_select_from() -> None:
    """A route is stored if it differs or there is no queue to select from."""
    made = known(T=route(a=1))
    assert not made.take("T", route(a=1), can_select=True)
    assert made.take("T", route(a=2), can_select=True)
    assert made.take("T", route(a=2), can_select=False)
    assert made.take("U", route(a=2), can_select=True)


def test_addresses_outlive_a_route_until_they_are_dropped() -> None:
    """drop_offline removes addresses that no route contains, and brokers without any."""
    made = known(T=route(a=1, b=1), U=route(b=1))
    made.take("T", TopicRoute((), {"a": {1: "a:2"}}), can_select=True)
    made.addresses["a"] = {0: "a:1", 1: "a:2"}
    made.drop_offline()
    assert made.addresses == {"a": {1: "a:2"}, "b": {0: "b:1", 1: "b:2"}}
    made.take("T", TopicRoute((), {}), can_select=True)
    made.drop_offline()
    assert list(made.addresses) == ["b"]


def test_masters_are_in_the_order_of_the_table() -> None:
    """Masters are listed in hash order of broker names, without slaves."""
    made = known(T=route(b=1, a=1))
    made.addresses["c"] = {1: "c:2"}
    assert list(made.masters()) == ["a:1", "b:1"]
    assert (made.master("a"), made.master("c"), made.master("d")) == ("a:1", None, None)
    assert made.members() == ["a:1", "a:2", "b:1", "b:2", "c:2"]
    assert made.is_known("c:2") and not made.is_known("d:1")


def test_twelve_brokers_are_in_the_order_of_a_table_that_has_grown() -> None:
    """A concurrent table grows at three quarters."""
    made = known()
    made.addresses |= {f"b{number}": {0: str(number), 1: "slave"} for number in range(12)}
    assert made.members()[::2] == list(made.masters()) == [*("10", "11"), *map(str, range(10))]


def test_a_master_is_looked_up_when_its_turn_comes() -> None:
    """A broker that is removed during a round of heartbeats gets none."""
    made = known(T=route(a=1, b=1))
    round_of_heartbeats = made.masters()
    next(round_of_heartbeats)
    del made.addresses["b"]
    assert list(round_of_heartbeats) == []
