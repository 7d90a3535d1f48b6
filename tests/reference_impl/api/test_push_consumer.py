"""The live push consumer on scripted brokers: what it delivers, commits, hands back and gives up."""

from collections.abc import Iterator

import pytest

from rocketmq_reference.api.push_consumer import PushConsumer
from rocketmq_reference.client.consuming import resetting
from rocketmq_reference.client.consuming.memory import OffsetEvent
from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.errors import IllegalStateException, MQClientException
from rocketmq_reference.remoting.frames import Command
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.remoting.sending import parse_send_fields
from rocketmq_reference.remoting.versions import mq_version
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.consumer.concurrent import ConsumeContext, ConsumeStatus
from rocketmq_reference.rules.consumer.offsets import TopicQueue
from rocketmq_reference.rules.consumer.settings import ConsumeFromWhere
from tests.reference_impl.consuming_group import FIRST, OK, T0, Group, group_on_a_broker
from tests.reference_impl.fake_broker import Answer


@pytest.fixture
def group() -> Iterator[Group]:
    with group_on_a_broker() as made:
        yield made


def test_consumes_every_message_once_and_commits(group: Group) -> None:
    """Messages before and during the consumption are delivered once, and the end of each queue is committed."""
    group.broker.put("T", 0, "a", "b")
    with group.consuming():
        group.wait_for(lambda: len(group.seen) == 2)
        group.broker.put("T", 1, "c")
        group.wait_for(lambda: len(group.seen) == 3)
        group.wait_for(lambda: (OffsetEvent.UPDATE, T0, 2) in group.events)
        assert len(group.owned) == 3
    assert sorted(group.seen) == [("T", body, 0) for body in "abc"]
    group.wait_for(lambda: group.broker.committed.get(("T", 0)) == 2)
    assert group.owned == []


@pytest.mark.parametrize(
    ("where", "committed", "expected"),
    [(FIRST, None, "ab"), (ConsumeFromWhere.LAST, None, ""), (ConsumeFromWhere.LAST, 1, "b"), (FIRST, 1, "b")],
)
def test_begins_at_the_committed_offset_else_where_it_shall(
    group: Group, where: ConsumeFromWhere, committed: int | None, expected: str
) -> None:
    """A queue begins at the committed offset; without one, where the setting says."""
    group.broker.put("T", 0, "a", "b")
    if committed is not None:
        group.broker.committed["T", 0] = committed
    with group.consuming(where):
        group.wait_for(lambda: T0 in group.owned)
        group.broker.put("T", 0, "end")
        group.wait_for(lambda: ("T", "end", 0) in group.seen)
    assert sorted(body for _, body, _ in group.seen) == [*expected, "end"]


def test_a_queue_whose_offset_is_unknown_is_left_until_a_later_round(group: Group) -> None:
    """Only QUERY_NOT_FOUND means that there is no offset; after any other error nothing may be skipped."""
    group.broker.refusals[RequestCode.QUERY_CONSUMER_OFFSET] = Answer(1)
    with group.consuming(ConsumeFromWhere.LAST):
        group.wait_for(lambda: group.shares.count(("T", 2)) >= 3)
        assert group.owned == []
        del group.broker.refusals[RequestCode.QUERY_CONSUMER_OFFSET]
        group.wait_for(lambda: T0 in group.owned)


def _failing(message: StoredMessage, context: ConsumeContext) -> ConsumeStatus | None:
    context.delay_level = 1
    if message.body == b"raises":
        raise RuntimeError
    return {b"null": None, b"later": ConsumeStatus.RECONSUME_LATER}.get(message.body, OK)


@pytest.mark.parametrize("body", ["later", "null", "raises"])
def test_a_failed_message_is_handed_back(group: Group, body: str) -> None:
    """Whatever the failure, it goes back to its broker with the level of the context, and its offset is committed."""
    group.answer = _failing
    group.broker.put("T", 0, body)
    with group.consuming():
        group.wait_for(lambda: (OffsetEvent.UPDATE, T0, 1) in group.events)
    (back,) = group.broker.requests_of(RequestCode.CONSUMER_SEND_MSG_BACK)
    assert back.version == mq_version("5.3.3")
    fields = {
        name: back.ext_fields[name] for name in ("group", "offset", "delayLevel", "maxReconsumeTimes", "originTopic")
    }
    assert fields == {
        "group": "G",
        "offset": "1000",
        "delayLevel": "1",
        "maxReconsumeTimes": "16",
        "originTopic": "T",
    }


def test_a_message_that_its_broker_does_not_take_back_is_sent_again(group: Group) -> None:
    """Then the client's own send goes to the retry topic with level 3 and more, whatever the context asked for."""
    group.answer = _failing
    group.broker.refusals[RequestCode.CONSUMER_SEND_MSG_BACK] = Answer(1)
    group.broker.put("T", 0, "later", reconsume_times=2)
    with group.consuming():
        group.wait_for(lambda: (OffsetEvent.UPDATE, T0, 1) in group.events)
    (sent,) = group.broker.stored
    assert (sent.topic, sent.body) == ("%RETRY%G", b"later")
    properties = parse_send_fields(group.broker.requests_of(RequestCode.SEND_MESSAGE_V2)[0])["properties"]
    for pair in (
        "RETRY_TOPIC\x01T",
        "MIN_OFFSET\x010",
        "MAX_OFFSET\x011",
        "CONSUME_START_TIME\x01",
        "RECONSUME_TIME\x013",
        "DELAY\x015",
        "MAX_RECONSUME_TIMES\x0116",
    ):
        assert pair in properties


def test_a_retried_message_shows_its_own_topic(group: Group) -> None:
    """The listener sees the original topic of a message from the retry topic."""
    group.broker.put("%RETRY%G", 0, "again", reconsume_times=1, RETRY_TOPIC="T")
    with group.consuming():
        group.wait_for(lambda: bool(group.seen))
    assert group.seen == [("T", "again", 1)]


def test_only_wanted_tags_are_delivered(group: Group) -> None:
    """Brokers filter by hash, so the client compares the tag."""
    group.broker.put("T", 0, "no", TAGS="Aa")
    group.broker.put("T", 0, "yes", TAGS="BB")
    with group.consuming(expression="BB || C"):
        group.wait_for(lambda: bool(group.seen))
    assert group.seen == [("T", "yes", 0)]


def test_an_offset_that_the_broker_has_not_is_repaired(group: Group) -> None:
    """The queue begins anew at the offset that the broker suggests, which is committed before."""
    group.broker.first["T", 0] = 7
    group.broker.put("T", 0, "seventh")
    group.broker.committed["T", 0] = 3
    with group.consuming():
        group.wait_for(lambda: ("T", "seventh", 0) in group.seen)
    assert (OffsetEvent.FREEZE, T0, 7) in group.events
    group.wait_for(lambda: group.broker.committed.get(("T", 0), 0) >= 7)


def test_gives_a_queue_up_when_another_member_joins(group: Group) -> None:
    """A broker's notice starts a round; the queue's offset is committed before it is forgotten."""
    group.broker.put("T", 1, "a")
    with group.consuming() as consumer:
        group.wait_for(lambda: len(group.seen) == 1 and len(group.owned) == 3)
        group.broker.ids = [consumer.client_id, "z"]
        group.broker.send_unasked(Command(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, {"consumerGroup": "G"}, flag=2))
        group.wait_for(lambda: {of.queue.queue_id for of in group.owned if of.topic == "T"} == {0})
        given_up = TopicQueue("T", Queue("broker-a", 1))
        steps = [event for event, of, _ in group.events if of == given_up]
        assert steps[-2:] == [OffsetEvent.COMMIT, OffsetEvent.FORGET]


def test_goes_on_at_an_offset_that_a_broker_asks_for(group: Group, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Queues of the named topic begin anew there; a body that cannot be read, and another group, change nothing.

    From 5.3.0 on, the question for the offset may overtake the commit, which does not wait for its connection.
    """
    monkeypatch.setattr(resetting, "RESET_WAIT_MS", 100)
    group.broker.put("T", 0, "a", "b")

    def asked(queues: str, of: str = "G") -> Command:
        fields = {"topic": "T", "group": of, "timestamp": "0", "isForce": "true"}
        return Command(RequestCode.RESET_CONSUMER_CLIENT_OFFSET, fields, f'{{"offsetTable":{queues}}}'.encode(), flag=2)

    queue = '{"brokerName":"broker-a","queueId":0,"topic":"%s"}:1'
    with group.consuming(release="5.1.4"):
        group.wait_for(lambda: (OffsetEvent.UPDATE, T0, 2) in group.events)
        group.broker.send_unasked(asked("[]"))
        group.broker.send_unasked(asked(f"{{{queue % 'T'}}}", of="H"))
        group.broker.send_unasked(asked(f"{{{queue % 'T'},{queue % 'U'}}}"))
        group.wait_for(lambda: len(group.seen) == 3)
        group.broker.put("T", 1, "c")
        group.wait_for(lambda: len(group.seen) == 4)
    assert sorted(body for _, body, _ in group.seen) == ["a", "b", "b", "c"]


def test_heartbeats_name_the_group(group: Group) -> None:
    """Heartbeats name group, subscriptions and hashes of tags; the shutdown unregisters the group."""
    with group.consuming(expression="Aa"):
        group.wait_for(lambda: T0 in group.owned)
    named = group.broker.requests_of(RequestCode.HEART_BEAT)[0].body.decode()
    for text in ('"groupName":"G"', '"consumeType":"CONSUME_PASSIVELY"', '"codeSet":[2112]', '"topic":"%RETRY%G"'):
        assert text in named
    assert group.broker.requests_of(RequestCode.UNREGISTER_CLIENT)[0].ext_fields["consumerGroup"] == "G"


def test_refuses_what_it_cannot_do(group: Group) -> None:
    """Older dialects, a second start and a start without a name server raise."""
    name_servers = [group.cluster.name_server.address]
    with pytest.raises(ValueError, match=r"from 4\.2\.0 on, saw 4\.1\.0-incubating"):
        PushConsumer(name_servers, "G", "4.1.0-incubating", group)
    with group.consuming() as consumer, pytest.raises(MQClientException, match="started once"):
        consumer.start()
    group.cluster.name_server.refuse()
    consumer = PushConsumer(name_servers, "G", "5.3.3", group)
    consumer.subscribe("T")
    with pytest.raises(IllegalStateException):
        consumer.start()
    consumer.shutdown()
