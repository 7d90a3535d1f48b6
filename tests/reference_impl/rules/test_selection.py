"""Queue selection with fault latency off (described-behaviours A1–A4)."""

import pytest

from rocketmq_reference.rules.java import INT_MAX
from tests.reference_impl.rules.toys import Toy

OLD, NEW = "4.7.1", "5.3.3"


@pytest.mark.parametrize("release", [OLD, NEW])
def test_rotation_visits_all_queues_in_turn(release: str) -> None:
    """A1: rotation visits all queues of two brokers in turn."""
    toy = Toy(release)
    assert " ".join(toy.plain() for _ in range(9)) == "a0 a1 a2 a3 b0 b1 b2 b3 a0"


@pytest.mark.parametrize("release", [OLD, NEW])
def test_rotation_begins_anywhere(release: str) -> None:
    """A1: rotation begins at a random queue, and its order is fixed."""
    toy = Toy(release, index=13)
    assert " ".join(toy.plain() for _ in range(4)) == "b2 b3 a0 a1"


def test_five_and_six_queues() -> None:
    """A2: rotation visits five and six queues in order."""
    for queues, order in (("a5", "a0 a1 a2 a3 a4 a0 a1"), ("a3 b3", "a0 a1 a2 b0 b1 b2 a0")):
        toy = Toy(NEW, queues)
        assert " ".join(toy.plain() for _ in range(7)) == order


def test_a_retry_of_the_old_kind_costs_one_tick() -> None:
    """P1: a retry takes one tick: the walk from a1 ends at b0, the next selection is a2."""
    toy = Toy(OLD, index=0)
    assert [toy.plain("a"), toy.plain()] == ["b0", "a2"]


def test_a_retry_of_the_new_kind_costs_a_tick_for_each_queue() -> None:
    """A4, P2: a retry takes a tick per queue, four for a1 a2 a3 b0; the next selection is b1."""
    toy = Toy(NEW, index=0)
    assert [toy.plain("a"), toy.plain()] == ["b0", "b1"]


@pytest.mark.parametrize(("release", "next_queue"), [(OLD, "a2"), (NEW, "a1")])
def test_with_one_broker_the_retry_stays_there(release: str, next_queue: str) -> None:
    """
    A3: a retry stays at the only broker.

    P1 has used one tick before (a0, then a1), P2 four (a0…a3, then a0).
    """
    toy = Toy(release, "a4")
    toy.plain("a")
    assert toy.plain() == next_queue


def test_three_brokers_old_kind_can_return_and_new_kind_does_not_skip_c() -> None:
    """Upstream #2223: a retry of P1 after b selects c if the counter's position is b, and a if it is a."""
    assert Toy(OLD, "a1 b1 c1", index=0).plain("b") == "c0"
    assert Toy(OLD, "a1 b1 c1", index=2).plain("b") == "a0"


def test_old_walk_over_the_overflow() -> None:
    """At MAX the old walk continues at abs(MIN) = MIN, which is clamped to position 0: b1, then a0."""
    toy = Toy(OLD, "a1 b1", index=INT_MAX - 1)
    assert toy.plain("b") == "a0"


def test_an_empty_list_is_an_arithmetic_error() -> None:
    """Selection from an empty list is a division by zero in every release; a send never does it."""
    with pytest.raises(ZeroDivisionError):
        Toy(NEW, "").plain()
