"""The counter of a thread at its overflow and start (numbers seen by running the Java classes)."""

import pytest

from rocketmq_reference.rules.java import INT_MAX, INT_MIN
from rocketmq_reference.rules.queue_choice import index
from rocketmq_reference.rules.queue_choice.index import IndexRule, ThreadIndex
from tests.reference_impl.rules.toys import ScriptedTape


@pytest.mark.parametrize(
    ("rule", "numbers"),
    [
        (index.CLAMPED, [INT_MAX, 0, 1, 2]),
        (index.ABSOLUTE, [INT_MAX, INT_MIN, INT_MAX, INT_MIN]),
        (index.READ_ABSOLUTE, [INT_MAX, INT_MIN, INT_MAX, INT_MAX - 1]),
        (index.MASKED, [INT_MAX, 0, 1, 2]),
        (index.MASKED_RAW_START, [INT_MAX, 0, 1, 2]),
        (index.RESETTABLE, [INT_MAX, 0, 1, 2]),
    ],
)
def test_the_index_continues_after_max_as_in_java(rule: IndexRule, numbers: list[int]) -> None:
    """Each generation continues after MAX as its Java class does."""
    counter = ThreadIndex(rule, INT_MAX - 1)
    assert [counter.next(ScriptedTape()) for _ in numbers] == numbers


@pytest.mark.parametrize(
    ("rule", "first"),
    [
        (index.CLAMPED, 6),
        (index.ABSOLUTE, 6),
        (index.READ_ABSOLUTE, 6),
        (index.MASKED, 6),
        (index.MASKED_RAW_START, INT_MAX - 3),
        (index.RESETTABLE, INT_MAX - 3),
    ],
)
def test_a_negative_start_is_made_positive_or_masked(rule: IndexRule, first: int) -> None:
    """A start drawn as −5 is made positive to 4.9.8, and only masked from 5.0.0."""
    assert ThreadIndex(rule).next(ScriptedTape(-5)) == first


def test_the_most_negative_start_is_clamped_by_the_oldest_only() -> None:
    """abs(MIN) is MIN: T1 starts at 0 instead, T2 continues from MIN."""
    assert ThreadIndex(index.CLAMPED).next(ScriptedTape(INT_MIN)) == 1
    assert ThreadIndex(index.ABSOLUTE).next(ScriptedTape(INT_MIN)) == INT_MAX


def test_a_copy_counts_by_itself() -> None:
    """A copy shares no state with the original counter."""
    counter = ThreadIndex(index.MASKED, 1)
    counter.copy().next(ScriptedTape())
    assert counter.value == 1
