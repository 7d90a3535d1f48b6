"""Events of a decision for an observer: examined queues, reasons, swallowed exceptions."""

import pytest

from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.java import INT_MAX
from rocketmq_reference.rules.queue_choice.events import (
    BudgetChecked,
    Charged,
    Chosen,
    Event,
    IndexRead,
    IndexReset,
    Skip,
    Skipped,
    Swallowed,
    Tier,
)
from tests.reference_impl.rules.toys import REFUSED, TIMEOUT, Toy

A, B, C = Queue("a", 0), Queue("b", 0), Queue("c", 0)


def test_three_tiers_are_told_look_by_look() -> None:
    """Each examined queue is reported: the last attempt failed on a, b and c are avoided for 9 s more, and b is unreachable."""
    told: list[Event] = []
    toy = Toy("5.3.3", "a1 b1 c1", observer=told.append, draws=[5])
    toy.note("b", 5, failed=True, reachable=False)
    toy.note("c", 5, failed=True)
    assert toy.avoiding("a", now=1_000, reset=True) == "c0"
    looks = [event for event in told if not isinstance(event, IndexRead)]
    assert looks == [
        IndexReset(5),
        Skipped(A, Skip.LAST_BROKER, None),
        Skipped(B, Skip.AVOIDED, 9_000),
        Skipped(C, Skip.AVOIDED, 9_000),
        Skipped(A, Skip.LAST_BROKER, None),
        Skipped(B, Skip.UNREACHABLE, 9_000),
        Chosen(C, Tier.REACHABLE),
    ]


def test_the_old_walk_is_told_from_its_one_tick() -> None:
    """In 4.7.1 a retry after a failure of b reports a as not the last broker, and selects b."""
    told: list[Event] = []
    Toy("4.7.1", "a1 b1", observer=told.append).avoiding("b")
    assert told == [IndexRead(-1), Skipped(A, Skip.NOT_LAST_BROKER, None), Chosen(B, Tier.AVAILABLE)]


def test_an_unguarded_walk_over_the_overflow_swallows_what_java_throws() -> None:
    """In 5.1.0 the unguarded walk swallows an exception at the overflow, because MIN % 3 is negative."""
    told: list[Event] = []
    toy = Toy("5.1.0", "a2 b1", index=INT_MAX - 1, observer=told.append)
    toy.note("b", 1, failed=True)
    toy.note("a", 5, failed=True)
    toy.avoiding()
    assert [event for event in told if isinstance(event, Swallowed)] == [Swallowed("IndexOutOfBoundsException")]


def test_a_counter_of_the_best_brokers_gone_negative_swallows_the_same() -> None:
    """In 4.9.3 the best-broker counter after MAX is MIN; MIN % 3 (half of six) is negative, and the exception is swallowed."""
    told: list[Event] = []
    toy = Toy("4.9.3", "a1 b1 c1 d1 e1 f1", observer=told.append)
    for broker in "abcdef":
        toy.note(broker, 5, failed=True)
    toy.worst.value = INT_MAX
    assert toy.avoiding() == "b0"
    assert [event for event in told if isinstance(event, Swallowed)] == [Swallowed("IndexOutOfBoundsException")]


def test_a_list_without_queues_swallows_one_division_and_throws_the_next() -> None:
    """In 4.9.7 an empty list makes two divisions fail: the fallback's is swallowed, that of plain rotation is thrown."""
    told: list[Event] = []
    toy = Toy("4.9.7", "a1", observer=told.append)
    toy.note("a", 5, failed=True)
    toy.info.queues.clear()
    with pytest.raises(ZeroDivisionError):
        toy.avoiding()
    assert Swallowed("ArithmeticException") in told


def test_a_send_tells_what_it_charges_and_what_it_has_spent() -> None:
    """A send reports charges and spent time: a refused attempt costs broker a 10 s, and a timeout uses up the 3 s."""
    told: list[Event] = []
    Toy("5.3.3", "a1 b1", observer=told.append, draws=[5, 5], send_latency_fault_enable=True).send(
        (7, REFUSED), (3_007, TIMEOUT)
    )
    assert [event for event in told if isinstance(event, Charged | BudgetChecked)] == [
        BudgetChecked(0, 3_000),
        Charged("a", 7, 10_000, isolated=True, reachable=True),
        BudgetChecked(7, 3_000),
        Charged("b", 3_000, 10_000, isolated=True, reachable=True),
        BudgetChecked(3_007, 3_000),
    ]


def test_to_4_2_0_a_send_has_no_budget_to_tell() -> None:
    """To 4.2.0 a send reports no budget, because each attempt has its own timeout."""
    told: list[Event] = []
    Toy("4.2.0", "a1 b1", observer=told.append).send((3_000, TIMEOUT))
    assert [event for event in told if isinstance(event, BudgetChecked)] == [
        BudgetChecked(0, None),
        BudgetChecked(3_000, None),
    ]
