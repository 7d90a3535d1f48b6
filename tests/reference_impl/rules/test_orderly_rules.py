"""Rules of consumption in order: what follows a call, how long a queue waits, and its messages and lock."""

from dataclasses import dataclass

import pytest

from rocketmq_reference.dialects import consumer_rules_of
from rocketmq_reference.rules.consumer.orderly import (
    OrderlyContext,
    OrderlyStatus,
    Then,
    follows,
    has_failed_too_often,
    may_consume,
    suspended_ms,
)
from rocketmq_reference.rules.consumer.process_queue import ProcessQueue
from rocketmq_reference.rules.consumer.pull_loop import is_held_back
from rocketmq_reference.rules.consumer.settings import ConsumeSettings, MessageModel

SUCCESS, SUSPEND = OrderlyStatus.SUCCESS, OrderlyStatus.SUSPEND
COMMIT, ROLLBACK = OrderlyStatus.COMMIT, OrderlyStatus.ROLLBACK


@dataclass(frozen=True)
class Stored:
    """A pulled message."""

    queue_offset: int
    body: bytes = b"xx"


def queue_of(*offsets: int) -> ProcessQueue[Stored]:
    queue: ProcessQueue[Stored] = ProcessQueue(0, consumer_rules_of("5.3.3"))
    queue.put(map(Stored, offsets))
    return queue


def offsets(messages: list[Stored]) -> list[int]:
    return [message.queue_offset for message in messages]


@pytest.mark.parametrize(
    ("status", "automatic", "own"),
    [
        (SUCCESS, Then.COMMIT, Then.KEEP),
        (COMMIT, Then.COMMIT, Then.COMMIT),
        (ROLLBACK, Then.COMMIT, Then.ROLL_BACK),
        (SUSPEND, Then.FAIL, Then.FAIL),
        (None, Then.FAIL, Then.FAIL),
    ],
)
def test_a_call_is_followed_by(status: OrderlyStatus | None, automatic: Then, own: Then) -> None:
    """With automatic commit whatever is no failure commits; without it a success keeps its messages taken."""
    assert follows(status, OrderlyContext()) is automatic
    assert follows(status, OrderlyContext(auto_commit=False)) is own


@pytest.mark.parametrize(
    ("asked", "expected"), [(-1, 700), (200, 200), (0, 10), (9, 10), (30_000, 30_000), (60_000, 30_000)]
)
def test_a_queue_is_suspended_within_limits(asked: int, expected: int) -> None:
    """The listener's time, else the setting, but 10 ms at least and 30 s at most."""
    assert (
        suspended_ms(OrderlyContext(suspend_ms=asked), ConsumeSettings(suspend_current_queue_time_ms=700)) == expected
    )


@pytest.mark.parametrize(
    ("most", "times", "expected"), [(-1, 10_000, False), (2, 1, False), (2, 2, True), (0, 0, True)]
)
def test_a_message_fails_too_often(most: int, times: int, expected: bool) -> None:
    """Without a limit never; else when its count has reached it."""
    assert has_failed_too_often(times, ConsumeSettings(max_reconsume_times=most)) is expected


def test_messages_are_taken_in_order_and_committed() -> None:
    """Taken messages count until they are committed; the offset is one past the greatest taken."""
    queue = queue_of(4, 2, 3)
    assert (offsets(queue.take(2)), queue.count, queue.bytes) == ([2, 3], 3, 6)
    assert (queue.commit(), queue.count, queue.bytes) == (4, 1, 2)
    assert (offsets(queue.take(2)), queue.commit(), queue.count) == ([4], 5, 0)


def test_bytes_are_uncounted_by_a_release_that_does_not_reset_them() -> None:
    """Of the last message too."""
    queue: ProcessQueue[Stored] = ProcessQueue(0, consumer_rules_of("4.9.7"))
    queue.put([Stored(2), Stored(3)])
    queue.take(2)
    assert (queue.commit(), queue.count, queue.bytes) == (4, 0, 0)


def test_messages_that_are_put_back_wait_again() -> None:
    """One as it is now, or all that were taken, in their place."""
    queue = queue_of(1, 2, 3)
    queue.take(2)
    queue.put_back([Stored(1, b"y")])
    assert offsets(queue.take(3)) == [1, 3]
    queue.put_back()
    assert (offsets(queue.take(1)), queue.has_waiting) == ([1], True)


def test_one_run_at_a_time_takes_a_queue() -> None:
    """A run begins with what was pulled, and ends when it can take nothing."""
    queue = queue_of(1)
    assert [queue.begin_run(), queue.begin_run()] == [True, False]
    queue.take(1)
    queue.put([Stored(2)])
    assert not queue.begin_run()
    queue.take(1)
    queue.take(1)
    assert not queue.begin_run()
    queue.put([Stored(3)])
    assert queue.begin_run()


@pytest.mark.parametrize(
    ("is_locked", "now_ms", "model", "expected"),
    [
        (True, 30_000, MessageModel.CLUSTERING, True),
        (True, 30_001, MessageModel.CLUSTERING, False),
        (False, 0, MessageModel.CLUSTERING, False),
        (False, 90_000, MessageModel.BROADCASTING, True),
    ],
)
def test_a_queue_is_consumed_under_its_lock(is_locked: bool, now_ms: int, model: MessageModel, expected: bool) -> None:
    """For 30 s since it was locked last; a broadcasting member needs no lock."""
    queue = queue_of()
    queue.is_locked = is_locked
    assert may_consume(queue, now_ms, ConsumeSettings(message_model=model)) is expected


def test_the_span_of_a_queue_in_order_has_no_limit() -> None:
    """Its number of messages and its bytes have."""
    settings = ConsumeSettings(consume_concurrently_max_span=10, pull_threshold_for_queue=2)
    assert is_held_back(queue_of(0, 99), settings)
    assert not is_held_back(queue_of(0, 99), settings, is_orderly=True)
    assert is_held_back(queue_of(0, 1, 2), settings, is_orderly=True)
