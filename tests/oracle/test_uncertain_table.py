"""The best known broker, when latencies are known in part."""

from rocketdiff.oracle.choices import ChoiceExplorer, ChoiceTape
from rocketdiff.oracle.interval import Interval, as_ms
from rocketdiff.oracle.producer.states.uncertain import UncertainFaultTable
from rocketmq_reference.rules.queue_choice import index
from rocketmq_reference.rules.queue_choice.fault_table import OVERWRITING, OVERWRITING_SHUFFLED, FaultRules
from rocketmq_reference.rules.queue_choice.index import ThreadIndex

FAR = 10**9


def best(latencies: dict[str, tuple[int, int]], *, rules: FaultRules = OVERWRITING, worst: int = 0) -> set[str | None]:
    """Everybody who may be the pick; all are avoided until the same instant."""
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
    """1–2 ms against 3–4."""
    assert best({"a": (3, 4), "b": (1, 2)}) == {"b"}


def test_overlapping_latencies_leave_both() -> None:
    """1–3 against 3–4: equal at 3, and then the hash order, in which a comes first."""
    assert best({"a": (3, 4), "b": (1, 3)}) == {"a", "b"}


def test_equal_latencies_go_by_hash_order_or_by_the_shuffle() -> None:
    """Certain, and left open."""
    assert best({"b": (3, 3), "a": (3, 3)}) == {"a"}
    assert best({"b": (3, 3), "a": (3, 3)}, rules=OVERWRITING_SHUFFLED) == {"a", "b"}


def test_the_second_best_of_four() -> None:
    """D is certainly the worst, a certainly the best; b and c are open."""
    four = {"a": (1, 2), "b": (3, 5), "c": (4, 6), "d": (8, 9)}
    assert (best(four, worst=0), best(four, worst=1)) == ({"a"}, {"b", "c"})
