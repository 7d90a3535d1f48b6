"""How asynchronous sends may end in each release, by durations and exceptions."""

from dataclasses import replace

import pytest

from rocketdiff.core.records.sending import NEVER_CALLED_BACK, UNSEEN_END, Send
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.oracle.producer.asynchronous.ends import Troubled, async_difference
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.producer.settings import SendSettings
from tests.oracle.histories import attempt_of, send_of

MS = 1_000_000
TIMED_OUT = 1_700
"""500 ms, 1 s of grace, and the time until the next scan of pending requests."""

SETTINGS = SendSettings(send_msg_timeout_ms=500)


def trace(*took_ms: int, error: str | None = None, code: int | None = None) -> Send:
    """Return a send with consecutive attempts of these durations."""
    attempts, at_ns = [], 0
    for number, lasted in enumerate(took_ms):
        failed = UNSEEN_END if number + 1 < len(took_ms) else error
        attempts.append(attempt_of(number, "broker-b", 0, at_ns, at_ns + lasted * MS, failed))
        at_ns += lasted * MS
    status = "SEND_OK" if error is None else None
    seen = tuple(attempts)
    return send_of(
        0,
        0,
        SendKind.PLAIN,
        0,
        0,
        at_ns,
        error,
        None,
        code,
        status,
        attempts=seen,
        mode=SendMode.ASYNC,
    )


def because_of(cause: str | None, *took_ms: int, error: str = "MQClientException") -> Send:
    return replace(trace(*took_ms, error=error), cause=cause)


def signature(
    release: str, send: Send, troubled: Troubled = lambda *_: False, *, causes_told: bool = False
) -> str | None:
    """Return the difference's signature; by default no broker is faulty and no causes are reported."""
    found = async_difference(dialect_of(release), SETTINGS, send, troubled, causes_told=causes_told)
    return None if found is None else found.signature


def faulty(_broker: str | None, _start_ns: int, _end_ns: int) -> bool:
    return True


@pytest.mark.parametrize("release", ["4.0.0-incubating", "4.3.2", "4.7.1", "5.1.4", "5.3.3"])
def test_a_message_that_is_stored_at_once_is_always_right(release: str) -> None:
    """A send with one answered attempt is legal in every release."""
    assert signature(release, trace(3)) is None


@pytest.mark.parametrize(
    ("release", "is_right"), [("4.2.0", True), ("4.6.1", True), ("4.7.1", False), ("5.1.4", False), ("5.3.3", False)]
)
def test_a_timeout_is_retried_elsewhere_up_to_4_6_1(release: str, is_right: bool) -> None:
    """A timeout is retried up to 4.6.1; from 4.7.0 on no time is left for a retry."""
    assert (signature(release, trace(TIMED_OUT, 5)) is None) is is_right


def test_giving_up_at_the_timeout_has_its_exception() -> None:
    """After a timeout 4.7.1 ends with RemotingTooMuchRequestException, 5.3.3 only with MQClientException."""
    assert signature("5.3.3", trace(TIMED_OUT, error="MQClientException")) is None
    assert signature("4.7.1", trace(TIMED_OUT, error="RemotingTooMuchRequestException")) is None
    wrong = signature("5.3.3", trace(TIMED_OUT, error="RemotingTooMuchRequestException"))
    assert wrong == "error.other-class/expected=MQClientException/seen=RemotingTooMuchRequestException/first"


@pytest.mark.parametrize("release", ["4.3.2", "4.6.1"])
def test_giving_up_at_the_timeout_must_say_why_to_4_6_1(release: str) -> None:
    """Up to 4.6.1 a timeout is retried; only a connection that came too late, named as cause, ends the send."""
    gave_up = trace(TIMED_OUT, error="MQClientException")
    assert signature(release, replace(gave_up, cause="RemotingTooMuchRequestException")) is None
    assert signature(release, gave_up) == "attempts.stopped-early/first"
    assert signature(release, gave_up, lambda broker, *_: broker is not None) == "attempts.stopped-early/first"


def test_giving_up_before_the_timeout_is_wrong() -> None:
    """A client with time and retries left must retry, unless a broker answered with an error."""
    assert signature("5.3.3", trace(100, error="MQClientException"), faulty) == "attempts.stopped-early/first"
    assert signature("5.3.3", trace(100, error="MQBrokerException", code=13)) is None


@pytest.mark.parametrize("release", ["4.7.1", "5.3.3"])
def test_a_failure_in_time_may_be_seen_half_a_second_late(release: str) -> None:
    """A failure before 500 ms may be seen at 999 ms and be retried; at 1,000 ms no time was left."""
    assert signature(release, trace(999, 5), faulty) is None
    assert signature(release, trace(1_000, 5), faulty) is not None


def test_retries_are_counted() -> None:
    """A send has two retries by default; a third is a difference."""
    assert signature("5.3.3", trace(10, 10, 10), faulty) is None
    assert signature("5.3.3", trace(10, 10, 10, 10), faulty) == "attempts.went-on/retry"


@pytest.mark.parametrize("release", ["4.0.0-incubating", "4.6.1", "4.7.1", "5.3.0", "5.3.3"])
def test_a_healthy_broker_is_not_left(release: str) -> None:
    """A healthy broker answers before the timeout, so a retry or a failure is a difference."""
    assert signature(release, trace(10, 10)) == "attempts.went-on/retry"
    assert signature(release, trace(10, 10, 10)) == "attempts.went-on/retry"
    gave_up = trace(10, error="MQClientException")
    assert signature(release, gave_up) == "error.other-class/expected=none/seen=MQClientException/first"


def test_each_attempt_has_its_own_brokers_health() -> None:
    """Only an attempt at a faulty broker may be retried."""
    first, second = trace(10, 10).attempts
    send = replace(trace(10, 10), attempts=(replace(first, broker="broker-a"), second))
    assert signature("5.3.3", send, lambda broker, *_: broker == "broker-a") is None
    assert signature("5.3.3", send, lambda broker, *_: broker == "broker-b") == "attempts.went-on/retry"


def test_a_retry_nobody_saw_needs_a_faulty_broker_somewhere() -> None:
    """Invisible retries are assumed only if some broker was faulty and may have refused them."""
    refused = replace(trace(10, error="MQClientException"), cause="RemotingConnectException")
    assert signature("5.3.3", refused, faulty) is None
    assert signature("5.3.3", refused, causes_told=True) is not None


def test_a_refused_first_attempt_is_retried_from_4_9_3_on() -> None:
    """A refused first attempt ends the send up to 4.9.2 and is retried from 4.9.3 on."""
    assert signature("4.9.3", trace(5, 5), faulty) is None
    assert signature("4.9.2", trace(5, error="MQClientException", code=10001), faulty) is None


def test_a_callback_that_never_came_is_not_judged_here() -> None:
    """A missing callback is no difference here: the check of callbacks reports it."""
    assert signature("5.3.3", trace(TIMED_OUT, error=NEVER_CALLED_BACK)) is None


@pytest.mark.parametrize(
    ("release", "cause"),
    [("4.9.8", None), ("5.1.4", None), ("5.2.0", "CompletionException"), ("5.3.2", "RemotingSendRequestException")],
)
def test_an_exception_names_the_cause_of_its_release(release: str, cause: str | None) -> None:
    """The cause after three lost connections is none up to 5.1.4, a wrapper from 5.2.0 on, the failure from 5.3.2 on."""
    assert signature(release, because_of(cause, 10, 10, 10), faulty, causes_told=True) is None
    for other in {None, "CompletionException", "RemotingSendRequestException"} - {cause}:
        found = signature(release, because_of(other, 10, 10, 10), faulty, causes_told=True)
        assert found is not None
        assert found.startswith("error.other-cause/expected=")
        assert found.endswith(f"/seen={other or 'none'}/retry")


def test_a_timeout_is_named_as_one() -> None:
    """In calm a lost connection cannot be the cause of so long an attempt; at a faulty broker it can."""
    assert signature("5.3.3", because_of("RemotingTimeoutException", TIMED_OUT), causes_told=True) is None
    lost = because_of("RemotingSendRequestException", TIMED_OUT)
    wrong = "error.other-cause/expected=RemotingTimeoutException/seen=RemotingSendRequestException/first"
    assert signature("5.3.3", lost, causes_told=True) == wrong
    assert signature("5.3.3", lost, faulty, causes_told=True) is None


def test_the_cause_of_what_the_broker_said_is_nobodys_rule() -> None:
    """The cause of an MQBrokerException is not judged: the network library sets it."""
    refused = replace(because_of("Anything", 10, error="MQBrokerException"), code=13)
    assert signature("5.3.3", refused, causes_told=True) is None


def test_a_client_that_tells_no_causes_is_not_asked() -> None:
    """A client that cannot report causes, as in some languages, needs none."""
    assert signature("5.3.3", because_of(None, TIMED_OUT)) is None


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
