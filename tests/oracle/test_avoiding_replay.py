"""Histories with fault latency on, judged by hand-worked rules."""

import pytest

from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.producer.replay import replay_for
from tests.oracle.histories import history, routes
from tests.oracle.judging import judged, legal, signatures

FAILED_B = "0 a3 1 | 20 b0 502 timeout ! too-much"
"""b is avoided from 522.1 ms on: ten seconds in 5.3.3, ten minutes to 5.1.3. The call has drawn a fresh index in 5.3.3."""


def test_a_failed_broker_is_avoided() -> None:
    """Four queues of a in turn, then a again."""
    text = f"{FAILED_B} | 600 a2 1 | 620 a3 1 | 640 a0 1"
    judgements = judged("5.3.3", text, on=True, timeout=500)
    assert [one.difference for one in judgements] == [None] * 5
    assert [decision.avoided for one in judgements[2:] for decision in one.decisions] == [1, 1, 1]
    assert legal(judgements)[2:] == [[4], [1], [1]]


def test_using_an_avoided_broker() -> None:
    """With what is left of the avoidance."""
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
    """Ten seconds after 522.1–522.2 ms."""
    assert signatures("5.3.3", f"{FAILED_B} | 10400 a3 1 | {at} b0 1", on=True, timeout=500) == found


def test_around_the_end_of_an_avoidance_both_are_legal() -> None:
    """Whole milliseconds cannot tell."""
    for queue in ("b0", "a0"):
        assert signatures("5.3.3", f"{FAILED_B} | 10400 a3 1 | 10522.1 {queue} 1", on=True, timeout=500) == []


def test_staying_away_from_a_broker_that_is_available_again() -> None:
    """Nine more minutes, as a client of 5.1.3 would."""
    text = f"{FAILED_B} | 10400 a3 1 | 11000 a0 1"
    found = signatures("5.3.3", text, on=True, timeout=500)
    assert found == ["avoidance.stayed-away-from-available-broker/first"]


def test_the_same_history_is_right_for_the_older_release() -> None:
    """4.9.8: index at b0 and one tick for the retry that found no time (b1); then b2, b3 pass to a0, and a0 is a0."""
    text = f"{FAILED_B} | 600 a0 1 | 620 a0 1 | 640 a0 1 | 660 a1 1"
    assert signatures("4.9.8", text, on=True, timeout=500) == []
    assert signatures("5.3.3", text, on=True, timeout=500) == ["queue.out-of-turn/first"]


@pytest.mark.parametrize("latency", [549.7, 550.3])
def test_a_latency_at_a_threshold_may_count_either_way(latency: float) -> None:
    """Between 549 and 551 ms in whole milliseconds: avoided for two seconds, or not at all."""
    for queue in ("b1", "a0"):
        assert signatures("5.3.3", f"0 a3 1 | 20 b0 {latency} | 600 {queue} 1", on=True) == []


def test_a_clear_latency_does_not() -> None:
    """540 ms cost nothing, 560 ms two seconds."""
    for latency, right in ((540, "b1"), (560, "a0")):
        for queue in ("b1", "a0"):
            found = signatures("5.3.3", f"0 a3 1 | 20 b0 {latency} | 700 {queue} 1", on=True)
            assert (found == []) is (queue == right)


def test_a_retry_of_5_1_4_may_begin_anywhere() -> None:
    """The index is drawn anew: any queue of the other broker."""
    judgements = judged("5.3.3", "0 a0 1 | 20 a1 1 refused > b3 1 | 40 b0 1", on=True)
    assert legal(judgements) == [[8], [1, 4], [1]]
    assert [one.difference for one in judgements] == [None] * 3


def test_a_retry_of_4_7_1_returns_to_the_failed_broker() -> None:
    """K02: only a is known, so the fallback gives a again and writes it into the list: a1 is taken twice."""
    told = "0 a0 1 | 20 a1 1 refused > a0 1"
    assert signatures("4.7.1", told, "a2 b2", on=True) == []
    assert signatures("4.8.0", told, "a2 b2", on=True) == ["avoidance.used-avoided-broker/retry"]


def test_the_rewritten_list_is_remembered() -> None:
    """
    In 4.7.1, list a0 a1 b0 b1.

    a1 fails at tick 1; the retry walks from tick 2, rewrites the element of tick 3 (b1) with queue 4 % 2 = 0 of a, which
    succeeds and ends the avoidance of a. The next send is tick 5, a1; then b0 at tick 6, and a0 in b1's place at tick 7.
    """
    start = "0 a0 1 | 20 a1 1 refused > a0 1 | 40 a1 1 | 60 b0 1"
    assert signatures("4.7.1", f"{start} | 80 a0 1", "a2 b2", on=True) == []
    for queue in ("a1", "b1"):
        assert signatures("4.7.1", f"{start} | 80 {queue} 1", "a2 b2", on=True) == ["queue.mutated-list/first"]


def test_one_fast_success_ends_an_avoidance_to_5_1_3_only() -> None:
    """With all brokers avoided, the best known is used; its success makes it available again."""
    text = "0 a0 700 | 800 a0 1 | 820 a0 1"
    assert signatures("4.9.8", text, "a1", on=True) == []
    assert signatures("5.3.3", text, "a1", on=True) == []


def test_a_used_avoided_broker_counts_up_and_is_followed() -> None:
    """Three in a row, each the same signature, nothing else."""
    text = f"{FAILED_B} | 600 b1 1 | 620 b2 1 | 640 b3 1"
    assert signatures("5.3.3", text, on=True, timeout=500) == ["avoidance.used-avoided-broker/first"] * 3


def test_a_broker_that_answered_an_error_is_avoided_for_ever_in_5_1_4_only() -> None:
    """K14: unreachable without a detector."""
    text = "0 a0 1 | 20 a1 1 error > b1 1 | 40 b2 1 | 60 b3 1 | 20000 {} 1"
    for release, queue in (("5.1.4", "b0"), ("5.2.0", "a0")):
        for candidate in ("b0", "a0"):
            assert (signatures(release, text.format(candidate), on=True) == []) is (candidate == queue)


def test_without_any_fault_the_choice_says_nothing_about_avoidance() -> None:
    """Decisions count the brokers that were avoided."""
    judgements = judged("5.3.3", "0 a0 1 | 20 a1 1", on=True)
    assert [decision.avoided for one in judgements for decision in one.decisions] == [0, 0]


@pytest.mark.parametrize(("now_ms", "position", "stands"), [(10_522, 3, False), (10_523, 3, True), (10_523, 2, False)])
def test_calls_take_queues_in_turn_once_nothing_is_avoided(now_ms: int, position: int, stands: bool) -> None:
    """After a3, once b's ten seconds are over for certain; before that its queues would be passed."""
    settings = ClientSettings(send_latency_fault_enable=True, send_msg_timeout_ms=500)
    replay = replay_for("5.3.3", settings, routes("a4 b4"))
    assert [one.difference for one in replay.judge_all(history(f"{FAILED_B} | 600 a2 1 | 620 a3 1"))] == [None] * 4
    assert replay.stands_at(0, 1, position, now_ms) is stands
    assert replay.stands_at(0, 1, None, now_ms), "the application says the queue"
