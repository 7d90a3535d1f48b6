"""Rules of the lite pull consumer, as DefaultLitePullConsumerImpl has them from 4.6.1 on."""

from dataclasses import dataclass

import pytest

from rocketmq_reference.dialects import consumer_rules_of
from rocketmq_reference.rules.consumer import lite_pull
from rocketmq_reference.rules.consumer.lite_pull import AutoCommit, is_held_back
from rocketmq_reference.rules.consumer.process_queue import ProcessQueue
from rocketmq_reference.rules.consumer.settings import ConsumeSettings


@dataclass(frozen=True)
class Stored:
    """A pulled message."""

    queue_offset: int
    body: bytes = b"x"


@pytest.mark.parametrize(
    ("batches", "messages", "held"),
    [(0, 0, False), (312, 0, False), (313, 0, True), (0, 1_001, True), (312, 1_000, False), (313, 1_001, True)],
)
def test_a_task_waits_above_either_limit(batches: int, messages: int, held: bool) -> None:
    """Each waiting batch counts as 32 messages of 10,000, and the queue has the push consumer's limits."""
    queue: ProcessQueue[Stored] = ProcessQueue(0, consumer_rules_of("5.3.3"))
    queue.put([Stored(offset) for offset in range(messages)])
    assert is_held_back(batches, queue, ConsumeSettings()) is held


def test_a_limit_of_whole_batches_is_strict() -> None:
    """100 batches of 10 messages are no more than 1,000."""
    settings = ConsumeSettings(pull_batch_size=10, pull_threshold_for_all=1_000)
    queue: ProcessQueue[Stored] = ProcessQueue(0, consumer_rules_of("5.3.3"))
    assert [is_held_back(batches, queue, settings) for batches in (99, 100, 101)] == [False, False, True]


@pytest.mark.parametrize(
    ("auto_commit", "polls_ms", "commits"),
    [
        (True, [0, 1, 4_999, 5_000, 5_001, 9_999, 10_000], [True, False, False, True, False, False, True]),
        (True, [7, 5_006, 5_007], [True, False, True]),
        (False, [0, 5_000], [False, False]),
    ],
)
def test_which_polls_commit(auto_commit: bool, polls_ms: list[int], commits: list[bool]) -> None:
    """The first, and each that begins an interval or more after the last that did; none without automatic commit."""
    automatic, settings = AutoCommit(), ConsumeSettings(auto_commit=auto_commit)
    assert [automatic.is_due(now_ms, settings) for now_ms in polls_ms] == commits


def test_constants_of_the_lite_pull_consumer() -> None:
    """Times in ms as the classes of 4.6.1 and 5.5.0 have them, and the greatest int for bytes."""
    assert (lite_pull.BROKER_SUSPEND_MS, lite_pull.CLIENT_TIMEOUT_MS) == (20_000, 30_000)
    assert (lite_pull.FLOW_CONTROL_MS, lite_pull.PAUSED_MS) == (50, 1_000)
    assert lite_pull.MOST_BYTES == 2_147_483_647
