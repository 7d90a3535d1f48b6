"""The live push consumer with an orderly listener, on scripted brokers: its calls, locks, suspensions and dead letters."""

import time
from collections.abc import Iterator

import pytest

from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.remoting.properties import decode_properties
from rocketmq_reference.remoting.sending import parse_send_fields
from rocketmq_reference.rules.consumer.orderly import OrderlyContext, OrderlyStatus
from tests.reference_impl.consuming_group import T0, Group, group_on_a_broker
from tests.reference_impl.consuming_in_order import InOrder

OTHER = "another member"


@pytest.fixture
def group() -> Iterator[Group]:
    with group_on_a_broker() as made:
        yield made


def test_a_queue_is_consumed_one_message_at_a_time(group: Group) -> None:
    """However many threads there are, the messages of a queue come one after the other, and the end is committed."""

    def slowly(_message: StoredMessage, _context: OrderlyContext) -> OrderlyStatus:
        time.sleep(0.003)
        return OrderlyStatus.SUCCESS

    group.broker.put("T", 0, *"abcdefgh")
    member = InOrder(group, slowly)
    consumer = member.started()
    group.wait_for(lambda: len(member.seen) == 8)
    group.broker.put("T", 0, "i")
    group.wait_for(lambda: len(member.seen) == 9)
    consumer.shutdown()
    assert [body for body, _ in member.seen] == list("abcdefghi")
    assert member.most_at_once == 1
    group.wait_for(lambda: group.broker.committed.get(("T", 0), 0) >= 8)


@pytest.mark.parametrize("status", [OrderlyStatus.SUSPEND, None])
def test_a_failed_message_holds_its_queue_up(group: Group, status: OrderlyStatus | None) -> None:
    """It comes again with one failure more before the next message does."""

    def fails_twice(message: StoredMessage, context: OrderlyContext) -> OrderlyStatus | None:
        context.suspend_ms = 10
        return status if message.body == b"b" and message.reconsume_times < 2 else OrderlyStatus.SUCCESS

    group.broker.put("T", 0, *"abc")
    member = InOrder(group, fails_twice)
    consumer = member.started()
    group.wait_for(lambda: len(member.seen) == 5)
    consumer.shutdown()
    assert member.seen == [("a", 0), ("b", 0), ("b", 1), ("b", 2), ("c", 0)]


def test_a_message_that_fails_too_often_is_sent_away(group: Group) -> None:
    """After its last failure it goes to the retry topic with its count, and the queue goes on."""

    def fails(message: StoredMessage, _context: OrderlyContext) -> OrderlyStatus | None:
        return None if message.body == b"a" else OrderlyStatus.SUCCESS

    group.broker.put("T", 0, "a", "b")
    member = InOrder(group, fails)
    consumer = member.started(max_reconsume_times=1)
    group.wait_for(lambda: ("b", 0) in member.seen)
    consumer.shutdown()
    assert member.seen == [("a", 0), ("a", 1), ("b", 0)]
    (sent,) = [each for each in group.broker.requests if each.code == RequestCode.SEND_MESSAGE_V2]
    fields = parse_send_fields(sent)
    assert fields["topic"] == "%RETRY%G"
    assert decode_properties(fields["properties"])["RECONSUME_TIME"] == "2"


@pytest.mark.parametrize("release", ["4.9.8", "5.3.3"])
def test_a_queue_that_another_member_has_locked_is_left_alone(group: Group, release: str) -> None:
    """Nothing of it is pulled until the lock is free, and then a round takes it."""
    group.broker.put("T", 0, "a")
    group.broker.put("T", 1, "z")
    group.broker.locks["T", 0] = OTHER
    member = InOrder(group, release=release)
    consumer = member.started(rebalance_wait_interval_ms=300)
    group.wait_for(lambda: ("z", 0) in member.seen)
    assert T0 not in group.owned
    del group.broker.locks["T", 0]
    group.wait_for(lambda: ("a", 0) in member.seen)
    consumer.shutdown()


def test_a_new_queue_waits_for_a_renewal_until_4_9_5(group: Group) -> None:
    """Its first lock does not count: it is pulled from after the locks were renewed."""
    group.broker.put("T", 0, "a")
    member = InOrder(group, release="4.9.4")
    consumer = member.started(lock_interval_ms=300)
    group.wait_for(lambda: member.seen == [("a", 0)])
    consumer.shutdown()
    asked = [queues for code, queues in group.broker.locked if code == RequestCode.LOCK_BATCH_MQ]
    assert {("T", 0)} in asked
    assert any(len(queues) > 1 for queues in asked)


def test_a_member_that_leaves_unlocks_its_queues(group: Group) -> None:
    """No lock of it is left."""
    member = InOrder(group)
    consumer = member.started()
    group.wait_for(lambda: len(group.owned) == 3)
    assert len(group.broker.locks) == 3
    consumer.shutdown()
    assert group.broker.locks == {}


@pytest.mark.parametrize("release", ["4.9.8", "5.3.3"])
def test_a_queue_that_is_given_up_is_unlocked(group: Group, release: str) -> None:
    """Another member that is alone in the list gets the lock."""
    member = InOrder(group, release=release)
    consumer = member.started(rebalance_wait_interval_ms=100)
    group.wait_for(lambda: T0 in group.owned)
    group.broker.ids = [OTHER]
    group.wait_for(lambda: not group.owned)
    group.wait_for(lambda: not group.broker.locks)
    consumer.shutdown()
    assert group.broker.locked[-1][0] == RequestCode.UNLOCK_BATCH_MQ
