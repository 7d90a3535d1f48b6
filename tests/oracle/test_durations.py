"""Attempts against the timeout the rules give them."""

from dataclasses import replace

import pytest

from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.producer.durations import IS_CERTAIN
from rocketdiff.oracle.producer.replay import replay_for
from tests.oracle.histories import MS, history, routes
from tests.oracle.judging import judged, signatures

OUTLASTED = ["attempts.outlasted-timeout"]
EARLY = ["attempts.gave-up-before-timeout"]


@pytest.mark.parametrize("on", [True, False])
def test_an_answer_long_after_the_timeout(on: bool) -> None:
    """A broker resumes after 2 s; the timeout was 500 ms. A machine that is busy for a second is excused."""
    assert signatures("5.3.3", "0 a1 2000", timeout=500, on=on) == OUTLASTED
    assert signatures("5.3.3", "0 a1 1450", timeout=500, on=on) == []
    assert signatures("5.3.3", "0 =q5 b1 2000", timeout=500, on=on) == OUTLASTED


def test_a_retry_has_what_is_left() -> None:
    """600 ms of 700 are spent; before 4.3.0 every attempt had them all."""
    assert signatures("5.3.3", "0 a1 600 lost > b0 1300", timeout=700) == OUTLASTED
    assert signatures("5.3.3", "0 a1 600 lost > b0 1000", timeout=700) == []
    assert signatures("4.2.0", "0 a1 600 lost > b0 1300", timeout=700) == []


def test_connecting_may_take_longer_than_the_timeout() -> None:
    """
    Who knows no connections is not certain; an answer proves that it did not, from 4.3.0; before, connecting did not count.

    Looking up a name has no end.
    """
    assert certain("5.3.3", "0 a1 5900 timeout ! too-much") is False
    assert certain("5.3.3", "0 a1 8000 timeout ! too-much") is True
    assert certain("5.3.3", "0 a1 2000") is True
    assert certain("4.2.0", "0 a1 2000") is False
    assert signatures("5.3.3", "0 a1 9000 refused ! too-much", timeout=500) == []


def test_a_default_timeout_that_is_doubled_is_told() -> None:
    """3 s may become 4 on a busy machine; six are for the other arm to excuse."""
    assert signatures("5.3.3", "0 a1 3990 timeout ! too-much") == []
    assert signatures("5.3.3", "0 a1 6003 timeout ! too-much") == OUTLASTED


def certain(release: str, text: str) -> object:
    """Whether nothing at all excuses that the only attempt outlasted its 500 ms."""
    (judgement,) = judged(release, text, timeout=500)
    assert judgement.difference is not None
    assert judgement.difference.signature == OUTLASTED[0]
    return judgement.difference.detail[IS_CERTAIN]


def test_a_timeout_before_its_time() -> None:
    """Whole milliseconds of several stages may add up to a few; any other exception may come at any time."""
    text = "0 a1 {} > b0 1"
    assert signatures("5.3.3", text.format("400 timeout"), timeout=500) == EARLY
    assert signatures("5.3.3", text.format("400 lost"), timeout=500) == []
    assert signatures("5.3.3", "0 a1 498 timeout > b0 1", timeout=500) == []
    assert signatures("4.2.0", "0 a1 400 lost > b0 450 timeout ! client/10002", timeout=500, retries=1) == EARLY
    assert signatures("4.2.0", "0 a1 400 lost > b0 496 timeout ! client/10002", timeout=500, retries=1) == []


def test_an_attempt_that_began_late_has_less_to_wait() -> None:
    """The client stood still for 300 ms between its choice and its request; that is part of the timeout."""
    (send,) = history("0 a1 200 timeout ! too-much")
    (attempt,) = send.attempts
    late = replace(attempt, start_ns=attempt.start_ns + 300 * MS, end_ns=attempt.end_ns + 300 * MS)
    stood_still = replace(send, end_ns=send.end_ns + 301 * MS, attempts=(late,))
    replay = replay_for("5.3.3", ClientSettings(send_msg_timeout_ms=500), routes("a4"))
    (judgement,) = replay.judge_all([stood_still])
    assert judgement.difference is None


def test_threads_that_share_a_fault_table_keep_their_timeouts_too() -> None:
    """Judged decision point by decision point instead of send by send."""
    assert signatures("5.3.3", "t0 0 a1 2000 | t1 3000 b0 1", timeout=500, on=True) == OUTLASTED


def test_what_else_is_wrong_with_a_send_that_gave_up_early_is_kept() -> None:
    """Who knows that its connection was closed under it forgives the early end, and only that."""
    (send,) = history("0 a1 400 timeout > b0 1")
    replay = replay_for("5.3.3", ClientSettings(send_msg_timeout_ms=500), routes("a4 b4"))
    (judgement,) = replay.judge_all([replace(send, queue_id=3)])
    assert judgement.difference is not None
    assert judgement.difference.signature == EARLY[0]
    assert [other.signature for other in judgement.further] == ["queue.result-names-other-queue/retry"]
