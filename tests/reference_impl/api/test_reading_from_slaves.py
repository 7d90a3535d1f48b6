"""A member on a scripted master with a slave: which of both it pulls from, and who gets its offsets."""

from collections.abc import Iterator
from typing import Any

import pytest

from rocketmq_reference.client.consuming.memory import OffsetEvent
from rocketmq_reference.remoting.codes import RequestCode
from tests.reference_impl.consuming_broker import ConsumerBroker
from tests.reference_impl.consuming_group import T0, Group
from tests.reference_impl.fake_broker import FakeCluster

PULL, COMMIT = RequestCode.PULL_MESSAGE, RequestCode.UPDATE_CONSUMER_OFFSET


@pytest.fixture
def slave() -> Iterator[ConsumerBroker]:
    made = ConsumerBroker("broker-a")
    yield made
    made.close()


@pytest.fixture
def group(slave: ConsumerBroker) -> Iterator[Group]:
    """A member on broker-a, which has a slave; one queue of T."""
    master = ConsumerBroker("broker-a")
    with FakeCluster({"broker-a": master}) as cluster:
        cluster.set_route("T", {"broker-a": 1})
        cluster.set_route("%RETRY%G", {"broker-a": 1})
        show(cluster, {0: master, 1: slave})
        yield Group(master, cluster)


def show(cluster: FakeCluster, members: dict[int, ConsumerBroker]) -> None:
    """Let the name server show these members of broker-a."""
    for topic, route in dict(cluster.name_server.routes).items():
        (data,) = route["brokerDatas"]
        addresses = {str(number): member.address for number, member in members.items()}
        cluster.name_server.routes[topic] = {**route, "brokerDatas": [{**data, "brokerAddrs": addresses}]}


def flags(broker: ConsumerBroker) -> set[int]:
    """Commit flags of the pulls that a broker got for T."""
    return {int(each.ext_fields["sysFlag"]) & 1 for each in broker.requests_of(PULL) if each.ext_fields["topic"] == "T"}


def test_pulls_go_where_the_last_answer_suggests(group: Group, slave: ConsumerBroker) -> None:
    """To the slave without an offset, which the master gets alone; back to the master as the slave suggests it."""
    group.broker.put("T", 0, "a")
    slave.put("T", 0, "a", "b")
    group.broker.suggests = slave.suggests = 1
    with group.consuming():
        group.wait_for(lambda: ("T", "b", 0) in group.seen)
        group.wait_for(lambda: len(slave.requests_of(PULL)) >= 6)
        group.broker.put("T", 0, "b", "c")
        slave.suggests = group.broker.suggests = 0
        group.wait_for(lambda: ("T", "c", 0) in group.seen)
        group.wait_for(lambda: 1 in flags(group.broker))
    assert flags(slave) == {0}
    assert not slave.requests_of(COMMIT)
    group.wait_for(lambda: group.broker.committed.get(("T", 0)) == 3)
    assert [body for _, body, _ in group.seen] == ["a", "b", "c"]


def test_a_slave_without_the_queue_sends_the_member_on(group: Group, slave: ConsumerBroker) -> None:
    """PULL_RETRY_IMMEDIATELY with the master's id: the next pull goes there at once, and nothing is given up."""
    group.broker.suggests, slave.sends_on = 1, True
    with group.consuming():
        group.wait_for(lambda: bool(slave.requests_of(PULL)))
        group.broker.suggests = 0
        group.broker.put("T", 0, "a")
        group.wait_for(lambda: ("T", "a", 0) in group.seen)
    assert OffsetEvent.FREEZE not in {event for event, of, _ in group.events if of == T0}


def lose_the_master(group: Group, slave: ConsumerBroker) -> None:
    slave.ids = group.broker.ids
    show(group.cluster, {1: slave})
    group.broker.refuse(reset=True)  # a FIN would not end a held pull up to 5.1.2


OFTEN: dict[str, Any] = {
    "poll_name_server_interval_ms": 50,
    "rebalance_wait_interval_ms": 200,
    "heartbeat_broker_interval_ms": 50,
}


@pytest.mark.parametrize("release", ["4.9.2", "4.9.8", "5.3.3"])
def test_the_slave_serves_a_group_whose_master_is_lost(group: Group, slave: ConsumerBroker, release: str) -> None:
    """Once the route shows it no more: with pulls, ids, and offsets, which go to the slave as there is no other."""
    for broker in (group.broker, slave):
        broker.put("T", 0, "a")
    with group.consuming(release=release, **OFTEN):
        group.wait_for(lambda: ("T", "a", 0) in group.seen and len(group.owned) == 2)
        lose_the_master(group, slave)
        slave.put("T", 0, "b")
        group.wait_for(lambda: (OffsetEvent.UPDATE, T0, 2) in group.events)
        asked = len(group.shares)
        group.wait_for(lambda: len(group.shares) > asked)
        assert T0 in group.owned
    assert flags(slave) == {0}
    assert slave.committed["T", 0] == 2
    assert [body for _, body, _ in group.seen] == ["a", "b"]


def test_a_master_that_is_back_is_asked_again(group: Group, slave: ConsumerBroker) -> None:
    """With the route that shows it, and with offsets too."""
    for broker in (group.broker, slave):
        broker.put("T", 0, "a")
    with group.consuming(**OFTEN):
        group.wait_for(lambda: ("T", "a", 0) in group.seen and len(group.owned) == 2)
        lose_the_master(group, slave)
        slave.put("T", 0, "b")
        group.wait_for(lambda: ("T", "b", 0) in group.seen)
        group.broker.put("T", 0, "b", "c")
        group.broker.come_back()
        show(group.cluster, {0: group.broker, 1: slave})
        group.wait_for(lambda: (OffsetEvent.UPDATE, T0, 3) in group.events)
    group.wait_for(lambda: group.broker.committed.get(("T", 0)) == 3)
    assert [body for _, body, _ in group.seen] == ["a", "b", "c"]


def test_a_new_queue_of_a_lost_master_begins_at_the_slaves_offset(group: Group, slave: ConsumerBroker) -> None:
    """The slave knows the group's offset, and it alone has the messages."""
    show(group.cluster, {1: slave})
    slave.put("T", 0, "a", "b")
    slave.committed["T", 0] = 1
    consumer = group.member("5.3.3")
    slave.ids = group.broker.ids
    consumer.start()
    group.wait_for(lambda: bool(group.seen))
    consumer.shutdown()
    assert [body for _, body, _ in group.seen] == ["b"]
    assert not group.broker.requests
