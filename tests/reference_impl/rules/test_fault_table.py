"""A producer's fault table."""

import pytest

from rocketmq_reference.rules.queue_choice import index
from rocketmq_reference.rules.queue_choice.fault_table import (
    EXTENDING,
    OVERWRITING,
    FaultTable,
)
from rocketmq_reference.rules.queue_choice.index import ThreadIndex
from tests.reference_impl.rules.toys import ScriptedTape


def table(rules: object, *updates: tuple[str, int, int, int]) -> FaultTable:
    """Build a table from updates (broker, latency, avoidance, time)."""
    made = FaultTable(rules)  # type: ignore[arg-type]
    for broker, latency, avoid, now in updates:
        made.update(broker, latency, avoid, True, now)
    return made


def best(made: FaultTable, now: int = 0, worst: int = -1) -> str | None:
    return made.pick_one_at_least(ThreadIndex(index.MASKED, worst), ScriptedTape(), now)


def test_a_broker_is_available_again_at_its_start() -> None:
    """B4: a broker is available again exactly when its avoidance ends."""
    made = table(OVERWRITING, ("a", 5, 600_000, 100))
    assert [made.is_available("a", now) for now in (600_099, 600_100)] == [False, True]


def test_a_longer_avoidance_extends() -> None:
    """A longer avoidance is counted from the later update."""
    made = table(EXTENDING, ("a", 5, 2_000, 0), ("a", 5, 10_000, 1_000))
    assert [made.is_available("a", now) for now in (10_999, 11_000)] == [False, True]


def test_an_empty_table_has_no_best() -> None:
    """An empty table has no best broker for the fallback."""
    assert best(FaultTable(OVERWRITING)) is None


def test_brokers_of_one_bucket_keep_the_order_of_insertion() -> None:
    """Brokers with the same hash, as "Aa" and "BB", keep the order of insertion."""
    assert best(table(OVERWRITING, ("BB", 1, 100, 0), ("Aa", 1, 100, 0))) == "BB"


@pytest.mark.parametrize(("brokers", "order"), [(23, ["`", "A"]), (24, ["A", "`"])])
def test_the_table_doubles_as_soon_as_three_quarters_are_reached(brokers: int, order: list[str]) -> None:
    """
    The table doubles at 24 brokers, as in 4.9.4's classes.

    Backtick (96) is in bucket 0 of 32 and 32 of 64, "A" (65) in bucket 1 of both.
    """
    names = ["A", "`", *(f"other-{number}" for number in range(brokers - 2))]
    made = table(OVERWRITING, *((name, 1, 100, 0) for name in names))
    assert [item.broker for item in made.in_java_order() if item.broker in order] == order


def test_a_counter_gone_negative_is_an_index_error() -> None:
    """A negative counter is an IndexError: half of six brokers is three, and MIN % 3 is −2 in Java."""
    made = table(OVERWRITING, *((broker, 1, 100, 0) for broker in "abcdef"))
    with pytest.raises(IndexError):
        made.pick_one_at_least(ThreadIndex(index.ABSOLUTE, 2**31 - 1), ScriptedTape(), 0)
