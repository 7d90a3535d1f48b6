"""The best known broker, with uncertain latencies."""

from rocketdiff.oracle.choices import ChoiceExplorer, ChoiceTape
from rocketdiff.oracle.interval import Interval, as_ms
from rocketdiff.oracle.producer.states.uncertain import UncertainFaultTable
from rocketmq_reference.rules.queue_choice import index
from rocketmq_reference.rules.queue_choice.fault_table import OVERWRITING, OVERWRITING_SHUFFLED, FaultRules
from rocketmq_reference.rules.queue_choice.index import ThreadIndex

FAR = 10**9


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


def test_who_is_certainly_better_is_the_only_pick() -> None:
    """A broker of 1–2 ms is picked before one of 3–4."""
    assert best({"a": (3, 4), "b": (1, 2)}) == {"b"}


def test_overlapping_latencies_leave_both() -> None:
    """With 1–3 and 3–4 ms both may be picked: at 3 the hash order decides, a first."""
    assert best({"a": (3, 4), "b": (1, 3)}) == {"a", "b"}


def test_equal_latencies_go_by_hash_order_or_by_the_shuffle() -> None:
    """Equal latencies follow the hash order, or a shuffle in any order."""
    assert best({"b": (3, 3), "a": (3, 3)}) == {"a"}
    assert best({"b": (3, 3), "a": (3, 3)}, rules=OVERWRITING_SHUFFLED) == {"a", "b"}


def test_the_second_best_of_four() -> None:
    """The second best may be b or c: a is certainly the best, d the worst."""
    four = {"a": (1, 2), "b": (3, 5), "c": (4, 6), "d": (8, 9)}
    assert (best(four, worst=0), best(four, worst=1)) == ({"a"}, {"b", "c"})
