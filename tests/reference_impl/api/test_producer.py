"""The live producer without failures: stored messages, queues and results."""

import threading

import pytest

from rocketmq_reference.client.message import Message
from rocketmq_reference.remoting.batch import decode_batch
from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.errors import MQClientException
from rocketmq_reference.remoting.frames import Serialization
from rocketmq_reference.remoting.messages import decompress
from rocketmq_reference.remoting.properties import decode_properties
from rocketmq_reference.rules.client.publish import Queue
from tests.reference_impl.fake_broker import FakeCluster
from tests.reference_impl.producers import Remembered, producer_of


@pytest.mark.parametrize("serialization", list(Serialization))
def test_sends_rotate_over_the_publish_list(cluster: FakeCluster, serialization: Serialization) -> None:
    """Sends take the queues in turn, grouped by broker, from the queue after the thread's random start."""
    with producer_of(cluster, serialization=serialization) as producer:
        results = [producer.send(Message("T", b"x")) for _ in range(9)]
    assert [(result.broker[-1], result.queue_id) for result in results] == [
        *(("a", 0), ("a", 1), ("a", 2), ("a", 3)),
        *(("b", 0), ("b", 1), ("b", 2), ("b", 3)),
        ("a", 0),
    ]
    assert (results[8].status, results[8].queue_offset) == ("SEND_OK", 1)


def test_the_stored_message_is_the_sent_one(cluster: FakeCluster) -> None:
    """The stored message has the body, flag, tags, keys, own properties, WAIT and message id."""
    with producer_of(cluster, start=3) as producer:
        result = producer.send(Message("T", b"hello", {"own": "ü"}, 7, tags="tag", keys="k1 k2"))
    (stored,) = cluster["b"].stored
    assert (stored.topic, stored.body, stored.fields["flag"]) == ("T", b"hello", "7")
    assert (stored.fields["producerGroup"], stored.fields["defaultTopic"]) == ("G", "TBW102")
    assert decode_properties(stored.fields["properties"]) == {
        "own": "ü",
        "TAGS": "tag",
        "KEYS": "k1 k2",
        "WAIT": "true",
        "UNIQ_KEY": result.message_id,
    }


def test_a_message_keeps_its_id(cluster: FakeCluster) -> None:
    """A message that is sent twice keeps its id, as in Java."""
    message = Message("T", b"x", wait_store_msg_ok=False)
    with producer_of(cluster) as producer:
        first, second = producer.send(message), producer.send(message)
    assert first.message_id == second.message_id == message.unique_key
    assert message.properties["WAIT"] == "false"


@pytest.mark.parametrize(("release", "sys_flag"), [("4.9.3", 0x1), ("4.9.8", 0x301), ("5.3.3", 0x301)])
def test_bodies_from_the_threshold_on_are_compressed(cluster: FakeCluster, release: str, sys_flag: int) -> None:
    """Bodies from 4096 bytes on are sent as zlib, the application's body unchanged; from 4.9.4 the flag names zlib."""
    message = Message("T", b"z" * 4_096)
    with producer_of(cluster, release) as producer:
        producer.send(Message("T", b"z" * 4_095))
        producer.send(message)
    small, large = cluster["a"].stored
    assert (small.fields["sysFlag"], small.body) == ("0", b"z" * 4_095)
    assert (large.fields["sysFlag"], decompress(large.body, sys_flag)) == (str(sys_flag), message.body)
    assert len(large.body) < 100 and len(message.body) == 4_096


@pytest.mark.parametrize(("release", "has_own_key"), [("4.9.8", False), ("5.0.0", True), ("5.3.3", True)])
def test_a_batch_has_its_own_code_and_no_compression(cluster: FakeCluster, release: str, has_own_key: bool) -> None:
    """A batch has its own request code, no compression, and properties per message; from 5.0.0 it has its own id."""
    message = Message("T", b"y" * 5_000, {"own": "1"})
    with producer_of(cluster, release, start=7) as producer:
        result = producer.send_batch([message])
    (stored,) = cluster["a"].stored
    (entry,) = decode_batch(stored.body)
    assert (entry.body, entry.properties["own"]) == (message.body, "1")
    assert (stored.fields["batch"], stored.fields["sysFlag"]) == ("true", "0")
    assert result.message_id == message.unique_key == entry.properties["UNIQ_KEY"]
    assert len(cluster["a"].requests_of(RequestCode.SEND_BATCH_MESSAGE)) == 1
    assert ("UNIQ_KEY" in decode_properties(stored.fields["properties"])) is has_own_key


def test_batches_that_do_not_fit_together_are_refused(cluster: FakeCluster) -> None:
    """An invalid batch (empty, two topics, mixed WAIT, delay, retry topic, empty body) is rejected unsent."""
    one = Message("T", b"x")
    with producer_of(cluster) as producer:
        for messages in (
            [],
            [one, Message("U", b"x")],
            [one, Message("T", b"x", wait_store_msg_ok=False)],
            [Message("T", b"x", {"DELAY": "3"})],
            [Message("%RETRY%G", b"x")],
            [Message("T", b"")],
        ):
            with pytest.raises(MQClientException, match="Failed to initiate"):
                producer.send_batch(messages)
    assert cluster["a"].stored == []


def test_a_send_to_a_queue_moves_no_counter(cluster: FakeCluster) -> None:
    """A send to a given queue uses this queue and does not move the counter."""
    with producer_of(cluster) as producer:
        assert producer.queues("T")[6] == Queue("broker-b", 2)
        result = producer.send_to_queue(Message("T", b"x"), producer.queues("T")[6])
        assert (result.broker, result.queue_id) == ("broker-b", 2)
        assert producer.send(Message("T", b"x")).queue_id == 0


def test_a_selector_gets_queues_message_and_argument(cluster: FakeCluster) -> None:
    """The selector gets a copy of the queue list, the message and the argument."""
    with producer_of(cluster) as producer:

        def choose(queues: list[Queue], message: Message, argument: object) -> Queue:
            assert (len(queues), message.body, argument) == (8, b"x", 5)
            queues.clear()
            return Queue("broker-b", 1)

        assert producer.send_by_selector(Message("T", b"x"), choose, 5).queue_id == 1
        assert len(producer.queues("T")) == 8


def test_a_selector_that_fails_is_a_client_error(cluster: FakeCluster) -> None:
    """A selector that raises or returns None is a client error without code; the cause is kept."""
    with producer_of(cluster) as producer:
        with pytest.raises(MQClientException, match="return null") as nothing:
            producer.send_by_selector(Message("T", b"x"), lambda *_: None, 0)
        with pytest.raises(MQClientException, match="threw exception") as threw:
            producer.send_by_selector(Message("T", b"x"), lambda queues, *_: queues[99], 0)
    assert (nothing.value.code, threw.value.code) == (-1, -1)
    assert isinstance(threw.value.__cause__, IndexError)


def test_each_thread_has_its_own_counter(cluster: FakeCluster) -> None:
    """A second thread begins at its own start, not at the first thread's position."""
    queues: list[int] = []
    with producer_of(cluster) as producer:
        producer.send(Message("T", b"x"))
        thread = threading.Thread(target=lambda: queues.append(producer.send(Message("T", b"x")).queue_id))
        thread.start()
        thread.join(10)
        queues.append(producer.send(Message("T", b"x")).queue_id)
    assert queues == [0, 1]


def test_many_threads_lose_nothing(cluster: FakeCluster) -> None:
    """Four threads share one connection per broker, and each message is stored once."""
    with producer_of(cluster) as producer:

        def work(name: int) -> None:
            for number in range(50):
                producer.send(Message("T", f"{name}/{number}".encode()))

        threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join(30)
    bodies = [stored.body for letter in "ab" for stored in cluster[letter].stored]
    assert len(bodies) == len(set(bodies)) == 200
    assert cluster["a"].connections == cluster["b"].connections == 1


def test_listener_hears_of_attempts_and_routes(cluster: FakeCluster) -> None:
    """The listener gets the start and end of each attempt, and one event per new route."""
    heard = Remembered()
    message = Message("T", b"x")
    with producer_of(cluster, listener=heard) as producer:
        assert producer.route_version("T") == 0
        producer.send(message)
        assert producer.route_version("T") == 1
    (started,), (ended,), (route,) = heard.started, heard.ended, heard.routes
    assert (started.message, started.attempt, started.broker, started.queue_id) == (message, 0, "broker-a", 0)
    assert (ended.message, ended.attempt, ended.status, ended.error) == (message, 0, "SEND_OK", None)
    assert started.start_ns == ended.start_ns < ended.end_ns
    assert (route.topic, route.route, route.queues[0], len(route.queues)) == ("T", 1, ("broker-a", 0), 8)


def test_invalid_bodies_and_topics_are_refused(cluster: FakeCluster) -> None:
    """Empty and oversized bodies fail with code 13, invalid topics without a code, before any request."""
    with producer_of(cluster, max_message_size=10) as producer:
        for topic, body, code in (("T", b"", 13), ("T", b"x" * 11, 13), ("", b"x", -1), ("t" * 128, b"x", -1)):
            with pytest.raises(MQClientException) as raised:
                producer.send(Message(topic, body))
            assert raised.value.code == code
        for topic in ("a b", "SELF_TEST_TOPIC"):
            with pytest.raises(MQClientException):
                producer.send(Message(topic, b"x"))
    assert cluster.name_server.requests == []


def test_sends_fail_before_start_and_after_shutdown(cluster: FakeCluster) -> None:
    """Sends fail before start() and after shutdown(), and start() works once."""
    producer = producer_of(cluster)
    with pytest.raises(MQClientException, match="created"):
        producer.send(Message("T", b"x"))
    producer.start()
    with pytest.raises(MQClientException, match="running"):
        producer.start()
    producer.shutdown()
    producer.shutdown()
    with pytest.raises(MQClientException, match="shut down"):
        producer.send(Message("T", b"x"))
