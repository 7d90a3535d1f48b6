"""The publish list of a route."""

import pytest

from rocketmq_reference.rules.client.route import (
    BrokerQueues,
    TopicRoute,
    publish_list,
    route_changed,
    route_of_new_topic,
    subscribe_list,
    write_queue_numbers,
)

READ, READ_WRITE = 4, 6
MASTERS = {broker: {0: f"{broker}:1"} for broker in ("a", "b", "b-2", "b-10")}


def route(*queues: BrokerQueues, order_conf: str | None = None) -> TopicRoute:
    return TopicRoute(queues, MASTERS, order_conf)


def test_only_writable_brokers_with_a_master() -> None:
    """Read-only brokers, brokers with slaves only, and unknown brokers are left out."""
    made = TopicRoute(
        (BrokerQueues("a", 4, 4, READ), BrokerQueues("b", 1, 1, READ_WRITE), BrokerQueues("c", 1, 1, READ_WRITE)),
        {"a": {0: "x"}, "b": {1: "y"}},
    )
    assert publish_list(made) == []


def test_only_readable_queues_are_consumed() -> None:
    """Bit 4 alone counts: not those for writing (2) and for inheriting (1)."""
    queues = [
        BrokerQueues(broker, 1, 1, permission)
        for broker, permission in (("a", READ), ("b", 1), ("b-2", 2), ("b-10", 3))
    ]
    assert subscribe_list(route(*queues)) == [("a", 0)]


def test_an_order_configuration_is_taken_as_it_is() -> None:
    """An order configuration is used unchecked, in its own order."""
    assert publish_list(route(order_conf="z:2;a:1")) == [("z", 0), ("z", 1), ("a", 0)]


def test_a_malformed_order_configuration_is_an_error() -> None:
    """A malformed order configuration raises ValueError, as Java's NumberFormatException."""
    with pytest.raises(ValueError, match="invalid literal"):
        publish_list(route(order_conf="z:two"))


def test_write_queues_of_every_broker_of_the_route() -> None:
    """Write queue numbers include read-only brokers, except in 4.9.8; the first entry of a name counts."""
    made = route(
        BrokerQueues("a", 4, 4, READ), BrokerQueues("b", 2, 2, READ_WRITE), BrokerQueues("b", 3, 3, READ_WRITE)
    )
    assert write_queue_numbers(made, writable_only=False) == {"a": 4, "b": 2}
    assert write_queue_numbers(made, writable_only=True) == {"b": 2}


def test_a_route_changes_by_its_content_not_by_its_order() -> None:
    """A route in another order is unchanged, because a new list would restart the counters."""
    one, other = BrokerQueues("a", 2, 2, READ_WRITE), BrokerQueues("b", 2, 2, READ_WRITE)
    assert not route_changed(route(one, other), route(other, one))
    assert route_changed(route(one, other), route(one))
    assert route_changed(None, route(one))
    assert route_changed(TopicRoute((one,), {"a": {0: "x"}}), TopicRoute((one,), {"a": {0: "y"}}))


def test_a_new_topic_has_the_fewer_queues_of_the_default_topic() -> None:
    """Read and write queues are those to read of the default topic, at most as many as new topics have; the rest is kept."""
    made = TopicRoute((BrokerQueues("a", 8, 2, READ_WRITE), BrokerQueues("b", 2, 8, READ)), {"a": {0: "x"}}, "a:1")
    queues = (BrokerQueues("a", 4, 4, READ_WRITE), BrokerQueues("b", 2, 2, READ))
    assert route_of_new_topic(made, 4) == TopicRoute(queues, {"a": {0: "x"}}, "a:1")
