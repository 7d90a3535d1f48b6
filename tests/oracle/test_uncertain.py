"""Which broker may be the best known, against all sortings; and brokers of other lists."""

from itertools import permutations, product
from typing import Any

import pytest

from rocketdiff.oracle.choices import ChoiceExplorer, ChoiceTape
from rocketdiff.oracle.interval import Interval, as_ms
from rocketdiff.oracle.producer.states.uncertain import UncertainFaultTable, UncertainPublishInfo, write_queues_in
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.queue_choice import index
from rocketmq_reference.rules.queue_choice.fault_table import (
    EXTENDING,
    EXTENDING_WITH_REACHABILITY,
    OVERWRITING,
    OVERWRITING_SHUFFLED,
    FaultItem,
    FaultRules,
)
from rocketmq_reference.rules.queue_choice.index import ThreadIndex

FAR = 10**9
INTERVALS = [(lo, hi) for lo in range(1, 4) for hi in range(lo, 4)]


def table(latencies: dict[str, tuple[int, int]], *, shuffled: bool) -> UncertainFaultTable:
    """All brokers are avoided until the same instant."""
    made = UncertainFaultTable(OVERWRITING_SHUFFLED if shuffled else OVERWRITING, ChoiceExplorer())
    for broker, bounds in latencies.items():
        made.update(broker, as_ms(Interval(*bounds, made.explorer)), FAR, True, 0)
    return made


def picked(made: UncertainFaultTable, rank: int) -> set[str]:
    """Return the brokers that may have this rank."""
    items: list[FaultItem] = list(made.items.values())
    found = set()
    made.explorer.restart()
    while True:
        found.add(made.ranked(items, rank, 0).broker)
        if not made.explorer.advance():
            return found


def by_sorting(latencies: dict[str, tuple[int, int]], rank: int, *, shuffled: bool) -> set[str]:
    """Sort all possible latencies; equal ones in the given order, or in any."""
    found = set()
    for values in product(*(range(lo, hi + 1) for lo, hi in latencies.values())):
        exact = dict(zip(latencies, values, strict=True))
        for order in permutations(latencies) if shuffled else [tuple(latencies)]:
            found.add(sorted(order, key=lambda broker: exact[broker])[rank])
    return found


@pytest.mark.parametrize("shuffled", [False, True])
def test_every_broker_that_may_have_a_rank_is_found(shuffled: bool) -> None:
    """
    All brokers that may have a rank are found, for three with all intervals of 1–3 ms.

    No other is, except in the middle where equal latencies keep their order: a comparison by pairs also finds one
    before or after both others, which only makes more legal.
    """
    for bounds in product(INTERVALS, repeat=3):
        latencies = dict(zip("abc", bounds, strict=True))
        for rank in range(3):
            right = by_sorting(latencies, rank, shuffled=shuffled)
            found = picked(table(latencies, shuffled=shuffled), rank)
            is_exact = shuffled or rank != 1
            assert found == right if is_exact else right <= found, (latencies, rank)


def test_a_copy_of_a_table_is_a_table_of_its_own() -> None:
    """A copied table is independent but has the same explorer and rules."""
    made = table({"a": (1, 2)}, shuffled=False)
    copied = made.copy()
    copied.items["a"].reachable = False
    copied.update("b", 1, 0, True, 0)
    assert (list(made.items), made.items["a"].reachable) == (["a"], True)
    assert (copied.explorer, copied.rules, list(copied.items)) == (made.explorer, made.rules, ["a", "b"])


def outcomes(rules: FaultRules, moving: dict[str, set[bool]], question: str, *names: str) -> set[Any]:
    """All answers of a table in which a is avoided and unreachable, b is neither, while some are noted."""
    made = UncertainFaultTable(rules, ChoiceExplorer())
    found: set[Any] = set()
    for broker, until_ms in (("a", FAR), ("b", 0)):
        made.update(broker, 5, until_ms, True, 0)
        made.items[broker].reachable = broker == "b"
    while True:
        table = made.copy()
        table.moving = {broker: frozenset(after) for broker, after in moving.items()}
        if question == "pick":
            found.add(table.pick_one_at_least(ThreadIndex(index.MASKED, -1), ChoiceTape(made.explorer), 1))
        elif question == "compare":
            found.add(table.compare(table.items[names[0]], table.items[names[1]], 1))
        elif question == "reachable":
            found.add(table.is_reachable(names[0]))
        else:
            found.add(table.is_available(names[0], 1))
        if not made.explorer.advance():
            return found


@pytest.mark.parametrize(
    ("rules", "broker", "after", "available", "reachable"),
    [
        (OVERWRITING, "a", set(), {False}, {False}),
        (OVERWRITING, "a", {True}, {True, False}, {True, False}),
        (OVERWRITING, "a", {False}, {False}, {False}),
        (OVERWRITING, "b", {True}, {True}, {True}),
        (OVERWRITING, "b", {False}, {True, False}, {True, False}),
        (OVERWRITING, "b", {True, False}, {True, False}, {True, False}),
        (EXTENDING, "a", {True}, {False}, {True, False}),
        (EXTENDING, "b", {True, False}, {True, False}, {True, False}),
        (EXTENDING_WITH_REACHABILITY, "a", {True}, {True, False}, {True, False}),
    ],
)
def test_a_broker_that_is_noted_meanwhile_is_read_before_or_after(
    rules: FaultRules, broker: str, after: set[bool], available: set[bool], reachable: set[bool]
) -> None:
    """A quick answer ends no avoidance where notes only extend them, unless the broker was unreachable."""
    moving = {broker: after} if after else {}
    assert outcomes(rules, moving, "available", broker) == available
    assert outcomes(rules, moving, "reachable", broker) == reachable


@pytest.mark.parametrize(
    ("moving", "orders"), [((), {1}), (("a",), {-1, 1}), (("b",), {-1, 1}), (("a", "b"), {-1, 1}), (("c",), {1})]
)
def test_brokers_that_are_noted_meanwhile_have_any_order(moving: tuple[str, ...], orders: set[int]) -> None:
    """Of a, which is avoided, and b, which is not, if one of them is noted."""
    assert outcomes(OVERWRITING, {broker: {True} for broker in moving}, "compare", "a", "b") == orders


@pytest.mark.parametrize(("moving", "picked"), [((), {"b"}), (("c",), {"b", "c"}), (("b",), {"a", "b"})])
def test_a_broker_noted_for_the_first_time_may_be_the_best_known(moving: tuple[str, ...], picked: set[str]) -> None:
    """C may have its item already, or not; a is the best only if b is noted meanwhile."""
    assert outcomes(OVERWRITING, {broker: {True} for broker in moving}, "pick") == picked


def test_a_rewrite_that_is_kept_is_done_once() -> None:
    """It changes the list when it is written; a second writing changes nothing."""
    info = UncertainPublishInfo([("a", 0), ("b", 0)], {}, ChoiceExplorer())
    info.defers = True
    info.rewrite(1, Queue("a", 1))
    assert info.queues == [Queue("a", 0), Queue("b", 0)]
    info.write_now()
    assert info.queues == [Queue("a", 0), Queue("a", 1)]
    info.queues[1] = Queue("b", 0)
    info.write_now()
    assert info.queues == [Queue("a", 0), Queue("b", 0)]


def test_write_queues_are_counted_by_broker() -> None:
    """Write queues are counted by broker, in any order."""
    assert write_queues_in([("a", 0), ("b", 0), ("a", 1), ("a", 2)]) == {"a": 3, "b": 1}
    assert write_queues_in([]) == {}


def answers(info: UncertainPublishInfo, explorer: ChoiceExplorer, *brokers: str) -> list[list[int]]:
    """Return the brokers' write queues in a copy, in every outcome."""
    ways = []
    explorer.restart()
    while True:
        copy = info.copy()
        ways.append([copy.write_queues_of(broker) for broker in brokers])
        if not explorer.advance():
            return ways


def test_a_broker_of_another_list_is_in_the_route_still_or_not() -> None:
    """A broker of another list may be in the route, with its write queues; this is chosen once per broker."""
    explorer = ChoiceExplorer()
    info = UncertainPublishInfo([("a", 0)], {"a": 1, "b": 2, "c": 3}, explorer)
    assert answers(info, explorer, "b", "c", "b") == [[-1, -1, -1], [-1, 3, -1], [2, -1, 2], [2, 3, 2]]
    assert answers(info, explorer, "a", "d") == [[1, -1]], "a is in the list, and d in none"


def test_a_copy_keeps_the_answers_of_its_list() -> None:
    """A copy keeps the list's answers; the list does not get the copy's."""
    explorer = ChoiceExplorer()
    info = UncertainPublishInfo([("a", 0)], {"b": 2}, explorer)
    info.answered["b"] = 2
    assert answers(info, explorer, "b", "a") == [[2, 1]]
    copied = info.copy()
    copied.answered["b"] = -1
    copied.queues[0] = Queue("b", 1)
    assert (info.answered, info.queues) == ({"b": 2}, [Queue("a", 0)])


def best(latencies: dict[str, tuple[int, int]], *, rules: FaultRules = OVERWRITING, worst: int = 0) -> set[str | None]:
    """Return all possible picks; all brokers are avoided until the same instant."""
    explorer = ChoiceExplorer()
    table = UncertainFaultTable(rules, explorer)
    for broker, bounds in latencies.items():
        table.update(broker, as_ms(Interval(*bounds, explorer)), FAR, True, 0)
    found: set[str | None] = set()
    explorer.restart()
    while True:
        found.add(table.copy().pick_one_at_least(ThreadIndex(index.MASKED, worst - 1), ChoiceTape(explorer), 0))
        if not explorer.advance():
            return found


def test_equal_latencies_go_by_hash_order_or_by_the_shuffle() -> None:
    """Equal latencies follow the hash order, or a shuffle in any order; of four the second best may be b or c."""
    assert best({"b": (3, 3), "a": (3, 3)}) == {"a"}
    assert best({"b": (3, 3), "a": (3, 3)}, rules=OVERWRITING_SHUFFLED) == {"a", "b"}
    four = {"a": (1, 2), "b": (3, 5), "c": (4, 6), "d": (8, 9)}
    assert (best(four, worst=0), best(four, worst=1)) == ({"a"}, {"b", "c"})
