"""Cases of the rules that no random script reaches, found by surviving mutants."""

import pytest

from rocketmq_reference.rules.client.publish import PublishInfo
from rocketmq_reference.rules.java import string_hash
from rocketmq_reference.rules.queue_choice import fault_table
from rocketmq_reference.rules.queue_choice.fault_table import FaultItem, FaultTable
from rocketmq_reference.rules.queue_choice.index import MASKED, ThreadIndex
from rocketmq_reference.rules.queue_choice.penalties import PenaltyTable
from rocketmq_reference.rules.tape import RandomTape

FIRST_OF_THIRTY = "b10 b12 b11 b14 b13 b16 b15 b18 b17 b19 b0 b1 b2 b3 b4"
FIRST_OF_SIXTY = (
    "b10 b54 b53 b12 b56 b11 b55 b14 b58 b13 b57 b16 b15 b59 b18 b17 b19 b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 b21 b20 b23"
)
"""Successive choices of 4.9.4's own classes among 30 and 60 equally bad brokers b0, b1, … (executed)."""


@pytest.mark.parametrize(("brokers", "expected"), [(30, FIRST_OF_THIRTY), (60, FIRST_OF_SIXTY)])
def test_a_large_fault_table_is_listed_as_java_lists_it(brokers: int, expected: str) -> None:
    """Java's table doubles once for 30 and twice for 60 brokers; the first half of equally bad ones is used in turn."""
    table = FaultTable(fault_table.OVERWRITING)
    for number in range(brokers):
        table.update(f"b{number}", 5, 600_000, True, 0)
    index = ThreadIndex(MASKED, brokers // 2 * 1_000 - 1)
    chosen = [table.pick_one_at_least(index, RandomTape(1), 0) for _ in range(brokers // 2)]
    assert chosen == expected.split()


def test_of_equally_slow_brokers_the_earlier_free_one_is_better() -> None:
    """Of equally slow brokers the one available earlier ranks first, in any order."""
    table = FaultTable(fault_table.OVERWRITING)
    items = [FaultItem(str(start), 5, start) for start in (30, 10, 20, 40)]
    ranks = [table.ranked(given, rank, 0).start_ms for given in (items, items[::-1]) for rank in range(4)]
    assert ranks == [10, 20, 30, 40] * 2


def test_every_threshold_of_a_penalty_table_counts() -> None:
    """Every threshold counts, also the lowest, which costs nothing in all releases."""
    table = PenaltyTable((10, 20, 30), (1, 2, 3))
    assert [table.avoidance_ms(latency) for latency in (9, 10, 19, 20, 29, 30)] == [0, 1, 1, 2, 2, 3]


def test_hashes_of_characters_beyond_a_byte() -> None:
    """``"中".hashCode()`` is its code unit, 0x4E2D; a lone surrogate counts as a code unit too."""
    assert string_hash("中") == 0x4E2D
    assert string_hash("\ud800") == 0xD800


def test_a_list_without_route_data_has_no_write_queues() -> None:
    """Without route data, write queues are an error, as Java's NullPointerException."""
    with pytest.raises(TypeError, match="no route data"):
        PublishInfo([("a", 0)]).write_queues_of("a")


def test_a_table_needs_a_penalty_for_each_threshold() -> None:
    """A table with fewer penalties than thresholds is rejected."""
    with pytest.raises(ValueError, match="as many"):
        PenaltyTable((50, 100), (0,))


def test_brokers_of_one_bucket_keep_the_order_of_insertion() -> None:
    """Brokers with the same hash, as "Aa" and "BB", keep the order of insertion."""
    table = FaultTable(fault_table.OVERWRITING)
    for broker in ("BB", "Aa"):
        table.update(broker, 1, 100, True, 0)
    assert table.pick_one_at_least(ThreadIndex(MASKED, -1), RandomTape(1), 0) == "BB"
