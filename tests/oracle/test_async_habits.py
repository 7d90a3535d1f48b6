"""Known callback defects of each release."""

import pytest

from rocketdiff.oracle.producer.asynchronous.habits import NO_HABITS, AsyncHabits
from rocketmq_reference.dialects import dialect_of


def habits(release: str, retries: int = 2) -> AsyncHabits:
    return AsyncHabits.of(dialect_of(release), retries)


def test_a_callback_is_lost_in_the_first_release_only() -> None:
    """In 4.0.0 a failed send to a given queue has no callback but a NullPointerException (ROCKETMQ-101, fixed in 4.1.0)."""
    assert [habits(release).loses_callbacks for release in ("4.0.0-incubating", "4.1.0-incubating", "4.9.8", "5.5.0")] == [
        True, False, False, False,
    ]  # fmt: skip


def test_answers_are_confused_up_to_4_6_1() -> None:
    """Up to 4.6.1 a retry takes the number of the next request, so answers may be confused."""
    releases = ("4.0.0-incubating", "4.3.2", "4.6.1", "4.7.0", "5.3.3")
    assert [habits(release).confuses_answers for release in releases] == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("release", "retries", "most"),
    [
        ("5.2.0", 5, 1),
        ("5.3.0", 0, 2),
        ("5.3.0", 1, 2),
        ("5.3.0", 2, 3),
        ("5.3.1", 3, 3),
        ("5.3.1", 4, 4),
        ("5.3.2", 4, 2),
        ("5.3.3", 0, 2),
        ("5.4.0", 4, 1),
        ("5.5.0", 4, 1),
    ],
)
def test_a_connection_that_came_too_late_calls_back_more_than_once(release: str, retries: int, most: int) -> None:
    """
    In 5.3.0 to 5.3.3 a request whose connection came too late is still sent, and its answer calls back again.

    Each late attempt fails twice, so every second retry may be late. From 5.3.2 on a retry needs time, and a late
    connection leaves none.
    """
    assert habits(release, retries).most_callbacks == most


def test_a_client_without_habits_calls_back_once() -> None:
    """NO_HABITS, assumed for unknown rules, equals the newest release: one callback per send."""
    assert habits("5.5.0") == NO_HABITS
    assert (NO_HABITS.loses_callbacks, NO_HABITS.most_callbacks, NO_HABITS.confuses_answers) == (False, 1, False)
