"""Members of groups with one defect each do what their names say, and report what they do."""

from collections.abc import Iterator

import pytest

from rocketdiff.drivers.python.consuming.toys import CONSUMER_TOYS, MEMBER_TOYS, POLLING_TOYS
from rocketdiff.subjects.kinds.toy import MEMBER_DEFECTS, POLLER_DEFECTS
from rocketmq_reference.api.push_consumer import PushConsumer
from rocketmq_reference.client.consuming.memory import OffsetEvent
from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.frames import Command
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.consumer.concurrent import ConsumeContext, ConsumeStatus
from rocketmq_reference.rules.consumer.offsets import TopicQueue
from tests.reference_impl.consuming_group import FIRST, T0, Group, group_on_a_broker
from tests.reference_impl.consuming_in_order import InOrder

T1 = TopicQueue("T", Queue("broker-a", 1))


@pytest.fixture
def group() -> Iterator[Group]:
    with group_on_a_broker() as made:
        yield made


def toy(group: Group, name: str) -> PushConsumer:
    consumer = group.member("5.3.3", consume_from_where=FIRST, persist_consumer_offset_interval_ms=60_000)
    CONSUMER_TOYS[name](consumer)
    return consumer


def another_joins(group: Group, consumer: PushConsumer) -> None:
    group.broker.ids = [consumer.client_id, "z"]
    group.broker.send_unasked(Command(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, {"consumerGroup": "G"}, flag=2))


def topic_t(group: Group) -> set[TopicQueue]:
    return {of for of in group.owned if of.topic == "T"}


def test_every_toy_is_known_by_its_name() -> None:
    """The kind lists the same names."""
    assert {*MEMBER_DEFECTS, *POLLER_DEFECTS} == set(MEMBER_TOYS)
    assert set(POLLING_TOYS) == set(POLLER_DEFECTS)


@pytest.mark.parametrize(("name", "expected"), [("honest-member", {T0}), ("wrong-share", {T1})])
def test_a_wrong_share_is_the_next_members(group: Group, name: str, expected: set[TopicQueue]) -> None:
    """The first of two members works on the second's queue, and says so."""
    consumer = toy(group, name)
    group.broker.ids = [consumer.client_id, "z"]
    consumer.start()
    group.wait_for(lambda: topic_t(group) == expected)
    assert ("T", 1) in group.shares
    consumer.shutdown()


def test_a_message_is_consumed_before_the_one_in_front_of_it(group: Group) -> None:
    """The tenth message of a queue comes after all that have come."""
    group.broker.put("T", 0, *"abcdefghijkl")
    member = InOrder(group)
    consumer = member.made()
    CONSUMER_TOYS["reorders-a-queue"](consumer)
    consumer.start()
    group.wait_for(lambda: len(member.seen) == 12)
    consumer.shutdown()
    assert [body for body, _ in member.seen] == list("abcdefghiklj")


def test_a_queue_is_consumed_without_its_lock(group: Group) -> None:
    """The broker is asked for no lock, and another member's counts for nothing."""
    group.broker.put("T", 0, "a")
    group.broker.locks["T", 0] = "another member"
    member = InOrder(group)
    consumer = member.made()
    CONSUMER_TOYS["ignores-locks"](consumer)
    consumer.start()
    group.wait_for(lambda: member.seen == [("a", 0)])
    assert RequestCode.LOCK_BATCH_MQ not in [code for code, _ in group.broker.locked]
    consumer.shutdown()


def test_a_lost_queue_is_kept(group: Group) -> None:
    """Its share has one queue, and it works on both; what comes to the other is delivered."""
    consumer = toy(group, "keeps-a-lost-queue").start()
    group.wait_for(lambda: topic_t(group) == {T0, T1})
    another_joins(group, consumer)
    group.wait_for(lambda: group.shares.count(("T", 1)) >= 3)
    assert topic_t(group) == {T0, T1}
    group.broker.put("T", 1, "a")
    group.wait_for(lambda: ("T", "a", 0) in group.seen)
    consumer.shutdown()


@pytest.mark.parametrize(("name", "commits"), [("honest-member", True), ("never-gives-up-a-queue-cleanly", False)])
def test_a_queue_is_given_up_without_a_commit(group: Group, name: str, commits: bool) -> None:
    """Neither when another member takes it nor at the end."""
    consumer = toy(group, name).start()
    group.wait_for(lambda: topic_t(group) == {T0, T1})
    group.broker.put("T", 0, "a")
    group.broker.put("T", 1, "b")
    for of in (T0, T1):
        group.wait_for(lambda of=of: (OffsetEvent.UPDATE, of, 1) in group.events)  # type: ignore[misc]  # its default
    another_joins(group, consumer)
    group.wait_for(lambda: topic_t(group) == {T0})
    consumer.shutdown()
    for of in (T0, T1):
        assert ((OffsetEvent.COMMIT, of, 1) in group.events) is commits


def failed_last(message: StoredMessage, _context: ConsumeContext) -> ConsumeStatus | None:
    return ConsumeStatus.RECONSUME_LATER if message.body == b"a" else ConsumeStatus.CONSUME_SUCCESS


@pytest.mark.parametrize(("name", "most"), [("honest-member", ["2"]), ("ignores-max-retries", ["16"])])
def test_most_retries_are_those_of_a_client_without_the_setting(group: Group, name: str, most: list[str]) -> None:
    """They are in the request that hands a message back."""
    assert handed_back(group, name, reconsume_times=1) == most


@pytest.mark.parametrize(("name", "most"), [("honest-member", ["2"]), ("skips-the-dead-letters", [])])
def test_a_last_failure_is_not_handed_back(group: Group, name: str, most: list[str]) -> None:
    """The message is acknowledged instead."""
    assert handed_back(group, name, reconsume_times=2) == most


def handed_back(group: Group, name: str, reconsume_times: int) -> list[str]:
    """Return the most retries in each request that hands a message back, after one failed and the next was consumed."""
    group.answer = failed_last
    consumer = group.member("5.3.3", consume_from_where=FIRST, max_reconsume_times=2)
    CONSUMER_TOYS[name](consumer)
    consumer.start()
    group.wait_for(lambda: topic_t(group) == {T0, T1})
    group.broker.put("T", 0, "a", reconsume_times=reconsume_times)
    group.broker.put("T", 0, "b")
    group.wait_for(lambda: (OffsetEvent.UPDATE, T0, 2) in group.events)
    consumer.shutdown()
    asked = group.broker.requests_of(RequestCode.CONSUMER_SEND_MSG_BACK)
    return [request.ext_fields["maxReconsumeTimes"] for request in asked]


@pytest.mark.parametrize(("name", "seen"), [("honest-member", ["b", "c"]), ("jumps-to-the-end", ["c"])])
def test_a_committed_offset_is_passed_over(group: Group, name: str, seen: list[str]) -> None:
    """What waits above it is never delivered."""
    group.broker.put("T", 0, "a", "b")
    group.broker.committed["T", 0] = 1
    consumer = toy(group, name).start()
    group.wait_for(lambda: topic_t(group) == {T0, T1})
    group.broker.put("T", 0, "c")
    group.wait_for(lambda: ("T", "c", 0) in group.seen)
    assert [body for _, body, _ in group.seen] == seen
    consumer.shutdown()
