"""How asynchronous sends may end, to the millisecond, and what is told of one that ended otherwise."""

from dataclasses import replace

import pytest

from rocketdiff.core.sends.plan import SendKind
from rocketdiff.core.sends.records import Send
from rocketdiff.oracle.producer.asynchronous.ends import async_difference
from rocketdiff.oracle.producer.judgement import DifferenceKind, RuleDifference
from rocketmq_reference.dialects import dialect_of
from tests.oracle.histories import attempt_of
from tests.oracle.test_async_ends import MS, SETTINGS, TIMED_OUT, because_of, faulty, signature, trace

TIMEOUT, LOST = "RemotingTimeoutException", "RemotingSendRequestException"
TOO_MUCH, CLIENT = "RemotingTooMuchRequestException", "MQClientException"


def told(release: str, send: Send) -> RuleDifference:
    """What differs in calm."""
    found = async_difference(dialect_of(release), SETTINGS, send, lambda *_: False)
    assert found is not None
    return found


def test_a_timeout_takes_its_time_and_a_second() -> None:
    """500 ms, the second of grace, and five milliseconds for two clocks: 1,495 at least."""
    assert signature("5.3.3", because_of(TIMEOUT, 1_495), causes_told=True) is None
    assert signature("5.3.3", because_of(TIMEOUT, 1_494), causes_told=True) is not None


def test_a_connection_that_came_too_late_takes_as_long_as_the_timeout() -> None:
    """500 ms but for five, and a millisecond more than all of it: 496 at least."""
    assert signature("5.3.3", because_of(TOO_MUCH, 496), causes_told=True) is None
    assert signature("5.3.3", because_of(TOO_MUCH, 495), causes_told=True) is not None


@pytest.mark.parametrize(("waited_ms", "least_ms"), [(300, 1_195), (1, 1_494), (0, 1_495), (-1, 1_495)])
def test_what_a_send_waited_for_its_thread_is_part_of_its_time(waited_ms: int, least_ms: int) -> None:
    """From 4.3.0 on, counted from the call; an attempt seen before its call is one that did not wait."""
    called_ns = 7_000 * MS
    for took_ms, is_right in ((least_ms, True), (least_ms - 1, False)):
        send = because_of(TIMEOUT, took_ms)
        start_ns = called_ns + waited_ms * MS
        attempt = replace(send.attempts[0], start_ns=start_ns, end_ns=start_ns + took_ms * MS)
        moved = replace(send, start_ns=called_ns, end_ns=attempt.end_ns, attempts=(attempt,))
        assert (signature("5.3.3", moved) is None) is is_right


def test_before_4_3_0_waiting_is_not_counted() -> None:
    """The application's own thread sends. Two retries, each after a timeout and a second of its own."""
    send = replace(trace(1_500, 1_000, 1_000, error=CLIENT), start_ns=-300 * MS)
    assert signature("4.2.0", send) is None


@pytest.mark.parametrize("kind", [SendKind.QUEUE, SendKind.SELECTOR])
@pytest.mark.parametrize(
    ("release", "found"), [("4.0.0-incubating", "attempts.went-on/retry"), ("4.1.0-incubating", None)]
)
def test_a_queue_named_by_the_application_is_retried_from_4_1_0_on(
    kind: SendKind, release: str, found: str | None
) -> None:
    """In 4.0.0 such a send is lost with its first failure; one that is answered is right in both."""
    assert signature(release, replace(trace(10, 5), kind=kind), faulty) == found
    assert signature(release, replace(trace(5), kind=kind), faulty) is None


def test_attempts_after_the_callback_are_no_part_of_the_send() -> None:
    """From its instant on; the message was answered in 10 ms."""
    send = trace(10)
    for start_ns, found in ((10 * MS, None), (10 * MS - 1, "attempts.went-on/retry")):
        late = attempt_of(1, "broker-a", 0, start_ns, 30 * MS)
        assert signature("5.3.3", replace(send, attempts=(*send.attempts, late))) == found


def test_the_first_attempt_is_part_of_it_whatever_the_clocks_say() -> None:
    """Seen a little after the callback."""
    send = trace(10)
    seen_late = replace(send.attempts[0], start_ns=11 * MS, end_ns=12 * MS)
    assert signature("5.3.3", replace(send, attempts=(seen_late,))) is None


def test_a_failure_at_the_very_timeout_was_seen_late() -> None:
    """Lost at up to 499 ms of 500 and acted on at 500, it is retried in 5.3.3."""
    assert signature("5.3.3", trace(500, 5), faulty) is None


def test_a_send_given_up_in_calm_was_answered_by_the_rules() -> None:
    """Nothing ailed its broker, so within 100 ms there was an answer."""
    assert told("5.3.3", trace(100, error=CLIENT)) == RuleDifference(
        DifferenceKind.ERROR,
        "error.other-class/expected=none/seen=MQClientException/first",
        None,
        "the call returns SEND_OK",
        "the call threw MQClientException after 1 attempt",
        {"expected": [None, None, "SEND_OK"], "observed": [CLIENT, None, None]},
    )


def test_a_result_where_the_send_had_to_be_given_up() -> None:
    """A timeout leaves no time for another attempt in 5.3.3: the callback gets an exception. Two ways end here: MQClientException first."""
    send = trace(TIMED_OUT, 5)
    only_one = replace(send, attempts=send.attempts[:1], status=None, error="IllegalStateException")
    assert told("5.3.3", only_one).signature == f"error.other-class/expected={CLIENT}/seen=IllegalStateException/first"


def test_a_send_given_up_before_its_second_attempt() -> None:
    """4.2.0 goes on after a timeout, with none of the time but the second of grace."""
    assert told("4.2.0", trace(TIMED_OUT, error=CLIENT)) == RuleDifference(
        DifferenceKind.ATTEMPTS,
        "attempts.stopped-early/first",
        0,
        "another attempt after 1",
        "the call threw MQClientException after 1 attempt",
        {"attempts": 1, "error": CLIENT},
    )


def test_a_send_that_went_on_after_its_answer() -> None:
    """Four attempts in calm, where one was answered."""
    assert told("5.3.3", trace(10, 10, 10, 10)) == RuleDifference(
        DifferenceKind.ATTEMPTS,
        "attempts.went-on/retry",
        3,
        "the send over after 1 attempt",
        "the call returned SEND_OK after 4 attempts",
        {"attempts": 4, "error": None},
    )


def test_another_status_than_any_answer_had() -> None:
    """The last answered attempt's is expected; the second attempt is a retry."""
    send = trace(10, 10)
    statuses = ("SLAVE_NOT_AVAILABLE", "FLUSH_DISK_TIMEOUT")
    attempts = tuple(replace(one, status=status) for one, status in zip(send.attempts, statuses, strict=True))
    assert told("5.3.3", replace(send, attempts=attempts)) == RuleDifference(
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
    """In calm what takes so long is a timeout, or a connection that came too late; the first in the alphabet is in the signature."""
    assert told("5.3.3", because_of(cause, TIMED_OUT)) == RuleDifference(
        DifferenceKind.ERROR,
        f"error.other-cause/expected={TIMEOUT}/seen={seen}/first",
        None,
        f"the call gives up with {CLIENT} because of a {TIMEOUT}",
        f"the call threw {CLIENT} after 1 attempt, {observed}",
        {"expected": [CLIENT, [TIMEOUT]], "observed": [CLIENT, None, cause]},
    )


def test_no_cause_where_the_rules_name_none() -> None:
    """To 5.1.4 MQClientException of an asynchronous send wraps nothing; three connections were lost."""
    lost = because_of(LOST, 10, 10, 10)
    assert signature("5.1.4", lost, faulty, causes_told=True) == f"error.other-cause/expected=none/seen={LOST}/retry"


@pytest.mark.parametrize(
    ("release", "found"),
    [("4.3.2", "attempts.went-on/retry"), ("4.4.0", None), ("4.6.1", None), ("4.7.1", "attempts.went-on/retry")],
)
def test_a_retry_without_time_may_be_given_up_at_once(release: str, found: str | None) -> None:
    """
    Seen with 4.4.0: 0.04 ms after a retry another one.

    Before, what is thrown there ends the send; afterwards a retry has the rest of the time.
    """
    assert signature(release, trace(1_500, 0, 5)) == found
    assert signature(release, trace(1_500, 101, 5)) == "attempts.went-on/retry"


def test_only_a_retry_has_no_time() -> None:
    """A first attempt in calm that was given up at once is a difference in every release."""
    assert signature("4.4.0", trace(0, 5)) == "attempts.went-on/retry"
