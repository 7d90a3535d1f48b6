"""Two threads of one producer with fault latency on, with manually derived results."""

from typing import Any

import pytest

from rocketdiff.oracle.producer import interleave
from rocketdiff.oracle.producer.states.belief import Belief
from tests.oracle.judging import judged, signatures


def test_a_difference_belongs_to_the_thread_that_made_it() -> None:
    """A skipped queue is a difference of its own thread."""
    judgements = judged("5.3.3", "t0 0 a0 1 | t1 0.3 b2 1 | t0 20 a1 1 | t1 20.3 a0 1 | t0 40 a2 1", on=True)
    assert [(one.thread, one.send) for one in judgements if one.difference] == [(1, 3)]


def test_a_difference_belongs_to_the_thread_whose_choice_was_tried() -> None:
    """Of two choices at once in calm one order is tried: thread 0's wrong choice, though thread 1's ends sooner."""
    judgements = judged("5.3.3", "t0 0 a0 1 | t1 0.3 b2 1 | t1 19.95 b3 1 | t0 20 a3 1 | t0 40 a0 1", on=True)
    assert [(one.thread, one.difference.signature) for one in judgements if one.difference] == [
        (0, "queue.out-of-turn/first")
    ]


@pytest.mark.parametrize(("queue", "legal"), [("b1", True), ("a0", True), ("a1", True), ("b0", False)])
def test_another_thread_may_note_a_broker_between_two_reads_of_one_choice(queue: str, legal: bool) -> None:
    """
    Another thread's note may fall between two reads of one choice.

    The list is a0 a1 b0 b1. In thread 0 a and, faster, b failed; thread 1's answer from a ends its avoidance while
    thread 0 chooses: from b1 on, or by the fallback at a0 for queue 1. Before the answer it falls back on b, after it
    it finds a0; if it walks before and ranks after, it falls back on a.
    """
    text = (
        "t0 0 a0 1 | t1 0.3 a0 1 | t1 10 a1 300 | t0 20 a1 20 refused ! client/10001 | t0 60 b0 5 refused ! client/10001"
        f" | t0 310.05 {queue} 1"
    )
    assert (signatures("4.7.1", text, "a2 b2", on=True, retries=0) == []) is legal


def test_a_list_rewritten_by_one_thread_is_seen_by_the_other() -> None:
    """
    A list rewritten by one thread is seen by the other.

    The list is a0 a1 b0, without retries. In thread 0 b0 and then a0 fail, so its third send falls back on a, the
    faster one. It starts at a1; the element after it, b0, becomes a1 in 4.9.7. Thread 1, at a1 before, finds a1 there;
    in 4.9.8 it skips b0 and takes a0.
    """
    text = (
        "t1 0 a1 1 | t0 10 b0 5 refused ! client/10001 | t0 20 a0 0.1 refused ! client/10001 | t0 40 a1 1 | t1 60 {} 1"
    )
    for release, queue in (("4.9.7", "a1"), ("4.9.8", "a0")):
        for candidate in ("a0", "a1"):
            found = signatures(release, text.format(candidate), "a2 b1", on=True, retries=0)
            assert (found == []) is (candidate == queue)


def test_after_an_undecided_send_of_one_thread_no_thread_differs() -> None:
    """After an undecided send of one thread no thread can differ; before it, one can."""
    text = "t0 0 a3 1 | t1 0.05 a0 1 | t1 10 {} 1 | t0 20 r0 b0 1 refused > a1 1 | t1 40 a2 1 | t1 60 a0 1 | t0 80 a2 1"
    assert "undecided" in signatures("5.3.3", text.format("a1"), on=True)
    assert [one for one in signatures("5.3.3", text.format("a1"), on=True) if one != "undecided"] == []
    later = text.format("a1").replace("t1 40 a2", "t1 40 b3") + " | t1 200 r0 a0 1"
    assert {*signatures("5.3.3", later, on=True)} == {"undecided"}
    found = [one for one in signatures("5.3.3", text.format("b3"), on=True) if one != "undecided"]
    assert found == ["queue.out-of-turn/first"]


def test_a_dead_end_is_undecided_if_one_of_its_orders_was_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unexplained queue is undecided if an order before it was incomplete: one of two in step 10, merged in step 11."""
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
    """After an order was dropped no choice is a difference; before, such a choice is."""
    monkeypatch.setattr(interleave, "ORDERS_FOLLOWED", 1)
    monkeypatch.setattr(interleave, "ORDERS_BEYOND", 1)
    standstill = "t0 0 a0 1 | t1 10 a0 1 | t0 20 {} 1 | t0 41 a2 1 refused > b0 1 | t1 41 a1 1 refused > b2 1"
    assert signatures("5.3.3", standstill.format("b3"), on=True)[0] == "queue.out-of-turn/first"
    assert [one for one in signatures("5.3.3", standstill.format("a1"), on=True) if one != "undecided"] == []
    afterwards = f"{standstill.format('a1')} | t0 200 a0 1 | t1 220 a0 1"
    assert {"undecided"} == set(signatures("5.3.3", afterwards, on=True))
