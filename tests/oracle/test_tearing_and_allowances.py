"""Effects of closing a connection, and an attempt's timeout over several hidden states."""

from dataclasses import replace

import pytest

from rocketdiff.oracle.choices import ChoiceExplorer
from rocketdiff.oracle.interval import Interval, as_ms
from rocketdiff.oracle.producer.durations import (
    Allowance,
    Tearing,
    allowance_of,
    duration_difference,
    waiting_difference,
)
from rocketdiff.oracle.producer.judgement import DifferenceKind, RuleDifference
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.attempt import Try
from tests.oracle.histories import attempt_of
from tests.oracle.test_durations_to_the_millisecond import MS, ONE_WAY


@pytest.mark.parametrize(
    ("release", "pending_fail", "timeouts_close"),
    [
        ("4.0.0-incubating", False, False),
        ("4.2.0", False, False),
        ("4.3.0", True, False),
        ("4.9.0", True, False),
        ("4.9.1", True, True),
        ("5.1.3", True, True),
        ("5.1.4", True, True),
        ("5.5.0", True, True),
    ],
)
def test_what_closing_a_connection_does(release: str, pending_fail: bool, timeouts_close: bool) -> None:
    """
    Closing a connection fails its pending requests from 4.3.0 on; a timeout closes it from 4.9.1 on.

    From 5.1.4 on it does so only if time was left.
    """
    assert Tearing.of(dialect_of(release).client.remoting) == Tearing(pending_fail, timeouts_close)


def test_an_attempt_is_allowed_what_any_hidden_state_allows() -> None:
    """An allowance spans the timeouts of all hidden states and counts from the choice."""

    def asked(lo: int, hi: int) -> Try:
        return Try(Queue("a", 0), as_ms(Interval(lo, hi, ChoiceExplorer())))

    allowed = allowance_of(asked(500, 510), 77)
    assert allowed == Allowance(500, 510, 77)
    allowed.widen(asked(490, 505))
    assert allowed == Allowance(490, 510, 77)
    allowed.widen(asked(505, 520))
    assert allowed == Allowance(490, 520, 77)
    assert allowance_of(Try(Queue("a", 0), 3_000), 5) == Allowance(3_000, 3_000, 5)


def test_a_timeout_before_its_time_is_told_in_full() -> None:
    """A timeout after 300 of 490–500 ms is reported in full."""
    attempt = attempt_of(0, "a", 0, 0, 300 * MS, "RemotingTimeoutException")
    assert duration_difference(attempt, Allowance(490, 500, 0), connecting_counts=True) == RuleDifference(
        DifferenceKind.ATTEMPTS,
        "attempts.gave-up-before-timeout",
        0,
        "attempt 1 keeps its timeout of 490–500 ms",
        "attempt 1 ended after 300 ms with RemotingTimeoutException",
        {"timeout_ms": [490, 500], "took_ms": 300, "error": "RemotingTimeoutException"},
    )


def test_an_answer_without_a_status_is_told_as_one() -> None:
    """A late answer without a status is called an answer."""
    found = duration_difference(attempt_of(0, "a", 0, 0, 2_000 * MS), Allowance(500, 500, 0), connecting_counts=True)
    assert found is not None
    assert (found.kind, found.observed) == (DifferenceKind.ATTEMPTS, "attempt 1 ended after 2,000 ms with an answer")


def test_a_one_way_call_waits_from_its_last_request_on() -> None:
    """A one-way call waits from its last request on: from the second, at 900 ms, 1,100 ms."""
    second = attempt_of(1, "b", 0, 900 * MS, 910 * MS, None, None, "SEND_OK")
    called = replace(ONE_WAY, end_ns=2_000 * MS, attempts=(*ONE_WAY.attempts, second))
    assert waiting_difference(called) == RuleDifference(
        DifferenceKind.ATTEMPTS,
        "attempts.waited-for-an-answer",
        1,
        "a one-way call that is over when its request is written",
        "the call returned 1,100 ms after it began its request",
        {"waited_ms": 1_100, "status": "SEND_OK"},
    )
