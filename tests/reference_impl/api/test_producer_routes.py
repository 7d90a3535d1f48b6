"""The live producer and its name servers: new topics, changed routes, failing name servers, heartbeats."""

import json
import time
from collections.abc import Callable

import pytest

from rocketmq_reference.client.message import Message
from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.errors import IllegalStateException, MQClientException
from tests.reference_impl.fake_broker import FakeCluster, FakeNameServer
from tests.reference_impl.producers import Remembered, producer_of


def _await(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, f"not seen in 10 s: {what}"
        time.sleep(0.002)


def test_new_topic_takes_the_route_of_the_default_topic(cluster: FakeCluster) -> None:
    """A new topic uses the route of TBW102 with at most four queues per broker."""
    cluster.set_route("TBW102", {"broker-a": 8, "broker-b": 2})
    with producer_of(cluster) as producer:
        producer.send(Message("New", b"x"))
        assert [queue.broker[-1] for queue in producer.queues("New")] == list("aaaabb")
    assert cluster["a"].stored[0].fields["defaultTopicQueueNums"] == "4"


@pytest.mark.parametrize(("release", "asked"), [("5.1.0", "Key"), ("5.1.1", "TBW102")])
def test_create_topic_key_counts_to_5_1_0(cluster: FakeCluster, release: str, asked: str) -> None:
    """The create-topic key replaces TBW102 to 5.1.0 only."""
    cluster.set_route("Key", {"broker-a": 1})
    cluster.set_route("TBW102", {"broker-b": 1})
    with producer_of(cluster, release, create_topic_key="Key") as producer:
        producer.send(Message("New", b"x"))
    topics = [request.ext_fields["topic"] for request in cluster.name_server.requests]
    assert topics == ["New", asked]


def test_a_send_without_any_route_fails(cluster: FakeCluster) -> None:
    """Without any route a send fails with code 10005, and a send by selector without a code."""
    with producer_of(cluster) as producer:
        with pytest.raises(MQClientException) as raised:
            producer.send(Message("New", b"x"))
        with pytest.raises(MQClientException) as selected:
            producer.send_by_selector(Message("New", b"x"), lambda queues, *_: queues[0], 0)
    assert (raised.value.code, selected.value.code) == (10005, -1)


@pytest.mark.parametrize("release", ["4.6.0", "5.3.3"])
def test_no_name_server_is_illegal_state_from_4_6(cluster: FakeCluster, release: str) -> None:
    """From 4.6.0 an unreachable name server is IllegalStateException for a new topic, and nothing for a cached one."""
    with producer_of(cluster, release) as producer:
        producer.send(Message("T", b"x"))
        cluster.name_server.refuse()
        with pytest.raises(IllegalStateException):
            producer.send(Message("New", b"x"))
        producer.send(Message("T", b"x"))


def test_paused_name_server_times_out(cluster: FakeCluster) -> None:
    """A silent name server gets one request, which times out after mq_client_api_timeout_ms."""
    cluster.name_server.silent = True
    with (
        producer_of(cluster, mq_client_api_timeout_ms=2_000) as producer,
        pytest.raises(IllegalStateException) as raised,
    ):
        producer.send(Message("T", b"x"))
    assert type(raised.value.__cause__).__name__ == "RemotingTimeoutException"
    _await(lambda: len(cluster.name_server.requests) == 1, "one request")


def test_the_other_name_server_is_tried(cluster: FakeCluster) -> None:
    """To 5.2.0 a call tries all name servers; from 5.3.0 only the next call tries another."""
    dead = FakeNameServer()
    dead.refuse()
    for release, failures in (("5.2.0", 0), ("5.3.3", 1)):
        with producer_of(cluster, release) as producer:
            servers = producer._client.routes.name_servers
            servers.addresses = (dead.address, cluster.name_server.address)
            servers.index = 1  # the dead name server is next
            failed = 0
            while failed < 2:
                try:
                    producer.send(Message("T", b"x"))
                    break
                except IllegalStateException:
                    failed += 1
        assert failed == failures, release
    dead.close()


@pytest.mark.parametrize(
    ("release", "connected"), [("4.9.8", 1), ("5.0.0", 2), ("5.1.1", 2), ("5.2.0", 2), ("5.3.0", 1)]
)
def test_5_0_to_5_2_connect_to_every_name_server(cluster: FakeCluster, release: str, connected: int) -> None:
    """From 5.0.0 to 5.2.0 a client also connects to the name servers that it does not ask."""
    other = FakeNameServer()
    other.routes = cluster.name_server.routes
    with producer_of(cluster, release, further=[other.address]) as producer:
        producer.send(Message("T", b"x"))
        _await(lambda: cluster.name_server.connections + other.connections >= connected, "the connections")
    assert cluster.name_server.connections + other.connections == connected
    other.close()


def test_changed_route_starts_a_new_list(cluster: FakeCluster) -> None:
    """A changed route gives a new publish list with a new version and new counters."""
    heard = Remembered()
    with producer_of(cluster, listener=heard, first_poll_ms=1, poll_name_server_interval_ms=5) as producer:
        producer.send(Message("T", b"x"))
        cluster.set_route("T", {"broker-b": 2})
        _await(lambda: producer.route_version("T") == 2, "the new route")
        assert producer.send(Message("T", b"x")).queue_id == 0
        assert [queue.broker for queue in producer.queues("T")] == ["broker-b"] * 2
    assert [(route.topic, route.route) for route in heard.routes] == [("T", 1), ("T", 2)]


def test_heartbeats_name_client_and_group(cluster: FakeCluster) -> None:
    """Masters get repeated heartbeats with client and group, and an unregister request at the end."""
    with producer_of(
        cluster, "4.7.1", first_heartbeat_ms=20, heartbeat_broker_interval_ms=20, unregister_on_shutdown=True
    ) as producer:
        producer.queues("T")
        _await(lambda: len(cluster["b"].requests_of(RequestCode.HEART_BEAT)) > 1, "two heartbeats")
    (beat, *_) = cluster["a"].requests_of(RequestCode.HEART_BEAT)
    (farewell,) = cluster["a"].requests_of(RequestCode.UNREGISTER_CLIENT)
    body = json.loads(beat.body)
    assert (body["producerDataSet"], body["consumerDataSet"]) == ([{"groupName": "G"}], [])
    assert farewell.ext_fields == {"clientID": body["clientID"], "producerGroup": "G"}
