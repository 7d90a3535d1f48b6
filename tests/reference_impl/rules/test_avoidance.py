"""Choosing a queue with fault latency on (described-behaviours B7–B11 and D1–D3)."""

import pytest

from rocketmq_reference.rules.events import Event, Forgotten, Swallowed
from rocketmq_reference.rules.java import INT_MAX
from tests.reference_impl.rules.toys import Toy


@pytest.mark.parametrize("release", ["4.7.1", "4.8.0", "4.9.8", "5.1.0", "5.1.3", "5.1.4", "5.3.3"])
def test_without_faults_it_is_plain_rotation(release: str) -> None:
    """B10: nothing is known of anybody."""
    toy = Toy(release)
    assert " ".join(toy.avoiding() for _ in range(9)) == "a0 a1 a2 a3 b0 b1 b2 b3 a0"


@pytest.mark.parametrize("release", ["4.7.1", "4.9.8", "5.1.3"])
def test_the_old_walk_takes_one_tick_however_far_it_goes(release: str) -> None:
    """Past all of a four times, each time one tick further: always b0."""
    toy = Toy(release)
    toy.note("a", 5, failed=True)
    assert " ".join(toy.avoiding() for _ in range(6)) == "b0 b0 b0 b0 b0 b1"


def test_the_new_walk_takes_a_tick_for_each_queue() -> None:
    """From 5.1.4: b in turn."""
    toy = Toy("5.3.3")
    toy.note("a", 5, failed=True)
    assert " ".join(toy.avoiding() for _ in range(6)) == "b0 b1 b2 b3 b0 b1"


def test_a_retry_insists_on_the_failed_broker_to_4_7_1() -> None:
    """D1: with an empty table a retry after a failure of b passes a0…a3 and takes b0."""
    assert Toy("4.7.1").avoiding("b") == "b0"


@pytest.mark.parametrize("release", ["4.8.0", "4.9.8", "5.1.0"])
def test_a_retry_ignores_the_failed_broker_from_4_8_0(release: str) -> None:
    """D2: a0 is the broker that failed, but its item says nothing against it."""
    assert Toy(release).avoiding("a") == "a0"


@pytest.mark.parametrize("release", ["5.1.1", "5.1.3", "5.1.4", "5.3.3"])
def test_a_retry_stays_away_from_the_failed_broker_from_5_1_1(release: str) -> None:
    """D3."""
    assert Toy(release).avoiding("a") == "b0"


def program(toy: Toy, *, fails: bool) -> list[list[str]]:
    """The published test program: latencies 30 s and 50 s, ten sends of at most two tries (a: broker1, b: broker2)."""
    told = []
    for _ in range(10):
        tries: list[str] = []
        for _ in range(2 if fails else 1):
            broker = toy.avoiding(tries[-1] if tries else None)[0]
            toy.note(broker, {"a": 30_000, "b": 50_000}[broker])
            tries.append(broker)
        told.append(tries)
    return told


def test_the_published_program_with_success() -> None:
    """B8: broker1, broker2, then broker1 eight times."""
    assert program(Toy("4.7.1"), fails=False) == [["a"], ["b"], *[["a"]] * 8]


def test_the_published_program_with_failure() -> None:
    """B8, B9: the first retry stays on broker1, because only that has a fault item."""
    assert program(Toy("4.7.1"), fails=True) == [["a", "a"], ["b", "a"], *[["a", "a"]] * 8]


def test_a_retry_to_4_7_1_takes_the_best_known_instead_of_a_healthy_untried_broker() -> None:
    """B11: four brokers, a failed, b is known; c and d are healthy but unknown."""
    toy = Toy("4.7.1", "a1 b1 c1 d1")
    toy.note("b", 5)
    toy.note("a", 5, failed=True)
    assert toy.avoiding("a")[0] == "b"


def test_with_every_broker_slow_the_less_slow_gets_the_traffic() -> None:
    """B10: both are avoided, b is faster."""
    toy = Toy("4.9.7")
    toy.note("a", 2_000)
    toy.note("b", 600)
    assert {toy.avoiding()[0] for _ in range(20)} == {"b"}


def test_the_fallback_rewrites_the_list() -> None:
    """B7: walk tick 0, element tick 1 (a1), queue id tick 2 of four: a1 becomes b2 for good."""
    toy = Toy("4.9.7")
    toy.note("a", 5, failed=True)
    toy.note("b", 4, failed=True)
    assert toy.avoiding() == "b2"
    assert toy.listed == "a0 b2 a2 a3 b0 b1 b2 b3"


def test_the_fallback_of_4_9_8_leaves_the_list_alone() -> None:
    """Upstream #7779: the same queue, the same three ticks, a queue of its own."""
    toy = Toy("4.9.8")
    toy.note("a", 5, failed=True)
    toy.note("b", 4, failed=True)
    assert (toy.avoiding(), toy.index.value) == ("b2", 2)
    assert toy.listed == "a0 a1 a2 a3 b0 b1 b2 b3"


def test_a_best_broker_without_write_queues_is_forgotten() -> None:
    """B7: then plain rotation, whoever is next."""
    told: list[Event] = []
    toy = Toy("4.9.7", observer=told.append)
    toy.note("a", 5, failed=True)
    toy.note("b", 4, failed=True)
    toy.info.write_queues = {"a": 4}
    assert toy.avoiding() == "a1"
    assert Forgotten("b") in told and "b" not in toy.faults.items


def test_an_empty_table_and_nothing_acceptable_meets_a_swallowed_exception() -> None:
    """5.1.3 with a single broker: removing a null name throws, and plain rotation follows."""
    told: list[Event] = []
    toy = Toy("5.1.3", "a4", observer=told.append)
    assert toy.avoiding("a") == "a1"
    assert Swallowed("NullPointerException") in told


def test_without_route_data_the_fallback_is_plain_rotation() -> None:
    """Java meets a NullPointerException and swallows it."""
    toy = Toy("4.9.7")
    toy.note("a", 5, failed=True)
    toy.note("b", 4, failed=True)
    toy.info.write_queues = None
    assert (toy.avoiding(), toy.listed) == ("a1", "a0 a1 a2 a3 b0 b1 b2 b3")


@pytest.mark.parametrize(("release", "queue"), [("5.0.0", "b0"), ("5.1.0", "a0")])
def test_a_walk_over_the_overflow(release: str, queue: str) -> None:
    """
    Three queues a0 a1 b0, all avoided, the counter hands out MAX (position 1).

    Guarded, the walk goes on at 0 and 1 again and ends in the fallback, whose best is b. Unguarded, MIN % 3 is negative:
    plain rotation, where the counter stands at 0.
    """
    toy = Toy(release, "a2 b1", index=INT_MAX - 1)
    toy.note("b", 1, failed=True)
    toy.note("a", 5, failed=True)
    assert toy.avoiding() == queue


def test_tiers_available_then_reachable_then_any() -> None:
    """
    From 5.1.4, two brokers of one queue, a avoided, the last attempt failed on b.

    Nothing available but b, which failed: two ticks. Reachable and not b: a0, one tick. With a unreachable as well: two
    more ticks, and whatever is next.
    """
    toy = Toy("5.3.3", "a1 b1")
    toy.note("a", 5, failed=True)
    assert (toy.avoiding("b"), toy.index.value) == ("a0", 2)
    toy.note("a", 5, failed=True, reachable=False)
    assert (toy.avoiding("b"), toy.index.value) == ("b0", 7)


def test_a_retry_restarts_the_index_from_5_1_4() -> None:
    """Drawn 5: the first queue looked at is number 6."""
    assert Toy("5.3.3", draws=[5]).avoiding("a", reset=True) == "b2"


def test_unreachable_without_penalty_is_avoided_in_5_1_4_only() -> None:
    """Upstream #7812."""
    for release, queue in (("5.1.4", "b0"), ("5.2.0", "a0")):
        toy = Toy(release)
        toy.note("a", 5, reachable=False)
        assert toy.avoiding() == queue


def test_an_avoidance_ends() -> None:
    """Ten seconds after a failure in 5.3.3, ten minutes in 5.1.3."""
    for release, avoid in (("5.3.3", 10_000), ("5.1.3", 600_000)):
        toy = Toy(release)
        toy.note("a", 5, failed=True, now=0)
        assert toy.avoiding(now=avoid - 1)[0] == "b"
        toy.index.value = -1
        assert toy.avoiding(now=avoid) == "a0"
