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


def test_connecting_may_take_longer_than_the_timeout() -> None:
    """
    Connecting may exceed the timeout, so an overrun is not certain, unless an answer excludes it (from 4.3.0 on).

    Before 4.3.0 connecting did not count.
    """
    assert certain("5.3.3", "0 a1 5900 timeout ! too-much") is False
    assert certain("5.3.3", "0 a1 8000 timeout ! too-much") is True
    assert certain("5.3.3", "0 a1 2000") is True
    assert certain("4.2.0", "0 a1 2000") is False


def certain(release: str, text: str) -> object:
    """Return True if nothing excuses that the only attempt outlasted its 500 ms."""
    (judgement,) = judged(release, text, timeout=500)
    assert judgement.difference is not None
    assert judgement.difference.signature == OUTLASTED[0]
    return judgement.difference.detail[IS_CERTAIN]


def test_an_attempt_that_began_late_has_less_to_wait() -> None:
    """A pause of 300 ms between choice and request counts against the timeout."""
    (send,) = history("0 a1 200 timeout ! too-much")
    (attempt,) = send.attempts
    late = replace(attempt, start_ns=attempt.start_ns + 300 * MS, end_ns=attempt.end_ns + 300 * MS)
    stood_still = replace(send, end_ns=send.end_ns + 301 * MS, attempts=(late,))
    replay = replay_for("5.3.3", ClientSettings(send_msg_timeout_ms=500), routes("a4"))
    (judgement,) = replay.judge_all([stood_still])
    assert judgement.difference is None


def test_other_differences_of_a_send_that_gave_up_early_are_kept() -> None:
    """A closed connection may excuse an early end, but not the send's other differences."""
    (send,) = history("0 a1 400 timeout > b0 1")
    replay = replay_for("5.3.3", ClientSettings(send_msg_timeout_ms=500), routes("a4 b4"))
    (judgement,) = replay.judge_all([replace(send, queue_id=3)])
    assert judgement.difference is not None
    assert judgement.difference.signature == EARLY[0]
    assert [other.signature for other in judgement.further] == ["queue.result-names-other-queue/retry"]


@pytest.mark.parametrize(
    ("release", "text", "timeout", "found"),
    [
        # a busy machine may add one second
        ("5.3.3", "0 a1 2000", 500, OUTLASTED),
        ("5.3.3", "0 a1 1450", 500, []),
        ("5.3.3", "0 =q5 b1 2000", 500, OUTLASTED),
        ("5.3.3", "t0 0 a1 2000 | t1 3000 b0 1", 500, OUTLASTED),
        ("5.3.3", "0 a1 3990 timeout ! too-much", 3_000, []),
        ("5.3.3", "0 a1 6003 timeout ! too-much", 3_000, OUTLASTED),
        # a retry has the rest of the timeout, before 4.3.0 all of it
        ("5.3.3", "0 a1 600 lost > b0 1300", 700, OUTLASTED),
        ("5.3.3", "0 a1 600 lost > b0 1000", 700, []),
        ("4.2.0", "0 a1 600 lost > b0 1300", 700, []),
        # a timeout may come some ms early, by rounding; other errors may come at any time
        ("5.3.3", "0 a1 400 timeout > b0 1", 500, EARLY),
        ("5.3.3", "0 a1 400 lost > b0 1", 500, []),
        ("5.3.3", "0 a1 498 timeout > b0 1", 500, []),
        # the lookup of a name has no bound
        ("5.3.3", "0 a1 9000 refused ! too-much", 500, []),
    ],
)
def test_attempts_keep_their_timeout(release: str, text: str, timeout: int, found: list[str]) -> None:
    """An attempt takes no more than its timeout and a second, and times out no earlier; with fault latency, too."""
    for on in {False, release != "4.2.0"}:  # with fault latency 4.2.0 takes another broker for the retry
        assert signatures(release, text, timeout=timeout, on=on) == found


@pytest.mark.parametrize(("took_ms", "found"), [(450, EARLY), (496, [])])
def test_before_4_3_0_a_retry_times_out_after_the_whole_timeout(took_ms: int, found: list[str]) -> None:
    """Before 4.3.0 a retry has the whole timeout, so it may not time out before that."""
    text = f"0 a1 400 lost > b0 {took_ms} timeout ! client/10002"
    assert signatures("4.2.0", text, timeout=500, retries=1) == found
