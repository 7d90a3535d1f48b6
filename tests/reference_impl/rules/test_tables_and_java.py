"""Fault tables, counters and Java's integers in rare cases: ties, names, single milliseconds."""

import pytest

from rocketdiff.oracle.choices import ChoiceExplorer
from rocketdiff.oracle.interval import Interval
from rocketmq_reference.dialects import RELEASES, dialect_of, flatten
from rocketmq_reference.rules.java import INT_MAX, INT_MIN, hash_order
from rocketmq_reference.rules.queue_choice import fault_table
from rocketmq_reference.rules.queue_choice.fault_table import FaultItem, FaultTable
from rocketmq_reference.rules.queue_choice.index import ABSOLUTE, CLAMPED, IndexRule, ThreadIndex
from tests.reference_impl.rules.toys import ScriptedTape

AS_IT_STANDS = IndexRule("as-it-stands", lambda tape: tape.int32(), lambda value: (value + 1, value))
"""Returns every number, also −1."""

NAMES = {
    "4.0.0-incubating": "clamped",
    "4.7.1": "clamped",
    "4.8.0": "absolute",
    "4.9.0": "read-absolute",
    "4.9.3": "read-absolute",
    "4.9.4": "masked",
    "4.9.8": "masked",
    "5.0.0": "masked-raw-start",
    "5.1.3": "masked-raw-start",
    "5.1.4": "resettable",
    "5.5.0": "resettable",
}


@pytest.mark.parametrize(("release", "name"), NAMES.items())
def test_the_counter_of_a_release_is_shown_by_name(release: str, name: str) -> None:
    """Each generation of the counter has a name (T1–T6, section 3.1 of the behaviours)."""
    assert flatten(dialect_of(release))["index.name"] == name


def test_only_a_resettable_counter_is_restarted() -> None:
    """T6: only the counter from 5.1.4 on can be restarted."""
    resetting = [release for release in RELEASES if dialect_of(release).producer.index.resets]
    assert resetting == list(RELEASES[RELEASES.index("5.1.4") :])
    assert not AS_IT_STANDS.resets


def test_a_fresh_item_is_reachable_and_due_for_the_detector() -> None:
    """A new item is reachable and due for a probe, as in Java (checkStamp is 0)."""
    item = FaultItem("a", 5, 700)
    assert (item.reachable, item.check_ms) == (True, 0)


def test_items_compare_as_javas_do() -> None:
    """Items compare to −1, 0 or 1, as in FaultItem.compareTo; the oracle needs these numbers."""
    table = FaultTable(fault_table.OVERWRITING)
    for item in (
        FaultItem("free", 9, 0),
        FaultItem("slow", 6, 80),
        FaultItem("late", 5, 90),
        FaultItem("early", 5, 80),
    ):
        table.items[item.broker] = item
    free, slow, late, early = table.items.values()
    for better, worse in ((free, slow), (late, slow), (early, late)):
        assert (table.compare(better, worse, 50), table.compare(worse, better, 50)) == (-1, 1)
    assert table.compare(late, late, 50) == 0


def test_a_counter_of_the_best_brokers_at_minus_one_is_an_index_error() -> None:
    """A counter of −1 is an IndexError: half of four brokers is two, and −1 % 2 is −1 in Java."""
    table = FaultTable(fault_table.OVERWRITING)
    for broker in "abcd":
        table.update(broker, 1, 100, True, 0)
    counter = ThreadIndex(AS_IT_STANDS, -1)
    with pytest.raises(IndexError):
        table.pick_one_at_least(counter, ScriptedTape(), 0)
    assert table.pick_one_at_least(counter, ScriptedTape(), 0) == "a"


def test_a_penalty_of_one_millisecond_counts() -> None:
    """L3 and L4 ignore only a penalty of 0 (``notAvailableDuration > 0``)."""
    table = FaultTable(fault_table.EXTENDING)
    table.update("a", 5, 1, True, 100)
    assert [table.is_available("a", now) for now in (100, 101)] == [False, True]


def test_an_uncertain_end_that_is_no_later_for_sure_moves_nothing() -> None:
    """An end of 100 to 110 ms never moves one of 110 to 120, because Java's comparison is strict."""
    explorer = ChoiceExplorer()
    table = FaultTable(fault_table.EXTENDING)
    table.update("a", 5, 100, True, Interval(10, 20, explorer))  # type: ignore[arg-type]
    table.update("a", 6, 90, True, Interval(10, 20, explorer))  # type: ignore[arg-type]
    assert repr(table.items["a"].start_ms) == "110–120"
    assert not explorer.advance(), "something was asked"


@pytest.mark.parametrize(
    ("names", "concurrent", "first"),
    [(11, True, "P"), (12, True, "A"), (12, False, "P"), (13, False, "A")],
)
def test_a_hash_map_doubles_one_later_than_a_concurrent_one(names: int, concurrent: bool, first: str) -> None:
    """
    At 12 of 16 a ConcurrentHashMap doubles; a HashMap needs one more (``++size > threshold``).

    "P" (80) is in bucket 0 of 16 and 16 of 32, "A" (65) in bucket 1 of both.
    """
    order = ["A", "P", *(f"other-{number}" for number in range(names - 2))]
    listed = [name for name in hash_order(order, buckets=16, concurrent=concurrent) if name in {"A", "P"}]
    assert listed[0] == first


def test_the_most_negative_start_is_clamped_by_the_oldest_only() -> None:
    """abs(MIN) is MIN: T1 starts at 0 instead, T2 continues from MIN."""
    assert ThreadIndex(CLAMPED).next(ScriptedTape(INT_MIN)) == 1
    assert ThreadIndex(ABSOLUTE).next(ScriptedTape(INT_MIN)) == INT_MAX
