"""The live producer with many threads: every call ends, and shutdown ends everything."""

import contextlib
import threading
from collections import Counter
from functools import partial

import pytest

from rocketmq_reference.api.message import SendResult
from rocketmq_reference.api.producer import Producer
from rocketmq_reference.client.message import Message
from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.errors import RocketMQException
from rocketmq_reference.rules.client.publish import Queue
from tests import live
from tests.reference_impl.fake_broker import FakeCluster, HangUp, Late
from tests.reference_impl.producers import CalledBack, producer_of

_SENDS = 60
_PATIENCE_S = 30


class _Counting:
    """Counts the callbacks of each send."""

    def __init__(self) -> None:
        self.told: Counter[int] = Counter()

    def of(self, number: int) -> "_One":
        return _One(self, number)


class _One:
    def __init__(self, counting: _Counting, number: int) -> None:
        self._counting = counting
        self._number = number

    def on_success(self, _result: SendResult) -> None:
        self._counting.told[self._number] += 1

    def on_exception(self, _error: Exception) -> None:
        self._counting.told[self._number] += 1


await_that = partial(live.await_that, within_s=_PATIENCE_S)


@pytest.mark.parametrize("release", ["5.2.0", "5.3.3"])
def test_every_send_ends_once_while_connections_are_lost(cluster: FakeCluster, release: str) -> None:
    """Synchronous, asynchronous and one-way sends share connections that are lost repeatedly; every send ends once."""
    for broker in cluster.brokers.values():
        broker.script.extend([Late(0.01), HangUp(reset=True)] * 30)
    counting, ended = _Counting(), Counter[str]()

    def wait_for_each(producer: Producer) -> None:
        for _ in range(_SENDS):
            try:
                producer.send(Message("T", bytes(20_000)))
            except RocketMQException:
                ended["failed"] += 1
            else:
                ended["sent"] += 1

    def wait_for_none(producer: Producer) -> None:
        for number in range(_SENDS):
            producer.send_async(Message("T", b"x"), counting.of(number))
            with contextlib.suppress(RocketMQException):  # to 5.2.0, if the connection was just lost
                producer.send_oneway(Message("T", b"x"))

    with producer_of(cluster, release, heartbeat_broker_interval_ms=5, first_heartbeat_ms=1) as producer:
        threads = [threading.Thread(target=wait_for_each, args=(producer,)) for _ in range(3)]
        threads.append(threading.Thread(target=wait_for_none, args=(producer,)))
        for each in threads:
            each.start()
        for each in threads:
            each.join(_PATIENCE_S)
        assert not any(each.is_alive() for each in threads)
        await_that(lambda: len(counting.told) == _SENDS)
    assert ended["sent"] + ended["failed"] == 3 * _SENDS and ended["sent"] > 0
    assert set(counting.told.values()) == {1}


def test_shutting_down_ends_what_waits(cluster: FakeCluster) -> None:
    """Shutdown ends waiting calls before their timeout, calls back asynchronous sends, and ends all threads."""
    cluster["a"].silent = True
    reported, raised = CalledBack(), list[Exception]()

    def wait_long(producer: Producer) -> None:
        try:
            producer.send_to_queue(Message("T", b"x"), Queue("broker-a", 0), 600_000)
        except RocketMQException as error:
            raised.append(error)

    before = set(threading.enumerate())
    producer = producer_of(cluster, "5.5.0").start()
    producer.queues("T")
    waiting = threading.Thread(target=wait_long, args=(producer,))
    waiting.start()
    producer.send_async_to_queue(Message("T", b"x"), Queue("broker-a", 0), reported, 600_000)
    await_that(lambda: len(cluster["a"].requests_of(RequestCode.SEND_MESSAGE_V2)) == 2)
    producer.shutdown()
    waiting.join(_PATIENCE_S)
    assert len(raised) == 1 and isinstance(reported.error(), RocketMQException)
    servers = ("Thread-",)  # threads of the fake servers
    await_that(lambda: all(one.name.startswith(servers) for one in set(threading.enumerate()) - before))
