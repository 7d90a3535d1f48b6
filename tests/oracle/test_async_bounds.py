"""Bounds of the ends of asynchronous sends, to the millisecond, and full differences."""

from dataclasses import replace

import pytest

from rocketdiff.core.records.sending import Send
from rocketdiff.core.sends.plan import SendKind
from rocketdiff.oracle.producer.asynchronous.ends import async_difference
from rocketdiff.oracle.producer.judgement import DifferenceKind, RuleDifference
from rocketmq_reference.dialects import dialect_of
from tests.oracle.async_sends import MS, SETTINGS, TIMED_OUT, because_of, faulty, signature, trace
from tests.oracle.histories import attempt_of

TIMEOUT, LOST = "RemotingTimeoutException", "RemotingSendRequestException"
TOO_MUCH, CLIENT = "RemotingTooMuchRequestException", "MQClientException"


def difference_of(release: str, send: Send) -> RuleDifference:
    """Return the difference in calm."""
    found = async_difference(dialect_of(release), SETTINGS, send, lambda *_: False)
    assert found is not None
    return found


def test_a_timeout_takes_its_time_and_a_second() -> None:
    """An attempt times out after at least 1,495 ms: 500 ms and 1 s of grace, less 5 ms for two clocks."""
    assert signature("5.3.3", because_of(TIMEOUT, 1_495), causes_reported=True) is None
    assert signature("5.3.3", because_of(TIMEOUT, 1_494), causes_reported=True) is not None


def test_a_connection_that_came_too_late_takes_as_long_as_the_timeout() -> None:
    """A connection that came too late takes more than 500 ms, less 5 ms for two clocks: at least 496 ms."""
    assert signature("5.3.3", because_of(TOO_MUCH, 496), causes_reported=True) is None
    assert signature("5.3.3", because_of(TOO_MUCH, 495), causes_reported=True) is not None


@pytest.mark.parametrize(("waited_ms", "least_ms"), [(300, 1_195), (1, 1_494), (0, 1_495), (-1, 1_495)])
def test_waiting_for_a_thread_counts_against_the_timeout(waited_ms: int, least_ms: int) -> None:
    """From 4.3.0 on a send's wait for its thread counts against the timeout; a negative wait is none."""
    called_ns = 7_000 * MS
    for took_ms, is_right in ((least_ms, True), (least_ms - 1, False)):
        send = because_of(TIMEOUT, took_ms)
        start_ns = called_ns + waited_ms * MS
        attempt = replace(send.attempts[0], start_ns=start_ns, end_ns=start_ns + took_ms * MS)
        moved = replace(send, start_ns=called_ns, end_ns=attempt.end_ns, attempts=(attempt,))
        assert (signature("5.3.3", moved) is None) is is_right


def test_before_4_3_0_waiting_is_not_counted() -> None:
    """Before 4.3.0 the application's thread sends without a wait; retries have only the 1 s of grace."""
    send = replace(trace(1_500, 1_000, 1_000, error=CLIENT), start_ns=-300 * MS)
    assert signature("4.2.0", send) is None


@pytest.mark.parametrize("kind", [SendKind.QUEUE, SendKind.SELECTOR])
@pytest.mark.parametrize(
    ("release", "found"), [("4.0.0-incubating", "attempts.went-on/retry"), ("4.1.0-incubating", None)]
)
def test_a_queue_named_by_the_application_is_retried_from_4_1_0_on(
    kind: SendKind, release: str, found: str | None
) -> None:
    """A failed send to a queue named by the application is lost in 4.0.0 and retried from 4.1.0 on."""
    assert signature(release, replace(trace(10, 5), kind=kind), faulty) == found
    assert signature(release, replace(trace(5), kind=kind), faulty) is None


def test_attempts_after_the_callback_are_no_part_of_the_send() -> None:
    """An attempt that begins at or after the callback is not counted."""
    send = trace(10)
    for start_ns, found in ((10 * MS, None), (10 * MS - 1, "attempts.went-on/retry")):
        late = attempt_of(1, "broker-a", 0, start_ns, 30 * MS)
        assert signature("5.3.3", replace(send, attempts=(*send.attempts, late))) == found


def test_the_first_attempt_counts_even_after_the_callback() -> None:
    """The first attempt counts even if recorded after the callback."""
    send = trace(10)
    seen_late = replace(send.attempts[0], start_ns=11 * MS, end_ns=12 * MS)
    assert signature("5.3.3", replace(send, attempts=(seen_late,))) is None


def test_a_send_given_up_in_calm_was_answered_by_the_rules() -> None:
    """In calm an attempt of 100 ms was answered, so the send must return SEND_OK."""
    assert difference_of("5.3.3", trace(100, error=CLIENT)) == RuleDifference(
        DifferenceKind.ERROR,
        "error.other-class/expected=none/seen=MQClientException/first",
        None,
        "the call returns SEND_OK",
        "the call threw MQClientException after 1 attempt",
        {"expected": [None, None, "SEND_OK"], "observed": [CLIENT, None, None]},
    )


def test_a_send_given_up_before_its_second_attempt() -> None:
    """4.2.0 retries after a timeout, with only the 1 s of grace left."""
    assert difference_of("4.2.0", trace(TIMED_OUT, error=CLIENT)) == RuleDifference(
        DifferenceKind.ATTEMPTS,
        "attempts.stopped-early/first",
        0,
        "another attempt after 1",
        "the call threw MQClientException after 1 attempt",
        {"attempts": 1, "error": CLIENT},
    )


def test_a_send_that_went_on_after_its_answer() -> None:
    """In calm the first attempt is answered, so a second one is a difference."""
    assert difference_of("5.3.3", trace(10, 10, 10, 10)) == RuleDifference(
        DifferenceKind.ATTEMPTS,
        "attempts.went-on/retry",
        3,
        "the send over after 1 attempt",
        "the call returned SEND_OK after 4 attempts",
        {"attempts": 4, "error": None},
    )


def test_another_status_than_any_answer_had() -> None:
    """A result's status must be that of an answer; the last answer's is expected."""
    send = trace(10, 10)
    statuses = ("SLAVE_NOT_AVAILABLE", "FLUSH_DISK_TIMEOUT")
    attempts = tuple(replace(one, status=status) for one, status in zip(send.attempts, statuses, strict=True))
    assert difference_of("5.3.3", replace(send, attempts=attempts)) == RuleDifference(
        DifferenceKind.ERROR,
        "error.other-status/expected=FLUSH_DISK_TIMEOUT/seen=SEND_OK/retry",
        None,
        "the call returns FLUSH_DISK_TIMEOUT",
        "the call returned SEND_OK after 2 attempts",
        {"expected": [None, None, "FLUSH_DISK_TIMEOUT"], "observed": [None, None, "SEND_OK"]},
    )
    for status in statuses:
        assert signature("5.3.3", replace(send, attempts=attempts, status=status), faulty) is None


@pytest.mark.parametrize(
    ("cause", "seen", "observed"),
    [(None, "none", "without a cause"), (LOST, LOST, f"because of a {LOST}")],
)
def test_another_cause_than_the_rules_name(cause: str | None, seen: str, observed: str) -> None:
    """In calm the expected cause of a failure after 1,700 ms is a timeout."""
    assert difference_of("5.3.3", because_of(cause, TIMED_OUT)) == RuleDifference(
        DifferenceKind.ERROR,
        f"error.other-cause/expected={TIMEOUT}/seen={seen}/first",
        None,
        f"the call gives up with {CLIENT} because of a {TIMEOUT}",
        f"the call threw {CLIENT} after 1 attempt, {observed}",
        {"expected": [CLIENT, [TIMEOUT]], "observed": [CLIENT, None, cause]},
    )


@pytest.mark.parametrize(
    ("release", "found"),
    [("4.3.2", "attempts.went-on/retry"), ("4.4.0", None), ("4.6.1", None), ("4.7.1", "attempts.went-on/retry")],
)
def test_a_retry_without_time_may_be_given_up_at_once(release: str, found: str | None) -> None:
    """
    From 4.4.0 to 4.6.1 a retry without time may fail and be retried at once, after 0.04 ms with 4.4.0.

    Before, such an exception ends the send; later, a retry has the remaining time.
    """
    assert [signature(release, trace(1_500, took_ms, 5)) for took_ms in (0, 100)] == [found, found]
    assert signature(release, trace(1_500, 101, 5)) == "attempts.went-on/retry"


def test_only_a_retry_has_no_time() -> None:
    """A first attempt in calm cannot fail at once, so a retry is a difference."""
    assert signature("4.4.0", trace(0, 5)) == "attempts.went-on/retry"
    waited = replace(trace(5, error=CLIENT), start_ns=-500 * MS)
    assert signature("5.3.2", waited) == "attempts.stopped-early/first"


def test_too_many_attempts_at_a_faulty_broker_state_the_maximum() -> None:
    """At a faulty broker three attempts are the most, with two retries."""
    found = async_difference(dialect_of("5.3.3"), SETTINGS, trace(10, 10, 10, 10), faulty)
    assert found is not None and found.expected == "the send over after 3 attempts"


def test_another_end_than_the_rules_have_states_one_of_theirs() -> None:
    """Of a timeout and a connection that came too late, the first."""
    found = async_difference(dialect_of("5.3.3"), SETTINGS, trace(2_000, error="other"), faulty)
    assert found is not None and found.expected == f"the call gives up with {CLIENT} because of a {TIMEOUT}"
