"""Histories with fault latency on, with manually derived results."""

import pytest

from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.producer.replay import replay_for
from tests.oracle.histories import history, routes
from tests.oracle.judging import judged, legal, signatures

FAILED_B = "0 a3 1 | 20 b0 502 timeout ! too-much"
"""b is avoided from 522.1 ms on: 10 s in 5.3.3, 10 min up to 5.1.3. In 5.3.3 the call has drawn a new index."""


def test_a_failed_broker_is_avoided() -> None:
    """After b failed, sends take the queues of a in rotation."""
    text = f"{FAILED_B} | 600 a2 1 | 620 a3 1 | 640 a0 1"
    judgements = judged("5.3.3", text, on=True, timeout=500)
    assert [one.difference for one in judgements] == [None] * 5
    assert [decision.avoided for one in judgements[2:] for decision in one.decisions] == [1, 1, 1]
    assert legal(judgements)[2:] == [[4], [1], [1]]


def test_using_an_avoided_broker() -> None:
    """A difference at an avoided broker states the remaining time of the avoidance."""
    judgements = judged("5.3.3", f"{FAILED_B} | 600 b2 1", on=True, timeout=500)
    difference = judgements[-1].difference
    assert difference is not None
    assert difference.signature == "avoidance.used-avoided-broker/first"
    assert "b is avoided for another 9,921–9,923 ms" in difference.expected


@pytest.mark.parametrize(
    ("at", "found"),
    [(10_518, ["avoidance.used-avoided-broker/first"]), (10_522.2, []), (10_530, [])],
)
def test_an_avoidance_ends_on_time(at: float, found: list[str]) -> None:
    """An avoidance ends 10 s after 522.1–522.2 ms."""
    assert signatures("5.3.3", f"{FAILED_B} | 10400 a3 1 | {at} b0 1", on=True, timeout=500) == found


def test_around_the_end_of_an_avoidance_both_are_legal() -> None:
    """At its end an avoidance may be over or not: clocks show whole milliseconds."""
    for queue in ("b0", "a0"):
        assert signatures("5.3.3", f"{FAILED_B} | 10400 a3 1 | 10522.1 {queue} 1", on=True, timeout=500) == []


def test_staying_away_from_a_broker_that_is_available_again() -> None:
    """A client that avoids b for 10 min, like 5.1.3, differs from 5.3.3."""
    text = f"{FAILED_B} | 10400 a3 1 | 11000 a0 1"
    found = signatures("5.3.3", text, on=True, timeout=500)
    assert found == ["avoidance.stayed-away-from-available-broker/first"]


def test_the_same_history_is_right_for_the_older_release() -> None:
    """In 4.9.8 the index is at b0 and the retry without time takes b1; the sends from b2, b3 and a0 on all take a0."""
    text = f"{FAILED_B} | 600 a0 1 | 620 a0 1 | 640 a0 1 | 660 a1 1"
    assert signatures("4.9.8", text, on=True, timeout=500) == []
    assert signatures("5.3.3", text, on=True, timeout=500) == ["queue.out-of-turn/first"]


@pytest.mark.parametrize("latency", [549.7, 550.3])
def test_a_latency_at_a_threshold_may_count_either_way(latency: float) -> None:
    """A latency read as 549–551 ms may cause an avoidance of 2 s or none."""
    for queue in ("b1", "a0"):
        assert signatures("5.3.3", f"0 a3 1 | 20 b0 {latency} | 600 {queue} 1", on=True) == []


def test_a_clear_latency_does_not() -> None:
    """A latency of 540 ms causes no avoidance, one of 560 ms causes 2 s."""
    for latency, right in ((540, "b1"), (560, "a0")):
        for queue in ("b1", "a0"):
            found = signatures("5.3.3", f"0 a3 1 | 20 b0 {latency} | 700 {queue} 1", on=True)
            assert (found == []) is (queue == right)


def test_a_retry_of_5_1_4_may_begin_anywhere() -> None:
    """From 5.1.4 on a retry draws a new index: any queue of the other broker."""
    judgements = judged("5.3.3", "0 a0 1 | 20 a1 1 refused > b3 1 | 40 b0 1", on=True)
    assert legal(judgements) == [[8], [1, 4], [1]]
    assert [one.difference for one in judgements] == [None] * 3


def test_a_retry_of_4_7_1_returns_to_the_failed_broker() -> None:
    """K02: a retry of 4.7.1 falls back to broker a, the only known one; 4.8.0 does not."""
    told = "0 a0 1 | 20 a1 1 refused > a0 1"
    assert signatures("4.7.1", told, "a2 b2", on=True) == []
    assert signatures("4.8.0", told, "a2 b2", on=True) == ["avoidance.used-avoided-broker/retry"]


def test_the_rewritten_list_is_remembered() -> None:
    """
    In 4.7.1 later sends use the rewritten list, here a0 a1 b0 b1.

    a1 fails at tick 1. The retry starts at tick 2, writes queue 4 % 2 = 0 of a over the element of tick 3 (b1),
    succeeds and ends the avoidance of a. The next sends are tick 5, a1; tick 6, b0; and tick 7, a0 over b1.
    """
    start = "0 a0 1 | 20 a1 1 refused > a0 1 | 40 a1 1 | 60 b0 1"
    assert signatures("4.7.1", f"{start} | 80 a0 1", "a2 b2", on=True) == []
    for queue in ("a1", "b1"):
        assert signatures("4.7.1", f"{start} | 80 {queue} 1", "a2 b2", on=True) == ["queue.mutated-list/first"]


def test_the_only_broker_is_used_although_it_is_avoided() -> None:
    """If the only broker is avoided, 4.9.8 and 5.3.3 use it all the same."""
    text = "0 a0 700 | 800 a0 1 | 820 a0 1"
    assert signatures("4.9.8", text, "a1", on=True) == []
    assert signatures("5.3.3", text, "a1", on=True) == []


def test_a_used_avoided_broker_counts_up_and_is_followed() -> None:
    """Three sends to an avoided broker give three equal signatures."""
    text = f"{FAILED_B} | 600 b1 1 | 620 b2 1 | 640 b3 1"
    assert signatures("5.3.3", text, on=True, timeout=500) == ["avoidance.used-avoided-broker/first"] * 3


def test_a_broker_that_answered_an_error_is_avoided_for_ever_in_5_1_4_only() -> None:
    """K14: only 5.1.4 avoids a broker for ever after an error: unreachable without a detector."""
    text = "0 a0 1 | 20 a1 1 error > b1 1 | 40 b2 1 | 60 b3 1 | 20000 {} 1"
    for release, queue in (("5.1.4", "b0"), ("5.2.0", "a0")):
        for candidate in ("b0", "a0"):
            assert (signatures(release, text.format(candidate), on=True) == []) is (candidate == queue)


def test_without_any_fault_the_choice_says_nothing_about_avoidance() -> None:
    """Without a fault, decisions count no avoided brokers."""
    judgements = judged("5.3.3", "0 a0 1 | 20 a1 1", on=True)
    assert [decision.avoided for one in judgements for decision in one.decisions] == [0, 0]


@pytest.mark.parametrize(("now_ms", "position", "stands"), [(10_522, 3, False), (10_523, 3, True), (10_523, 2, False)])
def test_calls_take_queues_in_turn_once_nothing_is_avoided(now_ms: int, position: int, stands: bool) -> None:
    """Calls follow the rotation after a3 once b's 10 s are certainly over; before, they skip b."""
    settings = ClientSettings(send_latency_fault_enable=True, send_msg_timeout_ms=500)
    replay = replay_for("5.3.3", settings, routes("a4 b4"))
    assert [one.difference for one in replay.judge_all(history(f"{FAILED_B} | 600 a2 1 | 620 a3 1"))] == [None] * 4
    assert replay.stands_at(0, 1, position, now_ms) is stands
    assert replay.stands_at(0, 1, None, now_ms), "the application says the queue"
