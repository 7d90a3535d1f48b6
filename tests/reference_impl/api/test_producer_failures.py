"""The live producer with failing brokers: retries, exceptions, connections, avoidance."""

import threading
import time

import pytest

from rocketmq_reference.api.message import Message
from rocketmq_reference.remoting.errors import (
    MQBrokerException,
    MQClientException,
    RemotingConnectException,
    RemotingException,
    RemotingSendRequestException,
    RemotingTimeoutException,
    RemotingTooMuchRequestException,
)
from rocketmq_reference.rules.client.publish import Queue
from tests.live import await_that
from tests.reference_impl.fake_broker import Answer, FakeCluster, HangUp, Late, Silence
from tests.reference_impl.producers import Remembered, connect, producer_of

_T_MS = 500  # a timeout that elapses in tests; enough to write on an open connection
_ENOUGH_MS = 1_000  # elapses too, but is enough for a healthy broker on a busy machine


def test_silent_broker_eats_the_shared_budget() -> None:
    """From 4.3.0 a silent broker uses up the shared timeout, so the call fails without a retry."""
    heard = Remembered()
    with FakeCluster.of("a") as cluster:
        cluster["a"].script.extend([Silence()] * 9)
        with producer_of(cluster, listener=heard, send_msg_timeout_ms=_ENOUGH_MS) as producer:
            connect(producer)
            for _ in range(2):
                with pytest.raises(RemotingTooMuchRequestException):
                    producer.send(Message("T", b"x"))
    assert [event.attempt for event in heard.ended] == [0, 0]


def test_silent_broker_costs_one_attempt_before_4_3(cluster: FakeCluster) -> None:
    """To 4.2.0 every attempt has the whole timeout, so another broker stores the message."""
    heard = Remembered()
    cluster["a"].script.append(Silence())
    cluster.use_vip_ports()
    with producer_of(cluster, "4.1.0-incubating", listener=heard, send_msg_timeout_ms=_ENOUGH_MS) as producer:
        assert producer.send(Message("T", b"x")).broker == "broker-b"
    assert [type(event.error) for event in heard.ended] == [RemotingTimeoutException, type(None)]


def test_per_request_cap_leaves_time_for_another_broker(cluster: FakeCluster) -> None:
    """From 5.3.3 a limit per attempt leaves time for another broker."""
    cluster["a"].script.append(Silence())
    with producer_of(cluster, send_msg_timeout_ms=10_000, send_msg_max_timeout_per_request_ms=_ENOUGH_MS) as producer:
        connect(producer)
        assert producer.send(Message("T", b"x")).broker == "broker-b"


def test_dead_broker_is_retried_elsewhere(cluster: FakeCluster) -> None:
    """A refused connect is retried at the first queue of the other broker."""
    heard = Remembered()
    cluster["a"].refuse()
    with producer_of(cluster, "4.7.1", start=7, listener=heard) as producer:
        assert producer.send(Message("T", b"x")).broker == "broker-b"
    assert heard.attempts == [("a", 0), ("b", 0)]
    assert isinstance(heard.ended[0].error, RemotingConnectException)


@pytest.mark.parametrize("reset", [True, False])
def test_connection_lost_under_way_is_retried(cluster: FakeCluster, reset: bool) -> None:
    """In 5.3.3 a close by the broker, with or without a reset, fails the attempt at once, and another broker is tried."""
    heard = Remembered()
    cluster["a"].script.append(HangUp(reset=reset))
    with producer_of(cluster, listener=heard) as producer:
        assert producer.send(Message("T", b"x")).broker == "broker-b"
    assert isinstance(heard.ended[0].error, RemotingSendRequestException)


def test_three_attempts_at_dead_brokers_end_in_a_client_error(cluster: FakeCluster) -> None:
    """If all brokers are dead, three attempts end in a client error with the last cause's code."""
    cluster["a"].refuse()
    cluster["b"].refuse()
    with producer_of(cluster) as producer, pytest.raises(MQClientException, match=r"Send \[3\] times") as raised:
        producer.send(Message("T", b"x"))
    assert raised.value.code == 10001
    assert isinstance(raised.value.__cause__, RemotingConnectException)


@pytest.mark.parametrize("retries", [0, 1, 10])
def test_a_call_makes_one_attempt_and_its_retries(cluster: FakeCluster, retries: int) -> None:
    """A call makes one attempt and the configured retries; its exception has the broker's code."""
    heard = Remembered()
    for letter in "ab":
        cluster[letter].script.extend([Answer(14, "not now")] * 20)
    producer = producer_of(cluster, listener=heard, retry_times_when_send_failed=retries)
    with producer, pytest.raises(MQClientException) as raised:
        producer.send(Message("T", b"x"))
    assert len(heard.ended) == retries + 1
    assert raised.value.code == 14 and isinstance(raised.value.__cause__, MQBrokerException)


def test_busy_broker_ends_the_call_before_5_3(cluster: FakeCluster) -> None:
    """To 5.2.0 code 2 is thrown unchanged."""
    cluster["a"].script.append(Answer(2, "busy"))
    with producer_of(cluster, "5.2.0") as producer, pytest.raises(MQBrokerException) as raised:
        producer.send(Message("T", b"x"))
    assert (raised.value.code, raised.value.remark, raised.value.broker_address) == (2, "busy", cluster["a"].address)


def test_busy_broker_is_worth_a_retry_from_5_3(cluster: FakeCluster) -> None:
    """From 5.3.0 code 2 is retried at another broker."""
    cluster["a"].script.append(Answer(2, "busy"))
    with producer_of(cluster, "5.3.3") as producer:
        assert producer.send(Message("T", b"x")).broker == "broker-b"


def test_codes_can_be_added(cluster: FakeCluster) -> None:
    """From 4.9.2 an application can add response codes that are retried."""
    cluster["a"].script.append(Answer(13))
    with producer_of(cluster, added_retry_response_codes=frozenset({13})) as producer:
        assert producer.send(Message("T", b"x")).broker == "broker-b"


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


def test_a_broker_without_an_address_is_an_error(cluster: FakeCluster) -> None:
    """A broker without an address is an error without an attempt or event."""
    heard = Remembered()
    producer = producer_of(cluster, listener=heard)
    with producer, pytest.raises(MQClientException, match=r"The broker\[nobody\] not exist"):
        producer.send_to_queue(Message("T", b"x"), Queue("nobody", 0))
    assert not heard.started and not heard.ended


@pytest.mark.parametrize(("release", "avoided_ms"), [("4.9.8", 600_000), ("5.1.3", 600_000), ("5.3.3", 10_000)])
def test_failed_broker_is_avoided(cluster: FakeCluster, release: str, avoided_ms: int) -> None:
    """With fault latency on, a failed broker is avoided for the time of the release."""
    cluster["b"].refuse()
    with producer_of(cluster, release, start=3, send_latency_fault_enable=True) as producer:
        brokers = [producer.send(Message("T", b"x")).broker for _ in range(20)]
        now_ms = time.monotonic_ns() // 1_000_000
        left_ms = producer.faults.items["broker-b"].start_ms - now_ms
    assert set(brokers) == {"broker-a"}
    assert avoided_ms - 10_000 < left_ms <= avoided_ms


@pytest.mark.parametrize(("release", "connections"), [("4.9.0", 1), ("4.9.1", 2), ("5.3.3", 2)])
def test_timeout_costs_the_connection_from_4_9_1(cluster: FakeCluster, release: str, connections: int) -> None:
    """From 4.9.1 a timeout closes the connection."""
    cluster["a"].script.append(Silence())
    with producer_of(cluster, release) as producer:
        connect(producer)
        with pytest.raises(RemotingException):
            producer.send_to_queue(Message("T", b"x"), Queue("broker-a", 0), _T_MS)
        producer.send_to_queue(Message("T", b"x"), Queue("broker-a", 0))
    assert cluster["a"].connections == connections


def test_timeout_of_one_thread_frees_another(cluster: FakeCluster) -> None:
    """From 4.9.1 a timeout closes the connection, so another thread's attempt fails in time for a retry elsewhere."""
    cluster["a"].script.extend([Silence(), Silence()])
    with producer_of(cluster) as producer:
        producer.queues("T")
        results = []
        patient = threading.Thread(target=lambda: results.append(producer.send(Message("T", b"x"), 30_000).broker))
        patient.start()
        while not cluster["a"].requests:
            time.sleep(0.001)
        with pytest.raises(RemotingTimeoutException):
            producer.send_to_queue(Message("T", b"x"), Queue("broker-a", 0), _T_MS)
        patient.join(10)
    assert results == ["broker-b"]


def test_late_answers_are_not_mixed_up(cluster: FakeCluster) -> None:
    """If a connection survives a timeout, the late answer does not end a later send."""
    cluster["a"].script.append(Late(3.0))
    with producer_of(cluster, "4.7.1") as producer:
        connect(producer)
        with pytest.raises(RemotingTimeoutException):
            producer.send_to_queue(Message("T", b"first"), Queue("broker-a", 0), _T_MS)
        result = producer.send_to_queue(Message("T", b"second"), Queue("broker-a", 1))
        await_that(lambda: len(cluster["a"].stored) == 2)
        time.sleep(0.05)  # for the way from the broker to the client
        assert producer.send_to_queue(Message("T", b"third"), Queue("broker-a", 2)).queue_id == 2
    assert result.queue_id == 1


def test_vip_channel_is_two_ports_below(cluster: FakeCluster) -> None:
    """4.2.0 sends messages to the port two below the advertised one; 4.5.1 does not."""
    cluster.use_vip_ports()
    with producer_of(cluster, "4.2.0") as producer:
        assert producer.send(Message("T", b"x")).broker == "broker-a"
    with producer_of(cluster, "4.5.1") as producer, pytest.raises(MQClientException):
        producer.send(Message("T", b"x"))
