"""Rounds of the broker detector."""

from rocketmq_reference.rules.producer.detector import DetectorRound
from tests.reference_impl.rules.toys import Toy


def brokers(toy: Toy, now: int) -> list[str]:
    made = DetectorRound(toy.faults)
    return list(iter(lambda: made.next(now) or "", ""))


def test_an_answer_makes_reachable_and_no_answer_nothing() -> None:
    """An answer makes a broker reachable without changing its avoidance; a missing answer has no effect."""
    toy = Toy("5.2.0")
    toy.note("a", 5, failed=True, reachable=False)
    toy.note("b", 5, failed=True, reachable=False)
    made = DetectorRound(toy.faults)
    made.next(3_000)
    made.answered()
    made.next(3_000)
    a, b = toy.faults.items["a"], toy.faults.items["b"]
    assert (a.reachable, b.reachable, a.start_ms) == (True, False, 10_000)


def test_a_broker_without_an_address_is_forgotten() -> None:
    """A broker without an address is removed; a later item of it is due at once."""
    toy = Toy("5.2.0")
    toy.note("a", 5)
    made = DetectorRound(toy.faults)
    made.next(3_000)
    made.no_address()
    assert "a" not in toy.faults.items
    toy.note("a", 5)
    assert brokers(toy, 3_001) == ["a"]


def test_a_broker_that_comes_up_during_a_round_is_probed_in_it_if_there_is_one_between() -> None:
    """
    A broker inserted during a round is probed in it unless it is next: Java's iterator is one ahead.

    Executed in 5.3.3: a broker that failed while the only known one was probed had to wait for the next round.
    """
    toy = Toy("5.2.0")
    toy.note("a", 5)
    alone = DetectorRound(toy.faults)
    assert alone.next(3_000) == "a"
    toy.note("b", 5)
    assert alone.next(3_200) is None
    made = DetectorRound(toy.faults)
    assert made.next(5_000) == "a"
    toy.note("c", 5)
    assert [made.next(5_200) for _ in range(3)] == ["b", "c", None]
