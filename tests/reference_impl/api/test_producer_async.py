"""The live producer's asynchronous sends: callbacks, retries and thrown exceptions."""

import threading
import time

import pytest

from rocketmq_reference.api.message import Message, SendResult
from rocketmq_reference.api.producer import Producer
from rocketmq_reference.remoting.errors import (
    CompletionException,
    MQBrokerException,
    MQClientException,
    RemotingConnectException,
    RemotingSendRequestException,
    RemotingTimeoutException,
    RemotingTooMuchRequestException,
)
from rocketmq_reference.rules.client.publish import Queue
from tests.live import await_that
from tests.reference_impl.fake_broker import Answer, FakeCluster, HangUp, Silence
from tests.reference_impl.producers import CalledBack, Remembered, connect, producer_of, scan

_T_MS = 500
"""A timeout that elapses in tests; enough on a busy machine to begin an attempt on an open connection."""

EVERY = ("4.0.0-incubating", "4.1.0-incubating", "4.3.0", "4.4.0", "4.9.8", "5.1.4", "5.2.0", "5.3.0", "5.3.3", "5.5.0")


@pytest.mark.parametrize("release", EVERY)
def test_a_result_is_called_back(cluster: FakeCluster, release: str) -> None:
    """A successful send calls back with its result in every release."""
    reported = CalledBack()
    with producer_of(cluster, release, start=7, vip_channel_enabled=False) as producer:
        producer.send_async(Message("T", b"x"), reported)
        result = reported.result()
    assert (result.broker, result.queue_id) == ("broker-a", 0)
    assert [stored.body for stored in cluster["a"].stored] == [b"x"]


def test_each_of_many_sends_is_stored_and_called_back_once() -> None:
    """Each of 100 concurrent sends is stored once, at its own queue offset, and calls back once."""
    with FakeCluster.of("a", "b") as cluster, producer_of(cluster) as producer:
        reported = [CalledBack() for _ in range(100)]
        for number, callback in enumerate(reported):
            producer.send_async(Message("T", str(number).encode()), callback)
        results = [callback.result() for callback in reported]
        stored = cluster["a"].stored + cluster["b"].stored
    assert sorted(int(one.body) for one in stored) == list(range(100))
    assert len({(result.broker, result.queue_id, result.queue_offset) for result in results}) == 100
    assert all(callback.is_quiet for callback in reported)


def test_an_exception_of_a_callback_affects_no_send(cluster: FakeCluster) -> None:
    """An exception of a callback affects no send, as in Java."""

    class Clumsy(CalledBack):
        def on_success(self, result: SendResult) -> None:
            super().on_success(result)
            raise ValueError

    clumsy, reported = Clumsy(), CalledBack()
    with producer_of(cluster) as producer:
        producer.send_async(Message("T", b"clumsy"), clumsy)
        clumsy.result()
        producer.send_async(Message("T", b"x"), reported)
        reported.result()
    assert clumsy.is_quiet and reported.is_quiet, "each is told once"
    assert [stored.body for stored in cluster["a"].stored] == [b"clumsy", b"x"]


def test_callbacks_come_from_threads_of_the_client(cluster: FakeCluster) -> None:
    """Callbacks run in threads of the client's pool, and may send again."""
    names: list[str] = []
    again = CalledBack()
    with producer_of(cluster) as producer:

        class Sending(CalledBack):
            def on_success(self, result: SendResult) -> None:
                names.append(threading.current_thread().name)
                producer.send_async(Message("T", b"again"), again)
                super().on_success(result)

        first = Sending()
        producer.send_async(Message("T", b"x"), first)
        first.result()
        again.result()
    assert names[0].startswith("NettyClientPublicExecutor")


@pytest.mark.parametrize("release", ["4.9.8", "5.3.3"])
def test_an_error_answer_is_not_retried(cluster: FakeCluster, release: str) -> None:
    """A broker's error is not retried, even with a retryable code; the callback gets MQBrokerException."""
    cluster["a"].script.append(Answer(14, "busy"))
    reported, heard = CalledBack(), Remembered()
    with producer_of(cluster, release, start=7, vip_channel_enabled=False, listener=heard) as producer:
        producer.send_async(Message("T", b"x"), reported)
        error = reported.error()
    assert isinstance(error, MQBrokerException) and error.code == 14
    assert heard.attempts == [("a", 0)]


@pytest.mark.parametrize(
    ("release", "cause"),
    [("4.9.8", None), ("5.2.0", CompletionException), ("5.3.2", RemotingSendRequestException)],
)
def test_a_lost_connection_is_retried_with_the_thread_it_is_noticed_in(
    cluster: FakeCluster, release: str, cause: type[Exception] | None
) -> None:
    """A retry uses the counter of the thread that sees the loss; the last exception has a cause from 5.2.0."""
    for broker in (cluster["a"], cluster["b"]):
        broker.script.extend([HangUp(reset=True)] * 3)
    reported, heard = CalledBack(), Remembered()
    with producer_of(cluster, release, start=7, vip_channel_enabled=False, listener=heard) as producer:
        producer.send_async(Message("T", b"x"), reported)
        error = reported.error()
    assert isinstance(error, MQClientException)
    assert type(error.__cause__) is (cause or type(None))
    assert [number for _, number in heard.attempts] == [0, 0, 0]
    assert [broker for broker, _ in heard.attempts][:2] == ["a", "b"]


def test_a_retry_succeeds_elsewhere(cluster: FakeCluster) -> None:
    """A retry goes to another broker and keeps the queue id."""
    cluster["a"].script.append(HangUp())
    reported = CalledBack()
    with producer_of(cluster) as producer:
        producer.send_async(Message("T", b"x"), reported)
        assert reported.result().broker == "broker-b"
    assert [stored.queue_id for stored in cluster["b"].stored] == [0]


@pytest.mark.parametrize(
    ("release", "attempts", "raised"),
    [("4.2.0", 3, MQClientException), ("4.9.8", 3, RemotingTooMuchRequestException), ("5.3.2", 1, MQClientException)],
)
def test_a_timeout_is_retried_up_to_5_3_1(
    cluster: FakeCluster, release: str, attempts: int, raised: type[Exception]
) -> None:
    """A timeout is seen a second late; the send is retried to 5.3.1, mostly in vain, and not from 5.3.2."""
    for broker in (cluster["a"], cluster["b"]):
        broker.script.extend([Silence()] * 3)
    reported, heard = CalledBack(), Remembered()
    with producer_of(cluster, release, start=7, vip_channel_enabled=False, listener=heard) as producer:
        connect(producer)
        began = time.monotonic()
        producer.send_async(Message("T", b"x"), reported, _T_MS)
        error = reported.error(scanning=producer)
        assert time.monotonic() - began > 1
    assert isinstance(error, raised)
    assert len(heard.attempts) == attempts
    assert isinstance(heard.ended[0].error, RemotingTimeoutException)


@pytest.mark.parametrize(
    ("release", "attempts"), [("4.1.0-incubating", None), ("4.9.2", 1), ("4.9.3", 3), ("5.2.0", 3), ("5.3.0", 3)]
)
def test_a_refused_connect_is_retried_from_4_9_3(release: str, attempts: int | None) -> None:
    """A refused connect is thrown to 4.2.0, calls back at once to 4.9.2, and is retried later."""
    reported, heard = CalledBack(), Remembered()
    with (
        FakeCluster.of("a") as cluster,
        producer_of(cluster, release, start=7, vip_channel_enabled=False, listener=heard) as producer,
    ):
        cluster["a"].refuse()
        if attempts is None:
            with pytest.raises(MQClientException) as raised:
                producer.send_async(Message("T", b"x"), reported)
            assert raised.value.code == 10_001
            return
        producer.send_async(Message("T", b"x"), reported)
        error = reported.error()
    assert isinstance(error, MQClientException | RemotingConnectException)
    assert len(heard.attempts) == attempts
    assert all(isinstance(event.error, RemotingConnectException) for event in heard.ended)


def test_in_5_3_0_a_retry_that_is_too_late_calls_back_twice() -> None:
    """In 5.3.0 a retry without time left fails, is sent all the same, and calls back twice."""
    reported = CalledBack()
    with FakeCluster.of("a") as cluster:
        cluster["a"].script.extend([Silence()] * 2)
        with producer_of(cluster, "5.3.0", retry_times_when_send_async_failed=1) as producer:
            connect(producer)
            producer.send_async(Message("T", b"x"), reported, _T_MS)
            first, second = reported.error(scanning=producer), reported.error(scanning=producer)
    causes = [type(error.__cause__) for error in (first, second)]
    assert causes == [RemotingTooMuchRequestException, CompletionException]


def has_ended(producer: Producer, heard: Remembered) -> bool:
    scan(producer)
    return bool(heard.attempts)


@pytest.mark.parametrize(("release", "attempts"), [("4.0.0-incubating", None), ("4.1.0-incubating", 3), ("5.3.3", 1)])
def test_a_given_queue_is_retried_at_its_broker(cluster: FakeCluster, release: str, attempts: int | None) -> None:
    """A given queue is retried at its broker in 4.1.0, not without time left in 5.3.3; 4.0.0 never calls back."""
    cluster["b"].script.extend([Silence()] * 3)
    reported, heard = CalledBack(), Remembered()
    with producer_of(cluster, release, vip_channel_enabled=False, listener=heard) as producer:
        connect(producer)
        producer.send_async_to_queue(Message("T", b"x"), Queue("broker-b", 3), reported, _T_MS)
        if attempts is None:
            await_that(lambda: has_ended(producer, heard))
            time.sleep(0.05)
            assert reported.is_quiet
        else:
            reported.error(scanning=producer)
    assert heard.attempts == [("b", 3)] * (attempts or 1)


def test_a_selector_chooses_the_queue(cluster: FakeCluster) -> None:
    """A selector chooses the queue; its None is an error for the callback, with or without a timeout."""
    reported = CalledBack()
    with producer_of(cluster) as producer:
        for timeout_ms in (None, 3_000):
            producer.send_async_by_selector(
                Message("T", b"x"), lambda queues, *_: queues[5], None, reported, timeout_ms
            )
            assert reported.result().broker == "broker-b"
            producer.send_async_by_selector(Message("T", b"x"), lambda *_: None, 0, reported, timeout_ms)
            assert "return null" in str(reported.error())


@pytest.mark.parametrize(("release", "is_thrown"), [("4.1.0-incubating", True), ("4.3.0", False), ("5.3.3", False)])
def test_an_error_before_the_first_attempt_calls_back_from_4_3_0(
    cluster: FakeCluster, release: str, is_thrown: bool
) -> None:
    """An error before the first attempt is thrown to 4.2.0, and calls back from 4.3.0 on."""
    reported = CalledBack()
    with producer_of(cluster, release) as producer:
        if is_thrown:
            with pytest.raises(MQClientException, match="No route"):
                producer.send_async(Message("Unknown", b"x"), reported)
            return
        producer.send_async(Message("Unknown", b"x"), reported)
        error = reported.error()
    assert isinstance(error, MQClientException) and error.code == 10_005


def test_after_shutdown_nothing_is_sent(cluster: FakeCluster) -> None:
    """An asynchronous send after shutdown raises MQClientException."""
    reported = CalledBack()
    producer = producer_of(cluster).start()
    producer.shutdown()
    with pytest.raises(MQClientException):
        producer.send_async(Message("T", b"x"), reported)


def test_a_failed_send_leaves_its_trace_where_avoidance_is_on(cluster: FakeCluster) -> None:
    """With fault latency on, a broker that hung up is avoided."""
    cluster["a"].script.append(HangUp())
    reported = CalledBack()
    with producer_of(cluster, send_latency_fault_enable=True) as producer:
        connect(producer)
        producer.send_async(Message("T", b"x"), reported)
        reported.result()
        now_ms = time.monotonic_ns() // 1_000_000
        assert not producer.faults.is_available("broker-a", now_ms)
        assert producer.faults.is_available("broker-b", now_ms)
