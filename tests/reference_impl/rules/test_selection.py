"""Choosing a queue with fault latency off (described-behaviours A1–A4)."""

import pytest

from rocketmq_reference.rules.java import INT_MAX
from tests.reference_impl.rules.toys import Toy

OLD, NEW = "4.7.1", "5.3.3"


@pytest.mark.parametrize("release", [OLD, NEW])
def test_rotation_visits_all_queues_in_turn(release: str) -> None:
    """A1: two brokers of four queues."""
    toy = Toy(release)
    assert " ".join(toy.plain() for _ in range(9)) == "a0 a1 a2 a3 b0 b1 b2 b3 a0"


@pytest.mark.parametrize("release", [OLD, NEW])
def test_rotation_begins_anywhere(release: str) -> None:
    """A1: the start is random, the order is not."""
    toy = Toy(release, index=13)
    assert " ".join(toy.plain() for _ in range(4)) == "b2 b3 a0 a1"


def test_five_and_six_queues() -> None:
    """A2."""
    for queues, order in (("a5", "a0 a1 a2 a3 a4 a0 a1"), ("a3 b3", "a0 a1 a2 b0 b1 b2 a0")):
        toy = Toy(NEW, queues)
        assert " ".join(toy.plain() for _ in range(7)) == order


def test_a_retry_of_the_old_kind_costs_one_tick() -> None:
    """P1: from a1 the walk ends at b0, the next selection goes on at a2."""
    toy = Toy(OLD, index=0)
    assert [toy.plain("a"), toy.plain()] == ["b0", "a2"]


def test_a_retry_of_the_new_kind_costs_a_tick_for_each_queue() -> None:
    """A4, P2: a1 a2 a3 b0 are four ticks, the next selection goes on at b1."""
    toy = Toy(NEW, index=0)
    assert [toy.plain("a"), toy.plain()] == ["b0", "b1"]


@pytest.mark.parametrize(("release", "next_queue"), [(OLD, "a2"), (NEW, "a1")])
def test_with_one_broker_the_retry_stays_there(release: str, next_queue: str) -> None:
    """A3: nothing else is left; P1 has used one tick before (a0, then a1), P2 four (a0…a3, then a0)."""
    toy = Toy(release, "a4")
    toy.plain("a")
    assert toy.plain() == next_queue


def test_three_brokers_old_kind_can_return_and_new_kind_does_not_skip_c() -> None:
    """Upstream #2223: from b3, P1 walks over b to c only because its tick stands at b."""
    assert Toy(OLD, "a1 b1 c1", index=0).plain("b") == "c0"
    assert Toy(OLD, "a1 b1 c1", index=2).plain("b") == "a0"


def test_old_walk_over_the_overflow() -> None:
    """The counter hands out MAX, the walk goes on at abs(MIN) = MIN, clamped to position 0: b1, then a0."""
    toy = Toy(OLD, "a1 b1", index=INT_MAX - 1)
    assert toy.plain("b") == "a0"


def test_an_empty_list_is_an_arithmetic_error() -> None:
    """As in every release; a send never gets here."""
    with pytest.raises(ZeroDivisionError):
        Toy(NEW, "").plain()
