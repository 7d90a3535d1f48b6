"""The live producer's asynchronous sends: callbacks, retries and thrown exceptions."""

import threading
import time

import pytest

from rocketmq_reference.api.message import SendResult
from rocketmq_reference.client.message import Message
from rocketmq_reference.remoting.errors import (
    CompletionException,
    MQClientException,
    RemotingSendRequestException,
    RemotingTooMuchRequestException,
)
from tests.reference_impl.fake_broker import FakeCluster, HangUp, Silence
from tests.reference_impl.producers import CalledBack, Remembered, connect, producer_of

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


def test_many_sends_at_once() -> None:
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


def test_a_selector(cluster: FakeCluster) -> None:
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
def test_an_unknown_topic(cluster: FakeCluster, release: str, is_thrown: bool) -> None:
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
