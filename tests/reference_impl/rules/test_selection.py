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


def test_three_brokers_old_kind_can_return_and_new_kind_does_not_skip_c() -> None:
    """Upstream #2223: a retry of P1 after b selects c if the counter's position is b, and a if it is a."""
    assert Toy(OLD, "a1 b1 c1", index=0).plain("b") == "c0"
    assert Toy(OLD, "a1 b1 c1", index=2).plain("b") == "a0"


def test_the_old_walk_continues_at_position_0_after_max() -> None:
    """At MAX the old walk continues at abs(MIN) = MIN, which is clamped to position 0: b1, then a0."""
    toy = Toy(OLD, "a1 b1", index=INT_MAX - 1)
    assert toy.plain("b") == "a0"


def test_an_empty_list_is_an_arithmetic_error() -> None:
    """Selection from an empty list is a division by zero in every release; a send never does it."""
    with pytest.raises(ZeroDivisionError):
        Toy(NEW, "").plain()
