"""The live producer's asynchronous sends: who is told what, what is retried where, and what is thrown."""

import threading
import time

import pytest

from rocketmq_reference.application.message import Message, SendResult
from rocketmq_reference.producer.producer import Producer
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
from tests.reference_impl.producers import CalledBack, Remembered, producer_of, scan

EVERY = ("4.0.0-incubating", "4.1.0-incubating", "4.3.0", "4.4.0", "4.9.8", "5.1.4", "5.2.0", "5.3.0", "5.3.3", "5.5.0")


@pytest.mark.parametrize("release", EVERY)
def test_a_result_is_called_back(cluster: FakeCluster, release: str) -> None:
    """In every release, whatever thread it runs in."""
    told = CalledBack()
    with producer_of(cluster, release, start=7, vip_channel_enabled=False) as producer:
        producer.send_async(Message("T", b"x"), told)
        result = told.result()
    assert (result.broker, result.queue_id) == ("broker-a", 0)
    assert [stored.body for stored in cluster["a"].stored] == [b"x"]


def test_many_sends_at_once() -> None:
    """Each is told once, and a thread that goes through the queues keeps its place."""
    with FakeCluster.of("a", "b") as cluster, producer_of(cluster) as producer:
        told = [CalledBack() for _ in range(100)]
        for number, callback in enumerate(told):
            producer.send_async(Message("T", str(number).encode()), callback)
        results = [callback.result() for callback in told]
        stored = cluster["a"].stored + cluster["b"].stored
    assert sorted(int(one.body) for one in stored) == list(range(100))
    assert len({(result.broker, result.queue_id, result.queue_offset) for result in results}) == 100
    assert all(callback.is_quiet for callback in told)


def test_a_callback_that_raises_disturbs_nobody(cluster: FakeCluster) -> None:
    """As in Java."""

    class Clumsy(CalledBack):
        def on_success(self, result: SendResult) -> None:
            super().on_success(result)
            raise ValueError

    clumsy, told = Clumsy(), CalledBack()
    with producer_of(cluster) as producer:
        producer.send_async(Message("T", b"clumsy"), clumsy)
        clumsy.result()
        producer.send_async(Message("T", b"x"), told)
        told.result()
    assert clumsy.is_quiet and told.is_quiet, "each is told once"
    assert [stored.body for stored in cluster["a"].stored] == [b"clumsy", b"x"]


def test_callbacks_come_from_threads_of_the_client(cluster: FakeCluster) -> None:
    """So that they may take their time, and send again."""
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
    """Not even one that a synchronous send would retry; and the callback gets the broker's own exception."""
    cluster["a"].script.append(Answer(14, "busy"))
    told, heard = CalledBack(), Remembered()
    with producer_of(cluster, release, start=7, vip_channel_enabled=False, listener=heard) as producer:
        producer.send_async(Message("T", b"x"), told)
        error = told.error()
    assert isinstance(error, MQBrokerException) and error.code == 14
    assert heard.attempts == [("a", 0)]


@pytest.mark.parametrize(
    ("release", "cause"),
    [("4.9.8", None), ("5.2.0", CompletionException), ("5.3.2", RemotingSendRequestException)],
)
def test_a_lost_connection_is_retried_with_the_thread_it_is_noticed_in(
    cluster: FakeCluster, release: str, cause: type[Exception] | None
) -> None:
    """That thread's counter has its own start; after the last retry the callback learns a cause from 5.2.0 on."""
    for broker in (cluster["a"], cluster["b"]):
        broker.script.extend([HangUp(reset=True)] * 3)
    told, heard = CalledBack(), Remembered()
    with producer_of(cluster, release, start=7, vip_channel_enabled=False, listener=heard) as producer:
        producer.send_async(Message("T", b"x"), told)
        error = told.error()
    assert isinstance(error, MQClientException)
    assert type(error.__cause__) is (cause or type(None))
    assert [number for _, number in heard.attempts] == [0, 0, 0]
    assert [broker for broker, _ in heard.attempts][:2] == ["a", "b"]


def test_a_retry_succeeds_elsewhere(cluster: FakeCluster) -> None:
    """And keeps its queue's number."""
    cluster["a"].script.append(HangUp())
    told = CalledBack()
    with producer_of(cluster) as producer:
        producer.send_async(Message("T", b"x"), told)
        assert told.result().broker == "broker-b"
    assert [stored.queue_id for stored in cluster["b"].stored] == [0]


@pytest.mark.parametrize(
    ("release", "attempts", "told_of"),
    [("4.2.0", 3, MQClientException), ("4.9.8", 3, RemotingTooMuchRequestException), ("5.3.2", 1, MQClientException)],
)
def test_a_silent_broker(cluster: FakeCluster, release: str, attempts: int, told_of: type[Exception]) -> None:
    """Noticed a second late at the earliest; retried to 5.3.1, mostly in vain, and not at all from 5.3.2 on."""
    for broker in (cluster["a"], cluster["b"]):
        broker.script.extend([Silence()] * 3)
    told, heard = CalledBack(), Remembered()
    with producer_of(cluster, release, start=7, vip_channel_enabled=False, listener=heard) as producer:
        began = time.monotonic()
        producer.send_async(Message("T", b"x"), told, 300)
        error = told.error(scanning=producer)
        assert time.monotonic() - began > 1
    assert isinstance(error, told_of)
    assert len(heard.attempts) == attempts
    assert isinstance(heard.ended[0].error, RemotingTimeoutException)


@pytest.mark.parametrize(
    ("release", "attempts"), [("4.1.0-incubating", None), ("4.9.2", 1), ("4.9.3", 3), ("5.2.0", 3), ("5.3.0", 3)]
)
def test_a_dead_broker(release: str, attempts: int | None) -> None:
    """Thrown to 4.2.0, told at once to 4.9.2, then retried."""
    told, heard = CalledBack(), Remembered()
    with (
        FakeCluster.of("a") as cluster,
        producer_of(cluster, release, start=7, vip_channel_enabled=False, listener=heard) as producer,
    ):
        cluster["a"].refuse()
        if attempts is None:
            with pytest.raises(MQClientException) as raised:
                producer.send_async(Message("T", b"x"), told)
            assert raised.value.code == 10_001
            return
        producer.send_async(Message("T", b"x"), told)
        error = told.error()
    assert isinstance(error, MQClientException | RemotingConnectException)
    assert len(heard.attempts) == attempts
    assert all(isinstance(event.error, RemotingConnectException) for event in heard.ended)


def test_in_5_3_0_a_retry_that_is_too_late_calls_back_twice() -> None:
    """It fails for want of time, and is sent on all the same."""
    told = CalledBack()
    with FakeCluster.of("a") as cluster:
        cluster["a"].script.extend([Silence()] * 2)
        with producer_of(cluster, "5.3.0", retry_times_when_send_async_failed=1) as producer:
            producer.send_async(Message("T", b"x"), told, 300)
            first, second = told.error(scanning=producer), told.error(scanning=producer)
    causes = [type(error.__cause__) for error in (first, second)]
    assert causes == [RemotingTooMuchRequestException, CompletionException]


def has_ended(producer: Producer, heard: Remembered) -> bool:
    """Whether an attempt has, after another look for expired requests."""
    scan(producer)
    return bool(heard.attempts)


@pytest.mark.parametrize(("release", "attempts"), [("4.0.0-incubating", None), ("4.1.0-incubating", 3), ("5.3.3", 1)])
def test_a_given_queue(cluster: FakeCluster, release: str, attempts: int | None) -> None:
    """Is retried at its own broker while there is time or nobody looks; in 4.0.0 the retry dies and nobody is told."""
    cluster["b"].script.extend([Silence()] * 3)
    told, heard = CalledBack(), Remembered()
    with producer_of(cluster, release, vip_channel_enabled=False, listener=heard) as producer:
        producer.send_async_to_queue(Message("T", b"x"), Queue("broker-b", 3), told, 300)
        if attempts is None:
            await_that(lambda: has_ended(producer, heard))
            time.sleep(0.05)
            assert told.is_quiet
        else:
            told.error(scanning=producer)
    assert heard.attempts == [("b", 3)] * (attempts or 1)


def test_a_selector(cluster: FakeCluster) -> None:
    """Chooses from a copy of the list; what it raises is told, with or without a timeout."""
    told = CalledBack()
    with producer_of(cluster) as producer:
        for timeout_ms in (None, 3_000):
            producer.send_async_by_selector(Message("T", b"x"), lambda queues, *_: queues[5], None, told, timeout_ms)
            assert told.result().broker == "broker-b"
            producer.send_async_by_selector(Message("T", b"x"), lambda *_: None, 0, told, timeout_ms)
            assert "return null" in str(told.error())


@pytest.mark.parametrize(("release", "is_thrown"), [("4.1.0-incubating", True), ("4.3.0", False), ("5.3.3", False)])
def test_an_unknown_topic(cluster: FakeCluster, release: str, is_thrown: bool) -> None:
    """What prevents the first attempt is thrown to 4.2.0, and told later."""
    told = CalledBack()
    with producer_of(cluster, release) as producer:
        if is_thrown:
            with pytest.raises(MQClientException, match="No route"):
                producer.send_async(Message("Unknown", b"x"), told)
            return
        producer.send_async(Message("Unknown", b"x"), told)
        error = told.error()
    assert isinstance(error, MQClientException) and error.code == 10_005


def test_after_shutdown_nothing_is_sent(cluster: FakeCluster) -> None:
    """The call says so."""
    told = CalledBack()
    producer = producer_of(cluster).start()
    producer.shutdown()
    with pytest.raises(MQClientException):
        producer.send_async(Message("T", b"x"), told)


def test_a_failed_send_leaves_its_trace_where_avoidance_is_on(cluster: FakeCluster) -> None:
    """The broker is avoided, and the one that answered is not."""
    cluster["a"].script.append(HangUp())
    told = CalledBack()
    with producer_of(cluster, send_latency_fault_enable=True) as producer:
        producer.send_async(Message("T", b"x"), told)
        told.result()
        now_ms = time.monotonic_ns() // 1_000_000
        assert not producer.faults.is_available("broker-a", now_ms)
        assert producer.faults.is_available("broker-b", now_ms)
