"""A producer's fault table."""

import pytest

from rocketmq_reference.rules.queue_choice import index
from rocketmq_reference.rules.queue_choice.fault_table import (
    EXTENDING,
    EXTENDING_WITH_REACHABILITY,
    OVERWRITING,
    OVERWRITING_SHUFFLED,
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


def test_an_unknown_broker_is_available_and_reachable() -> None:
    """B4: a broker without an item is available and reachable."""
    made = FaultTable(OVERWRITING)
    assert made.is_available("a", 0) and made.is_reachable("a")


def test_a_broker_is_available_again_at_its_start() -> None:
    """B4: a broker is available again exactly when its avoidance ends."""
    made = table(OVERWRITING, ("a", 5, 600_000, 100))
    assert [made.is_available("a", now) for now in (600_099, 600_100)] == [False, True]


def test_one_fast_success_ends_an_avoidance_to_5_1_3() -> None:
    """B3: to 5.1.3 each update overwrites, so a fast success ends an avoidance."""
    made = table(OVERWRITING, ("a", 5, 600_000, 0), ("a", 3, 0, 10))
    assert made.is_available("a", 10)


def test_an_avoidance_is_only_extended_from_5_1_4() -> None:
    """From 5.1.4 neither a success nor a shorter penalty shortens an avoidance."""
    made = table(EXTENDING, ("a", 5, 10_000, 0), ("a", 3, 0, 10), ("a", 600, 2_000, 20))
    assert [made.is_available("a", now) for now in (9_999, 10_000)] == [False, True]


def test_a_longer_avoidance_extends() -> None:
    """A longer avoidance is counted from the later update."""
    made = table(EXTENDING, ("a", 5, 2_000, 0), ("a", 5, 10_000, 1_000))
    assert [made.is_available("a", now) for now in (10_999, 11_000)] == [False, True]


def test_unreachable_is_unavailable_in_5_1_4_only() -> None:
    """Upstream #7812: only in 5.1.4 is an unreachable broker unavailable."""
    for rules, available in ((EXTENDING_WITH_REACHABILITY, False), (EXTENDING, True)):
        made = FaultTable(rules)
        made.update("a", 5, 0, False, 0)
        assert (made.is_available("a", 1_000_000), made.is_reachable("a")) == (available, False)


def test_order_available_first_then_latency_then_start() -> None:
    """B5: items rank by availability, then latency, then start."""
    assert best(table(OVERWRITING, ("a", 1, 100, 0), ("b", 9, 0, 0))) == "b"
    assert best(table(OVERWRITING, ("a", 9, 100, 0), ("b", 1, 100, 0))) == "b"
    assert best(table(OVERWRITING, ("a", 1, 200, 0), ("b", 1, 100, 0))) == "b"


def test_of_one_to_three_brokers_always_the_best() -> None:
    """B6: of three brokers the best is always picked, because half of three is one."""
    made = table(OVERWRITING, ("a", 3, 100, 0), ("b", 1, 100, 0), ("c", 2, 100, 0))
    assert {best(made, worst=worst) for worst in range(6)} == {"b"}


def test_of_four_and_five_brokers_the_best_two_in_turn() -> None:
    """B6: of five brokers the best two are picked in turn."""
    made = table(
        OVERWRITING, *((broker, latency, 100, 0) for broker, latency in zip("abcde", (5, 4, 3, 2, 1), strict=True))
    )
    assert [best(made, worst=worst) for worst in (-1, 0, 1)] == ["e", "d", "e"]


def test_an_empty_table_has_no_best() -> None:
    """An empty table has no best broker for the fallback."""
    assert best(FaultTable(OVERWRITING)) is None


def test_ties_go_by_hash_order_from_4_9_4() -> None:
    """From 4.9.4 ties go by hash order: "b" (98) is in bucket 2 of 32, "a" (97) in bucket 1."""
    assert best(table(OVERWRITING, ("b", 1, 100, 0), ("a", 1, 100, 0))) == "a"


def test_ties_go_by_the_shuffle_before() -> None:
    """Before 4.9.4 ties go by the shuffle, which reverses the hash order here."""
    assert best(table(OVERWRITING_SHUFFLED, ("b", 1, 100, 0), ("a", 1, 100, 0))) == "b"


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


def test_a_removed_broker_is_available() -> None:
    """A removed broker is available, and a second removal has no effect."""
    made = table(OVERWRITING, ("a", 5, 600_000, 0))
    made.remove("a")
    made.remove("a")
    assert made.is_available("a", 0)


def test_a_copy_is_independent() -> None:
    """A copy shares no items with the original."""
    made = table(OVERWRITING, ("a", 5, 0, 0))
    made.copy().update("a", 5, 600_000, True, 0)
    assert made.is_available("a", 0)
