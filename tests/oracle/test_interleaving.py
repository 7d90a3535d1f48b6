"""Two threads of one producer with fault latency on, judged by hand-worked rules."""

from typing import Any

import pytest

from rocketdiff.oracle.producer import interleave
from rocketdiff.oracle.producer.states.belief import Belief
from tests.oracle.judging import judged, legal, signatures

BOTH_BEGIN = "t0 0 a3 1 | t1 0.05 a0 1 | t0 20 b0 1 refused > a1 1"
"""Thread 1 has sent to a0; b failed under thread 0 at 21.1 ms."""


def test_a_failure_of_one_thread_keeps_the_other_away() -> None:
    """Well after it, thread 1 may not use b."""
    assert signatures("5.3.3", f"{BOTH_BEGIN} | t1 40 a1 1 | t1 60 a2 1 | t1 80 a3 1 | t1 100 a0 1", on=True) == []
    used = signatures("5.3.3", f"{BOTH_BEGIN} | t1 40 a1 1 | t1 60 a2 1 | t1 80 a3 1 | t1 100 b0 1", on=True)
    assert used == ["avoidance.used-avoided-broker/first"]


def test_a_choice_at_the_same_instant_may_come_before_or_after() -> None:
    """B fails under thread 0 at 82.1–82.2 ms; thread 1, next in turn for b0, chooses at 82.05–82.15 ms."""
    start = "t0 0 a3 1 | t1 0 a1 1 | t1 20 a2 1 | t1 40 a3 1 | t0 81 b0 1 refused > a0 1"
    for queue in ("b0", "a0"):
        assert signatures("5.3.3", f"{start} | t1 82.05 {queue} 1", on=True) == []
    assert signatures("5.3.3", f"{start} | t1 82.25 b0 1", on=True) == ["avoidance.used-avoided-broker/first"]
    assert signatures("5.3.3", f"{start} | t1 81.5 a0 0.1", on=True) != []


def test_a_slow_answer_at_the_same_instant_may_come_before_or_after() -> None:
    """
    B answers thread 0 after 600 ms, at 681.1 to 681.2, which earns it an avoidance; thread 1, next in turn for b0, chooses then.

    No failure, and over all the same: what took less than half a second may be passed over, this may not.
    """
    start = "t0 0 a3 1 | t1 0 a1 1 | t1 20 a2 1 | t1 40 a3 1 | t0 81 b0 600"
    for queue in ("b0", "a0"):
        assert signatures("5.3.3", f"{start} | t1 681.05 {queue} 1", on=True) == []
    assert signatures("5.3.3", f"{start} | t1 680 a0 1", on=True) == ["queue.out-of-turn/first"]
    assert signatures("5.3.3", f"{start} | t1 681.25 b0 1", on=True) == ["avoidance.used-avoided-broker/first"]


def test_each_thread_has_its_own_index() -> None:
    """Neither disturbs the other's turn."""
    text = "t0 0 a0 1 | t1 0.3 b2 1 | t0 20 a1 1 | t1 20.3 b3 1 | t1 40 a0 1 | t0 40.3 a2 1"
    judgements = judged("5.3.3", text, on=True)
    assert [one.difference for one in judgements] == [None] * 6
    assert legal(judgements) == [[8], [8], [1], [1], [1], [1]]


def test_a_difference_belongs_to_the_thread_that_made_it() -> None:
    """Thread 1 skips a queue."""
    judgements = judged("5.3.3", "t0 0 a0 1 | t1 0.3 b2 1 | t0 20 a1 1 | t1 20.3 a0 1 | t0 40 a2 1", on=True)
    assert [(one.thread, one.send) for one in judgements if one.difference] == [(1, 3)]


def test_a_difference_belongs_to_the_thread_whose_choice_was_tried() -> None:
    """Both choose at once and in calm, so that one order is enough: thread 0's choice, which is wrong, first, though thread 1's is over sooner."""
    judgements = judged("5.3.3", "t0 0 a0 1 | t1 0.3 b2 1 | t1 19.95 b3 1 | t0 20 a3 1 | t0 40 a0 1", on=True)
    assert [(one.thread, one.difference.signature) for one in judgements if one.difference] == [
        (0, "queue.out-of-turn/first")
    ]


@pytest.mark.parametrize(("queue", "legal"), [("b1", True), ("a0", True), ("a1", True), ("b0", False)])
def test_another_thread_may_note_a_broker_between_two_reads_of_one_choice(queue: str, legal: bool) -> None:
    """
    List a0 a1 b0 b1; under thread 0 a and, more quickly, b failed; thread 1's answer from a, which ends its avoidance, comes while thread 0 chooses.

    Its walk stands at b1, its fallback at the element of a0, for queue 1. Before the answer it falls back on b, after it it finds a0; and where it has
    walked past every queue before the answer and ranks the brokers after it, it falls back on a.
    """
    text = (
        "t0 0 a0 1 | t1 0.3 a0 1 | t1 10 a1 300 | t0 20 a1 20 refused ! client/10001 | t0 60 b0 5 refused ! client/10001"
        f" | t0 310.05 {queue} 1"
    )
    assert (signatures("4.7.1", text, "a2 b2", on=True, retries=0) == []) is legal


def test_a_list_rewritten_by_one_thread_is_seen_by_the_other() -> None:
    """
    List a0 a1 b0, no retries; under thread 0 b0 and then a0 fail, so its third send falls back on a, the faster one.

    Its walk stands at a1, the element after that is b0, which in 4.9.7 becomes the queue seen, a1, for everybody. Thread 1,
    which has come as far as a1, then finds a1 where b0 was; in 4.9.8 it passes over b0 to a0.
    """
    text = (
        "t1 0 a1 1 | t0 10 b0 5 refused ! client/10001 | t0 20 a0 0.1 refused ! client/10001 | t0 40 a1 1 | t1 60 {} 1"
    )
    for release, queue in (("4.9.7", "a1"), ("4.9.8", "a0")):
        for candidate in ("a0", "a1"):
            found = signatures(release, text.format(candidate), "a2 b1", on=True, retries=0)
            assert (found == []) is (candidate == queue)


def test_a_standstill_leaves_the_order_open_and_alarms_nobody() -> None:
    """Everything of both threads within one window of 50 ms: all orders are tried."""
    text = "t0 0 a0 1 | t1 0 a0 1 | t0 2 a1 1 refused > b0 1 | t1 2 a1 1 refused > b2 1"
    assert signatures("5.3.3", text, on=True) == []


def test_after_an_undecided_send_of_one_thread_no_thread_differs() -> None:
    """Thread 0 fails on b unjudged; before it thread 1 is judged with certainty, after it never."""
    text = "t0 0 a3 1 | t1 0.05 a0 1 | t1 10 {} 1 | t0 20 r0 b0 1 refused > a1 1 | t1 40 a2 1 | t1 60 a0 1 | t0 80 a2 1"
    assert "undecided" in signatures("5.3.3", text.format("a1"), on=True)
    assert [one for one in signatures("5.3.3", text.format("a1"), on=True) if one != "undecided"] == []
    found = [one for one in signatures("5.3.3", text.format("b3"), on=True) if one != "undecided"]
    assert found == ["queue.out-of-turn/first"]


def test_a_dead_end_is_undecided_if_one_of_its_orders_was_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of two orders is cut short in step 10; the two join in step 11, after which nothing explains b0."""
    settle, orders = interleave._settled, []

    def cut_short_in_step_10(*arguments: Any) -> dict[tuple[int, ...], Belief]:
        frontier = settle(*arguments)
        orders.append(len(frontier))
        if len(orders) == 10:
            list(frontier.values())[-1].complete = False
        return frontier

    text = "t0 0 a0 1 | t1 0 a0 1 | t0 2 a1 1 refused > b0 1 | t1 2 a1 1 refused > a3 1"
    assert signatures("5.3.3", text, on=True) == ["avoidance.used-avoided-broker/retry"]
    monkeypatch.setattr(interleave, "_settled", cut_short_in_step_10)
    assert signatures("5.3.3", text, on=True) == ["undecided"]
    assert orders[9] == 2


def test_once_an_order_was_left_out_few_are_followed_and_nothing_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for one order only: a choice before the standstill is a difference, the same kind of choice after it is none."""
    monkeypatch.setattr(interleave, "ORDERS_FOLLOWED", 1)
    monkeypatch.setattr(interleave, "ORDERS_BEYOND", 1)
    standstill = "t0 0 a0 1 | t1 10 a0 1 | t0 20 {} 1 | t0 41 a2 1 refused > b0 1 | t1 41 a1 1 refused > b2 1"
    assert signatures("5.3.3", standstill.format("b3"), on=True)[0] == "queue.out-of-turn/first"
    assert [one for one in signatures("5.3.3", standstill.format("a1"), on=True) if one != "undecided"] == []
    afterwards = f"{standstill.format('a1')} | t0 200 a0 1 | t1 220 a0 1"
    assert {"undecided"} == set(signatures("5.3.3", afterwards, on=True))
