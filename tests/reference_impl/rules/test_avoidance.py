"""Queue selection with fault latency on (described-behaviours B7–B11 and D1–D3)."""

import pytest

from rocketmq_reference.rules.java import INT_MAX
from rocketmq_reference.rules.queue_choice.events import Event, Forgotten, Swallowed
from tests.reference_impl.rules.toys import Toy


@pytest.mark.parametrize("release", ["4.7.1", "4.8.0", "4.9.8", "5.1.0", "5.1.3", "5.1.4", "5.3.3"])
def test_without_faults_it_is_plain_rotation(release: str) -> None:
    """B10: without fault items the selection is plain rotation."""
    toy = Toy(release)
    assert " ".join(toy.avoiding() for _ in range(9)) == "a0 a1 a2 a3 b0 b1 b2 b3 a0"


@pytest.mark.parametrize("release", ["4.7.1", "4.9.8", "5.1.3"])
def test_the_old_walk_takes_one_tick_however_far_it_goes(release: str) -> None:
    """With a avoided, the old walk takes one tick from each of a's four queues to b0."""
    toy = Toy(release)
    toy.note("a", 5, failed=True)
    assert " ".join(toy.avoiding() for _ in range(6)) == "b0 b0 b0 b0 b0 b1"


def test_the_new_walk_takes_a_tick_for_each_queue() -> None:
    """From 5.1.4 the walk takes a tick per queue, so b's queues are used in turn."""
    toy = Toy("5.3.3")
    toy.note("a", 5, failed=True)
    assert " ".join(toy.avoiding() for _ in range(6)) == "b0 b1 b2 b3 b0 b1"


def test_a_retry_insists_on_the_failed_broker_to_4_7_1() -> None:
    """D1: to 4.7.1 a retry without fault items skips a0…a3 and selects b0 of the failed broker."""
    assert Toy("4.7.1").avoiding("b") == "b0"


@pytest.mark.parametrize("release", ["4.8.0", "4.9.8", "5.1.0"])
def test_a_retry_ignores_the_failed_broker_from_4_8_0(release: str) -> None:
    """D2: from 4.8.0 a retry may select the failed broker if it is not avoided."""
    assert Toy(release).avoiding("a") == "a0"


@pytest.mark.parametrize("release", ["5.1.1", "5.1.3", "5.1.4", "5.3.3"])
def test_a_retry_stays_away_from_the_failed_broker_from_5_1_1(release: str) -> None:
    """D3: from 5.1.1 a retry selects another broker than the failed one."""
    assert Toy(release).avoiding("a") == "b0"


def program(toy: Toy, *, fails: bool) -> list[list[str]]:
    """The published test program: a (broker1) takes 30 s, b (broker2) 50 s; ten sends of at most two tries."""
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


def test_with_every_broker_slow_the_less_slow_gets_the_traffic() -> None:
    """B10: if both brokers are avoided, the faster b is selected."""
    toy = Toy("4.9.7")
    toy.note("a", 2_000)
    toy.note("b", 600)
    assert {toy.avoiding()[0] for _ in range(20)} == {"b"}


def test_the_fallback_rewrites_the_list() -> None:
    """B7: with walk tick 0, element tick 1 (a1) and queue id tick 2 of four, a1 becomes b2 for good."""
    toy = Toy("4.9.7")
    toy.note("a", 5, failed=True)
    toy.note("b", 4, failed=True)
    assert toy.avoiding() == "b2"
    assert toy.listed == "a0 b2 a2 a3 b0 b1 b2 b3"


def test_the_fallback_of_4_9_8_leaves_the_list_alone() -> None:
    """Upstream #7779: the fallback of 4.9.8 takes the same three ticks to the same queue, without changing the list."""
    toy = Toy("4.9.8")
    toy.note("a", 5, failed=True)
    toy.note("b", 4, failed=True)
    assert (toy.avoiding(), toy.index.value) == ("b2", 2)
    assert toy.listed == "a0 a1 a2 a3 b0 b1 b2 b3"


def test_a_best_broker_without_write_queues_is_forgotten() -> None:
    """B7: a best broker without write queues is removed, and plain rotation follows."""
    told: list[Event] = []
    toy = Toy("4.9.7", observer=told.append)
    toy.note("a", 5, failed=True)
    toy.note("b", 4, failed=True)
    toy.info.write_queues = {"a": 4}
    assert toy.avoiding() == "a1"
    assert Forgotten("b") in told and "b" not in toy.faults.items


def test_an_empty_table_and_nothing_acceptable_meets_a_swallowed_exception() -> None:
    """In 5.1.3 with one broker, removing a null name throws; this is swallowed, and plain rotation follows."""
    told: list[Event] = []
    toy = Toy("5.1.3", "a4", observer=told.append)
    assert toy.avoiding("a") == "a1"
    assert Swallowed("NullPointerException") in told


def test_without_route_data_the_fallback_is_plain_rotation() -> None:
    """Without route data Java swallows a NullPointerException, and plain rotation follows."""
    toy = Toy("4.9.7")
    toy.note("a", 5, failed=True)
    toy.note("b", 4, failed=True)
    toy.info.write_queues = None
    assert (toy.avoiding(), toy.listed) == ("a1", "a0 a1 a2 a3 b0 b1 b2 b3")


@pytest.mark.parametrize(("release", "queue"), [("5.0.0", "b0"), ("5.1.0", "a0")])
def test_a_walk_over_the_overflow(release: str, queue: str) -> None:
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


def test_a_retry_restarts_the_index_from_5_1_4() -> None:
    """From 5.1.4 a retry restarts the counter: after a draw of 5 it examines number 6."""
    assert Toy("5.3.3", draws=[5]).avoiding("a", reset=True) == "b2"


def test_unreachable_without_penalty_is_avoided_in_5_1_4_only() -> None:
    """Upstream #7812: only 5.1.4 avoids an unreachable broker without a penalty."""
    for release, queue in (("5.1.4", "b0"), ("5.2.0", "a0")):
        toy = Toy(release)
        toy.note("a", 5, reachable=False)
        assert toy.avoiding() == queue


def test_an_avoidance_ends() -> None:
    """An avoidance after a failure ends after 10 s in 5.3.3, and after 10 min in 5.1.3."""
    for release, avoid in (("5.3.3", 10_000), ("5.1.3", 600_000)):
        toy = Toy(release)
        toy.note("a", 5, failed=True, now=0)
        assert toy.avoiding(now=avoid - 1)[0] == "b"
        toy.index.value = -1
        assert toy.avoiding(now=avoid) == "a0"
