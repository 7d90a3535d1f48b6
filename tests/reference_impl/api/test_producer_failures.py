"""The live producer with failing brokers: retries, exceptions, connections, avoidance."""

import pytest

from rocketmq_reference.client.message import Message
from rocketmq_reference.remoting.errors import (
    MQBrokerException,
    MQClientException,
    RemotingConnectException,
    RemotingSendRequestException,
    RemotingTimeoutException,
)
from rocketmq_reference.rules.client.publish import Queue
from tests.reference_impl.fake_broker import Answer, FakeCluster, HangUp, Silence
from tests.reference_impl.producers import Remembered, connect, producer_of

_T_MS = 500  # a timeout that elapses in tests; enough to write on an open connection


@pytest.mark.parametrize("reset", [True, False])
def test_connection_lost_under_way_is_retried(cluster: FakeCluster, reset: bool) -> None:
    """In 5.3.3 a close by the broker, with or without a reset, fails the attempt at once, and another broker is tried."""
    heard = Remembered()
    cluster["a"].script.append(HangUp(reset=reset))
    with producer_of(cluster, listener=heard) as producer:
        assert producer.send(Message("T", b"x")).broker == "broker-b"
    assert isinstance(heard.ended[0].error, RemotingSendRequestException)


def test_all_brokers_dead(cluster: FakeCluster) -> None:
    """If all brokers are dead, three attempts end in a client error with the last cause's code."""
    cluster["a"].refuse()
    cluster["b"].refuse()
    with producer_of(cluster) as producer, pytest.raises(MQClientException, match=r"Send \[3\] times") as raised:
        producer.send(Message("T", b"x"))
    assert raised.value.code == 10001
    assert isinstance(raised.value.__cause__, RemotingConnectException)


def test_busy_broker_ends_the_call_before_5_3(cluster: FakeCluster) -> None:
    """To 5.2.0 code 2 is thrown unchanged."""
    cluster["a"].script.append(Answer(2, "busy"))
    with producer_of(cluster, "5.2.0") as producer, pytest.raises(MQBrokerException) as raised:
        producer.send(Message("T", b"x"))
    assert (raised.value.code, raised.value.remark, raised.value.broker_address) == (2, "busy", cluster["a"].address)


@pytest.mark.parametrize(("code", "status"), [(10, "FLUSH_DISK_TIMEOUT"), (11, "SLAVE_NOT_AVAILABLE")])
def test_stored_less_safely_is_a_result(cluster: FakeCluster, code: int, status: str) -> None:
    """A status other than SEND_OK is a result; if another broker is tried and fails, this result is kept."""
    cluster["a"].script.append(Answer(code))
    with producer_of(cluster) as producer:
        assert producer.send(Message("T", b"x")).status == status
    cluster["a"].script.append(Answer(code))
    cluster["b"].script.append(Answer(13))
    with producer_of(cluster, retry_another_broker_when_not_store_ok=True) as producer:
        result = producer.send(Message("T", b"x"))
        assert (result.status, result.broker) == (status, "broker-a")


def test_a_chosen_queue_has_one_attempt(cluster: FakeCluster) -> None:
    """A chosen queue has one attempt, raises its exception unchanged, and leaves the fault table empty."""
    cluster["a"].script.extend([Silence(), Answer(1, "no")])
    with producer_of(cluster, send_latency_fault_enable=True) as producer:
        connect(producer)
        with pytest.raises(RemotingTimeoutException):
            producer.send_to_queue(Message("T", b"x"), Queue("broker-a", 0), _T_MS)
        with pytest.raises(MQBrokerException):
            producer.send_by_selector(Message("T", b"x"), lambda queues, *_: queues[0], None)
        assert producer.faults.items == {}


def test_a_queue_of_an_unknown_broker(cluster: FakeCluster) -> None:
    """A broker without an address is an error without an attempt or event."""
    heard = Remembered()
    producer = producer_of(cluster, listener=heard)
    with producer, pytest.raises(MQClientException, match=r"The broker\[nobody\] not exist"):
        producer.send_to_queue(Message("T", b"x"), Queue("nobody", 0))
    assert not heard.started and not heard.ended


def test_vip_channel_is_two_ports_below(cluster: FakeCluster) -> None:
    """4.2.0 sends messages to the port two below the advertised one; 4.5.1 does not."""
    cluster.use_vip_ports()
    with producer_of(cluster, "4.2.0") as producer:
        assert producer.send(Message("T", b"x")).broker == "broker-a"
    with producer_of(cluster, "4.5.1") as producer, pytest.raises(MQClientException):
        producer.send(Message("T", b"x"))
