"""Who may be the best known broker, against every way to sort; and lists whose brokers other lists have."""

from itertools import permutations, product

import pytest

from rocketdiff.oracle.choices import ChoiceExplorer
from rocketdiff.oracle.interval import Interval, as_ms
from rocketdiff.oracle.producer.states.uncertain import UncertainFaultTable, UncertainPublishInfo, write_queues_in
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.queue_choice.fault_table import OVERWRITING, OVERWRITING_SHUFFLED, FaultItem

FAR = 10**9
INTERVALS = [(lo, hi) for lo in range(1, 4) for hi in range(lo, 4)]


def table(latencies: dict[str, tuple[int, int]], *, shuffled: bool) -> UncertainFaultTable:
    """All are avoided until the same instant."""
    made = UncertainFaultTable(OVERWRITING_SHUFFLED if shuffled else OVERWRITING, ChoiceExplorer())
    for broker, bounds in latencies.items():
        made.update(broker, as_ms(Interval(*bounds, made.explorer)), FAR, True, 0)
    return made


def picked(made: UncertainFaultTable, rank: int) -> set[str]:
    """Who may have that rank."""
    items: list[FaultItem] = list(made.items.values())
    found = set()
    made.explorer.restart()
    while True:
        found.add(made.ranked(items, rank, 0).broker)
        if not made.explorer.advance():
            return found


def by_sorting(latencies: dict[str, tuple[int, int]], rank: int, *, shuffled: bool) -> set[str]:
    """Every latency that each may have, sorted; equal ones in the order given, or in any."""
    found = set()
    for values in product(*(range(lo, hi + 1) for lo, hi in latencies.values())):
        exact = dict(zip(latencies, values, strict=True))
        for order in permutations(latencies) if shuffled else [tuple(latencies)]:
            found.add(sorted(order, key=lambda broker: exact[broker])[rank])
    return found


@pytest.mark.parametrize("shuffled", [False, True])
def test_whoever_may_have_a_rank_is_found(shuffled: bool) -> None:
    """
    Three brokers with every latency of 1–3 ms that may be known of each.

    Nobody else is, but for the middle one where equal ones keep their order: one that is before both others or after
    both is taken to come between them too, since they are looked at two by two, which only makes more legal.
    """
    for bounds in product(INTERVALS, repeat=3):
        latencies = dict(zip("abc", bounds, strict=True))
        for rank in range(3):
            right = by_sorting(latencies, rank, shuffled=shuffled)
            found = picked(table(latencies, shuffled=shuffled), rank)
            is_exact = shuffled or rank != 1
            assert found == right if is_exact else right <= found, (latencies, rank)


def test_a_copy_of_a_table_is_a_table_of_its_own() -> None:
    """With the same explorer and rules."""
    made = table({"a": (1, 2)}, shuffled=False)
    copied = made.copy()
    copied.items["a"].reachable = False
    copied.update("b", 1, 0, True, 0)
    assert (list(made.items), made.items["a"].reachable) == (["a"], True)
    assert (copied.explorer, copied.rules, list(copied.items)) == (made.explorer, made.rules, ["a", "b"])


def test_write_queues_are_counted_by_broker() -> None:
    """However they are mixed."""
    assert write_queues_in([("a", 0), ("b", 0), ("a", 1), ("a", 2)]) == {"a": 3, "b": 1}
    assert write_queues_in([]) == {}


def answers(info: UncertainPublishInfo, explorer: ChoiceExplorer, *brokers: str) -> list[list[int]]:
    """Of a copy, in every way."""
    ways = []
    explorer.restart()
    while True:
        copy = info.copy()
        ways.append([copy.write_queues_of(broker) for broker in brokers])
        if not explorer.advance():
            return ways


def test_a_broker_of_another_list_is_in_the_route_still_or_not() -> None:
    """With its own number of write queues, the same whenever it is asked for; of each broker by itself."""
    explorer = ChoiceExplorer()
    info = UncertainPublishInfo([("a", 0)], {"a": 1, "b": 2, "c": 3}, explorer)
    assert answers(info, explorer, "b", "c", "b") == [[-1, -1, -1], [-1, 3, -1], [2, -1, 2], [2, 3, 2]]


def test_what_was_answered_is_known_to_copies() -> None:
    """And what a copy is answered is not known to the list it was copied from."""
    explorer = ChoiceExplorer()
    info = UncertainPublishInfo([("a", 0)], {"b": 2}, explorer)
    info.answered["b"] = 2
    assert answers(info, explorer, "b", "a") == [[2, 1]]
    copied = info.copy()
    copied.answered["b"] = -1
    copied.queues[0] = Queue("b", 1)
    assert (info.answered, info.queues) == ({"b": 2}, [Queue("a", 0)])
