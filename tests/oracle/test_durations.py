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
    """An answer after 2 s, with a timeout of 500 ms, is a difference; a busy machine may add one second."""
    assert signatures("5.3.3", "0 a1 2000", timeout=500, on=on) == OUTLASTED
    assert signatures("5.3.3", "0 a1 1450", timeout=500, on=on) == []
    assert signatures("5.3.3", "0 =q5 b1 2000", timeout=500, on=on) == OUTLASTED


def test_a_retry_has_what_is_left() -> None:
    """A retry has the rest of the timeout, 100 ms of 700; before 4.3.0 it has all."""
    assert signatures("5.3.3", "0 a1 600 lost > b0 1300", timeout=700) == OUTLASTED
    assert signatures("5.3.3", "0 a1 600 lost > b0 1000", timeout=700) == []
    assert signatures("4.2.0", "0 a1 600 lost > b0 1300", timeout=700) == []


def test_connecting_may_take_longer_than_the_timeout() -> None:
    """
    Connecting may exceed the timeout, so an overrun is not certain, unless an answer excludes it (from 4.3.0 on).

    Before 4.3.0 connecting did not count. The lookup of a name has no bound.
    """
    assert certain("5.3.3", "0 a1 5900 timeout ! too-much") is False
    assert certain("5.3.3", "0 a1 8000 timeout ! too-much") is True
    assert certain("5.3.3", "0 a1 2000") is True
    assert certain("4.2.0", "0 a1 2000") is False
    assert signatures("5.3.3", "0 a1 9000 refused ! too-much", timeout=500) == []


def test_a_default_timeout_that_is_doubled_is_told() -> None:
    """A timeout of 3 s may take 4 s on a busy machine; only the other arm can excuse 6 s."""
    assert signatures("5.3.3", "0 a1 3990 timeout ! too-much") == []
    assert signatures("5.3.3", "0 a1 6003 timeout ! too-much") == OUTLASTED


def certain(release: str, text: str) -> object:
    """Return True if nothing excuses that the only attempt outlasted its 500 ms."""
    (judgement,) = judged(release, text, timeout=500)
    assert judgement.difference is not None
    assert judgement.difference.signature == OUTLASTED[0]
    return judgement.difference.detail[IS_CERTAIN]


def test_a_timeout_before_its_time() -> None:
    """A timeout may come some ms early, by rounding; other errors may come at any time."""
    text = "0 a1 {} > b0 1"
    assert signatures("5.3.3", text.format("400 timeout"), timeout=500) == EARLY
    assert signatures("5.3.3", text.format("400 lost"), timeout=500) == []
    assert signatures("5.3.3", "0 a1 498 timeout > b0 1", timeout=500) == []
    assert signatures("4.2.0", "0 a1 400 lost > b0 450 timeout ! client/10002", timeout=500, retries=1) == EARLY
    assert signatures("4.2.0", "0 a1 400 lost > b0 496 timeout ! client/10002", timeout=500, retries=1) == []


def test_an_attempt_that_began_late_has_less_to_wait() -> None:
    """A pause of 300 ms between choice and request counts against the timeout."""
    (send,) = history("0 a1 200 timeout ! too-much")
    (attempt,) = send.attempts
    late = replace(attempt, start_ns=attempt.start_ns + 300 * MS, end_ns=attempt.end_ns + 300 * MS)
    stood_still = replace(send, end_ns=send.end_ns + 301 * MS, attempts=(late,))
    replay = replay_for("5.3.3", ClientSettings(send_msg_timeout_ms=500), routes("a4"))
    (judgement,) = replay.judge_all([stood_still])
    assert judgement.difference is None


def test_threads_that_share_a_fault_table_keep_their_timeouts_too() -> None:
    """Threads that share a fault table must keep their timeouts, too."""
    assert signatures("5.3.3", "t0 0 a1 2000 | t1 3000 b0 1", timeout=500, on=True) == OUTLASTED


def test_what_else_is_wrong_with_a_send_that_gave_up_early_is_kept() -> None:
    """A closed connection may excuse an early end, but not the send's other differences."""
    (send,) = history("0 a1 400 timeout > b0 1")
    replay = replay_for("5.3.3", ClientSettings(send_msg_timeout_ms=500), routes("a4 b4"))
    (judgement,) = replay.judge_all([replace(send, queue_id=3)])
    assert judgement.difference is not None
    assert judgement.difference.signature == EARLY[0]
    assert [other.signature for other in judgement.further] == ["queue.result-names-other-queue/retry"]
