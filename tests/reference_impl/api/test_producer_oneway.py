"""The live producer's one-way sends, which have no result."""

import time
from collections.abc import Callable

import pytest

from rocketmq_reference.client.message import Message
from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.errors import MQClientException
from rocketmq_reference.rules.client.publish import Queue
from tests.reference_impl.fake_broker import FakeBroker, FakeCluster, HangUp
from tests.reference_impl.producers import producer_of


def eventually(happened: Callable[[], bool]) -> bool:
    """Return whether the condition holds within 10 s."""
    end = time.monotonic() + 10
    while not happened() and time.monotonic() < end:
        time.sleep(0.002)
    return happened()


def bodies(broker: FakeBroker) -> list[bytes]:
    return [stored.body for stored in broker.stored]


@pytest.mark.parametrize("release", ["4.0.0-incubating", "4.9.8", "5.2.0", "5.3.0", "5.5.0"])
def test_it_is_written_once(cluster: FakeCluster, release: str) -> None:
    """A one-way send writes one request, marked as one-way, to the thread's next queue."""
    with producer_of(cluster, release, start=7, vip_channel_enabled=False) as producer:
        producer.send_oneway(Message("T", b"1"))
        producer.send_oneway(Message("T", b"2"))
        assert eventually(lambda: bodies(cluster["a"]) == [b"1", b"2"])
    requests = cluster["a"].requests_of(RequestCode.SEND_MESSAGE_V2)
    assert [request.is_oneway for request in requests] == [True, True]
    assert [stored.queue_id for stored in cluster["a"].stored] == [0, 1]


def test_a_given_and_a_selected_queue(cluster: FakeCluster) -> None:
    """A one-way send accepts a given queue and a selector, as a synchronous one does."""
    with producer_of(cluster) as producer:
        producer.send_oneway_to_queue(Message("T", b"given"), Queue("broker-b", 2))
        producer.send_oneway_by_selector(Message("T", b"chosen"), lambda queues, *_: queues[7], None)
        assert eventually(lambda: sorted(bodies(cluster["b"])) == [b"chosen", b"given"])
    assert sorted(stored.queue_id for stored in cluster["b"].stored) == [2, 3]


def test_a_broker_that_hangs_up(cluster: FakeCluster) -> None:
    """A closed connection is no error; a later send connects again."""
    cluster["a"].script.append(HangUp(reset=True))
    with producer_of(cluster) as producer:
        producer.send_oneway_to_queue(Message("T", b"x"), Queue("broker-a", 0))
        assert eventually(lambda: len(cluster["a"].requests_of(RequestCode.SEND_MESSAGE_V2)) == 1)

        def arrives() -> bool:
            """Requests written before the client sees the close are lost."""
            producer.send_oneway_to_queue(Message("T", b"y"), Queue("broker-a", 0))
            return bool(bodies(cluster["a"]))

        assert eventually(arrives)
    assert set(bodies(cluster["a"])) == {b"y"}


def test_an_unknown_topic_and_a_stopped_client_raise(cluster: FakeCluster) -> None:
    """An unknown topic and a stopped client raise MQClientException."""
    with producer_of(cluster) as producer, pytest.raises(MQClientException, match="No route"):
        producer.send_oneway(Message("Unknown", b"x"))
    with pytest.raises(MQClientException):
        producer.send_oneway(Message("T", b"x"))
