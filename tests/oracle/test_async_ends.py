"""How asynchronous sends may end in each release, by durations and exceptions, and known callback defects."""

from dataclasses import replace

import pytest

from rocketdiff.core.records.sending import NEVER_CALLED_BACK, Send
from rocketdiff.core.sends.plan import SendKind
from rocketdiff.oracle.producer.asynchronous.ends import Troubled
from rocketdiff.oracle.producer.asynchronous.habits import NO_HABITS, AsyncHabits
from rocketmq_reference.dialects import dialect_of
from tests.oracle.async_sends import MS, TIMED_OUT, because_of, calm, faulty, faulty_itself, signature, trace

EVERY = ("4.0.0-incubating", "4.3.2", "4.6.1", "4.7.1", "5.1.4", "5.3.0", "5.3.3")
CLIENT, TOO_MUCH = "MQClientException", "RemotingTooMuchRequestException"
WENT_ON = "attempts.went-on/retry"
NO_TIME = f"error.other-class/expected={TOO_MUCH}/seen=none/retry"


@pytest.mark.parametrize(
    ("releases", "send", "troubled", "found"),
    [
        # a healthy broker answers at once, so a retry or a failure differs
        (EVERY, trace(3), calm, None),
        (EVERY, trace(10, 10), calm, WENT_ON),
        (EVERY, trace(10, 10, 10), calm, WENT_ON),
        (EVERY, trace(10, error=CLIENT), calm, f"error.other-class/expected=none/seen={CLIENT}/first"),
        # a timeout is retried up to 4.6.1, from 4.7.0 on no time is left
        (("4.2.0", "4.6.1"), trace(TIMED_OUT, 5), calm, None),
        (("4.7.1",), trace(TIMED_OUT, 5), calm, NO_TIME),
        (("5.1.4",), trace(TIMED_OUT, 5), calm, "attempts.stopped-early/retry"),
        (("5.3.3",), trace(TIMED_OUT, 5), calm, WENT_ON),
        # the exception after a timeout
        (("5.3.3",), trace(TIMED_OUT, error=CLIENT), calm, None),
        (("4.7.1",), trace(TIMED_OUT, error=TOO_MUCH), calm, None),
        (
            ("5.3.3",),
            trace(TIMED_OUT, error=TOO_MUCH),
            calm,
            f"error.other-class/expected={CLIENT}/seen={TOO_MUCH}/first",
        ),
        # with time and retries left a client must retry, unless a broker answered with an error, whose cause does not matter
        (("5.3.3",), trace(100, error=CLIENT), faulty, "attempts.stopped-early/first"),
        (("5.3.3",), trace(100, error="MQBrokerException", code=13), calm, None),
        # a failure before 500 ms may be seen at 999 ms, at 1,000 ms no time was left
        (("4.7.1", "5.3.3"), trace(999, 5), faulty, None),
        (("4.7.1", "5.3.3"), trace(500, 5), faulty, None),
        (("4.7.1",), trace(1_000, 5), faulty, NO_TIME),
        (("5.3.3",), trace(1_000, 5), faulty, WENT_ON),
        # two retries by default
        (("5.3.3",), trace(10, 10, 10), faulty, None),
        (("5.3.3",), trace(10, 10, 10, 10), faulty, WENT_ON),
        # a refused first attempt is retried from 4.9.3 on
        (("4.9.3",), trace(5, 5), faulty, None),
        (("4.9.2",), trace(5, error=CLIENT, code=10001), faulty, None),
        # a client that reports error words names no causes
        (("4.7.1",), trace(996, error="timeout"), calm, None),
        (("4.9.3",), trace(496, error="timeout"), calm, None),
        (("5.3.3",), trace(3, error="timeout"), calm, "error.other-class/expected=none/seen=timeout/first"),
        # a retry that finds 5 ms left may be in time, at 4 ms its connection may be too late
        (("4.9.3",), trace(495, error="timeout"), faulty, "attempts.stopped-early/first"),
        (("4.9.3",), trace(496, error="timeout"), faulty, None),
        # a first attempt is never invisible
        (
            ("4.9.3",),
            replace(trace(600, error="refused"), start_ns=-500 * MS),
            faulty_itself,
            "attempts.stopped-early/first",
        ),
        # a retry 1 ms after the timeout has no time left
        (("5.1.4",), trace(501, TIMED_OUT, error="client-refused"), faulty_itself, "attempts.stopped-early/retry"),
        # the next retry after one without time may be refused by a broker that is down, before the time is looked at
        (("4.9.3", "5.1.0", "5.1.4"), trace(TIMED_OUT, 0, 2, error="RemotingConnectException"), faulty, None),
        (
            ("5.1.0",),
            trace(TIMED_OUT, 0, 2, error="RemotingConnectException"),
            calm,
            f"error.other-class/expected={TOO_MUCH}/seen=RemotingConnectException/retry",
        ),
        # a retry that had no time left and was given up at once ends the last one's call with its own exception
        (("4.4.0",), trace(TIMED_OUT, 1, 1, error="RemotingTimeoutException"), calm, None),
        # but from 4.7.0 on a retry has the rest of the time
        (("4.9.3",), trace(5, 10, error="timeout"), faulty, "attempts.stopped-early/retry"),
        # a missing callback is reported by the check of callbacks
        (("5.3.3",), trace(TIMED_OUT, error=NEVER_CALLED_BACK), calm, None),
    ],
)
def test_ends_of_asynchronous_sends_differ_from_the_rules_or_not(
    releases: tuple[str, ...], send: Send, troubled: Troubled, found: str | None
) -> None:
    """The number of attempts and the exception of a send differ from the rules of a release, or do not."""
    assert [signature(release, send, troubled) for release in releases] == [found] * len(releases)


def test_the_cause_of_a_broker_error_is_not_judged() -> None:
    """The cause of an MQBrokerException is not judged: the network library sets it."""
    refused = replace(because_of("Anything", 10, error="MQBrokerException"), code=13)
    assert signature("5.3.3", refused, causes_reported=True) is None


@pytest.mark.parametrize("release", ["4.3.2", "4.6.1"])
def test_giving_up_at_the_timeout_needs_a_cause_to_4_6_1(release: str) -> None:
    """Up to 4.6.1 a timeout is retried; only a connection that came too late, named as cause, ends the send."""
    gave_up = trace(TIMED_OUT, error="MQClientException")
    assert signature(release, replace(gave_up, cause="RemotingTooMuchRequestException")) is None
    assert signature(release, gave_up) == "attempts.stopped-early/first"
    assert signature(release, gave_up, faulty_itself) == "attempts.stopped-early/first"


def test_each_attempt_has_its_own_brokers_health() -> None:
    """Only an attempt at a faulty broker may be retried."""
    first, second = trace(10, 10).attempts
    send = replace(trace(10, 10), attempts=(replace(first, broker="broker-a"), second))
    assert signature("5.3.3", send, lambda broker, *_: broker == "broker-a") is None
    assert signature("5.3.3", send, lambda broker, *_: broker == "broker-b") == "attempts.went-on/retry"


def test_an_invisible_retry_needs_a_faulty_broker() -> None:
    """Invisible retries are assumed only if some broker was faulty and may have refused them."""
    refused = replace(trace(10, error="MQClientException"), cause="RemotingConnectException")
    assert signature("5.3.3", refused, faulty) is None
    assert signature("5.3.3", refused, causes_reported=True) is not None


@pytest.mark.parametrize(
    ("release", "cause", "first"),
    [
        ("4.9.8", None, "none"),
        ("5.1.4", None, "none"),
        ("5.2.0", "CompletionException", "CompletionException"),
        ("5.3.2", "RemotingSendRequestException", "RemotingConnectException"),
    ],
)
def test_an_exception_names_the_cause_of_its_release(release: str, cause: str | None, first: str) -> None:
    """
    The cause after three lost connections is none up to 5.1.4, a wrapper from 5.2.0 on, the failure from 5.3.2 on.

    first: the cause that a difference names, of those possible.
    """
    assert signature(release, because_of(cause, 10, 10, 10), faulty, causes_reported=True) is None
    for other in {None, "CompletionException", "RemotingSendRequestException"} - {cause}:
        found = signature(release, because_of(other, 10, 10, 10), faulty, causes_reported=True)
        assert found == f"error.other-cause/expected={first}/seen={other or 'none'}/retry"


def test_a_timeout_is_named_as_one() -> None:
    """In calm a lost connection cannot be the cause of so long an attempt; at a faulty broker it can."""
    assert signature("5.3.3", because_of("RemotingTimeoutException", TIMED_OUT), causes_reported=True) is None
    lost = because_of("RemotingSendRequestException", TIMED_OUT)
    wrong = "error.other-cause/expected=RemotingTimeoutException/seen=RemotingSendRequestException/first"
    assert signature("5.3.3", lost, causes_reported=True) == wrong
    assert signature("5.3.3", lost, faulty, causes_reported=True) is None
    retried = because_of(None, 10, TIMED_OUT)
    assert signature("5.3.3", retried, faulty, causes_reported=True) == (
        "error.other-cause/expected=RemotingConnectException/seen=none/retry"
    )


@pytest.mark.parametrize(
    ("release", "found"),
    [
        ("4.6.1", None),
        ("4.7.1", "error.other-status/expected=SLAVE_NOT_AVAILABLE/seen=SEND_OK/first"),
        ("5.3.3", "error.other-status/expected=SLAVE_NOT_AVAILABLE/seen=SEND_OK/first"),
    ],
)
def test_a_status_that_no_answer_had(release: str, found: str | None) -> None:
    """A status that no answer had is a difference, but up to 4.6.1 it may be another request's."""
    send = trace(3)
    answered = replace(send, attempts=(replace(send.attempts[0], status="SLAVE_NOT_AVAILABLE"),))
    assert signature(release, answered) == found
    assert signature(release, replace(answered, status="SLAVE_NOT_AVAILABLE")) is None
    thrown = replace(answered, status=None, error=CLIENT)
    assert signature(release, thrown) == f"error.other-class/expected=none/seen={CLIENT}/first"


@pytest.mark.parametrize(
    ("error", "found"),
    [
        ("RemotingTooMuchRequestException", None),
        (None, "error.other-class/expected=RemotingTooMuchRequestException/seen=none/first"),
    ],
)
def test_a_given_queue_whose_turn_came_after_the_timeout(error: str | None, found: str | None) -> None:
    """An attempt 600 ms after the call, with a timeout of 500 ms, sends nothing and must end with the exception."""
    send = replace(trace(5, error=error), kind=SendKind.QUEUE, start_ns=-600 * MS)
    assert signature("5.3.3", send) == found


def habits(release: str, retries: int = 2) -> AsyncHabits:
    return AsyncHabits.of(dialect_of(release), retries)


def test_a_callback_is_lost_in_the_first_release_only() -> None:
    """In 4.0.0 a failed send to a given queue has no callback but a NullPointerException (ROCKETMQ-101, fixed in 4.1.0)."""
    assert [habits(release).loses_callbacks for release in ("4.0.0-incubating", "4.1.0-incubating", "4.9.8", "5.5.0")] == [
        True, False, False, False,
    ]  # fmt: skip


def test_answers_are_confused_up_to_4_6_1() -> None:
    """Up to 4.6.1 a retry takes the number of the next request, so answers may be confused."""
    releases = ("4.0.0-incubating", "4.3.2", "4.6.1", "4.7.0", "5.3.3")
    assert [habits(release).confuses_answers for release in releases] == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("release", "retries", "most"),
    [
        ("5.2.0", 5, 1),
        ("5.3.0", 0, 2),
        ("5.3.0", 1, 2),
        ("5.3.0", 2, 3),
        ("5.3.1", 3, 3),
        ("5.3.1", 4, 4),
        ("5.3.2", 4, 2),
        ("5.3.3", 0, 2),
        ("5.4.0", 4, 1),
        ("5.5.0", 4, 1),
    ],
)
def test_a_connection_that_came_too_late_calls_back_more_than_once(release: str, retries: int, most: int) -> None:
    """
    In 5.3.0 to 5.3.3 a request whose connection came too late is still sent, and its answer calls back again.

    Each late attempt fails twice, so every second retry may be late. From 5.3.2 on a retry needs time, and a late
    connection leaves none.
    """
    assert habits(release, retries).most_callbacks == most


def test_a_client_without_habits_calls_back_once() -> None:
    """NO_HABITS, assumed for unknown rules, equals the newest release: one callback per send."""
    assert habits("5.5.0") == NO_HABITS
    assert (NO_HABITS.loses_callbacks, NO_HABITS.most_callbacks, NO_HABITS.confuses_answers) == (False, 1, False)
