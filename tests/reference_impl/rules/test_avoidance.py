"""Queue selection with fault latency on (described-behaviours B7–B11 and D1–D3)."""

import pytest

from rocketmq_reference.rules.java import INT_MAX
from rocketmq_reference.rules.queue_choice.events import Event, Swallowed
from tests.reference_impl.rules.toys import Toy


def program(toy: Toy, *, fails: bool) -> list[list[str]]:
    """The published test program: a (broker1) takes 30 s, b (broker2) 50 s; ten sends of at most two tries."""
    sends = []
    for _ in range(10):
        tries: list[str] = []
        for _ in range(2 if fails else 1):
            broker = toy.avoiding(tries[-1] if tries else None)[0]
            toy.note(broker, {"a": 30_000, "b": 50_000}[broker])
            tries.append(broker)
        sends.append(tries)
    return sends


def test_the_published_program_with_success() -> None:
    """B8: successful sends go to broker1, broker2, then broker1 eight times."""
    assert program(Toy("4.7.1"), fails=False) == [["a"], ["b"], *[["a"]] * 8]


def test_the_published_program_with_failure() -> None:
    """B8, B9: the first retry stays at broker1, because only broker1 has a fault item."""
    assert program(Toy("4.7.1"), fails=True) == [["a", "a"], ["b", "a"], *[["a", "a"]] * 8]


def test_a_retry_to_4_7_1_takes_the_best_known_instead_of_a_healthy_untried_broker() -> None:
    """B11: to 4.7.1 a retry after a failure of a selects b, the best known, not the healthy but unknown c or d."""
    toy = Toy("4.7.1", "a1 b1 c1 d1")
    toy.note("b", 5)
    toy.note("a", 5, failed=True)
    assert toy.avoiding("a")[0] == "b"


def test_the_fallback_of_4_9_8_leaves_the_list_alone() -> None:
    """Upstream #7779: the fallback of 4.9.8 takes the same three ticks to the same queue, without changing the list."""
    toy = Toy("4.9.8")
    toy.note("a", 5, failed=True)
    toy.note("b", 4, failed=True)
    assert (toy.avoiding(), toy.index.value) == ("b2", 2)
    assert toy.listed == "a0 a1 a2 a3 b0 b1 b2 b3"


def test_an_empty_table_and_nothing_acceptable_meets_a_swallowed_exception() -> None:
    """In 5.1.3 with one broker, removing a null name throws; this is swallowed, and plain rotation follows."""
    events: list[Event] = []
    toy = Toy("5.1.3", "a4", observer=events.append)
    assert toy.avoiding("a") == "a1"
    assert Swallowed("NullPointerException") in events


@pytest.mark.parametrize(("release", "queue"), [("5.0.0", "b0"), ("5.1.0", "a0")])
def test_a_guarded_walk_continues_at_0_after_max(release: str, queue: str) -> None:
    """
    Three queues a0 a1 b0, all avoided; the counter returns MAX (position 1).

    The guarded walk continues at 0 and 1 and falls back on b, the best. Unguarded, MIN % 3 is negative: plain rotation selects
    a0, where the counter is.
    """
    toy = Toy(release, "a2 b1", index=INT_MAX - 1)
    toy.note("b", 1, failed=True)
    toy.note("a", 5, failed=True)
    assert toy.avoiding() == queue


def test_tiers_available_then_reachable_then_any() -> None:
    """
    From 5.1.4: two brokers of one queue, a avoided, the last attempt failed on b.

    Only b is available: two ticks. Reachable and not b is a0: one tick. With a unreachable: two more ticks, then the next
    queue.
    """
    toy = Toy("5.3.3", "a1 b1")
    toy.note("a", 5, failed=True)
    assert (toy.avoiding("b"), toy.index.value) == ("a0", 2)
    toy.note("a", 5, failed=True, reachable=False)
    assert (toy.avoiding("b"), toy.index.value) == ("b0", 7)
