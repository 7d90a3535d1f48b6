"""Outcome and reason of a reported attempt or send."""

import pytest

from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.sends.outcome import Outcome, Reason, outcome_of_send
from rocketdiff.core.sends.plan import SendMode

OK, FAILED, UNKNOWN = Outcome.OK, Outcome.FAILED, Outcome.UNKNOWN
TIMEOUT, REFUSED = "RemotingTimeoutException", "RemotingConnectException"


@pytest.mark.parametrize(
    ("error", "code", "attempts", "known"),
    [
        (None, None, [UNKNOWN, OK], OK),
        ("MQClientException", 10001, [FAILED, FAILED, FAILED], FAILED),
        ("MQClientException", 10001, [UNKNOWN, FAILED, FAILED], UNKNOWN),
        ("RemotingTooMuchRequestException", None, [UNKNOWN], UNKNOWN),
        ("RemotingTooMuchRequestException", None, [], UNKNOWN),
        ("MQClientException", 10005, [], FAILED),
    ],
)
def test_failed_send_is_certain_only_when_every_attempt_was(
    error: str | None, code: int | None, attempts: list[Outcome], known: Outcome
) -> None:
    """A send failed for certain only if every attempt did; one that timed out may be stored."""
    assert outcome_of_send(error, code, attempts) is known


@pytest.mark.parametrize(
    ("error", "oneway", "known"),
    [
        (None, False, OK),
        (None, True, UNKNOWN),
        (TIMEOUT, False, UNKNOWN),
        (REFUSED, False, FAILED),
        (REFUSED, True, FAILED),
    ],
)
def test_the_outcome_of_a_one_way_attempt_depends_on_its_write(error: str | None, oneway: bool, known: Outcome) -> None:
    """A written one-way request says nothing; one never written failed."""
    assert Attempt(0, 0, 0, "broker-a", 0, 1, 2, error, oneway=oneway).outcome is known


@pytest.mark.parametrize(
    ("mode", "error", "attempts", "known"),
    [
        (SendMode.SYNC, None, (), OK),
        (SendMode.ONEWAY, None, (), UNKNOWN),
        (SendMode.SYNC, REFUSED, (), FAILED),
        (SendMode.SYNC, REFUSED, (TIMEOUT, REFUSED), UNKNOWN),
        (SendMode.SYNC, TIMEOUT, (REFUSED, REFUSED), FAILED),
    ],
)
def test_the_outcome_of_a_failed_send_is_that_of_its_attempts(
    mode: SendMode, error: str | None, attempts: tuple[str, ...], known: Outcome
) -> None:
    """A failed send has the outcome of its attempts; otherwise the mode decides."""
    made = tuple(Attempt(0, 0, number, "broker-a", 0, 1, 2, one) for number, one in enumerate(attempts))
    assert Send(0, 0, 1, 2, error, mode=mode, attempts=made).outcome is known


def test_a_reason_takes_the_status_into_account() -> None:
    """A status other than SEND_OK is a reason without an error."""
    assert Send(0, 0, 1, 2, status="FLUSH_DISK_TIMEOUT").reason is Reason.NOT_STORE_OK
    assert Attempt(0, 0, 0, "broker-a", 0, 1, 2, TIMEOUT).reason is Reason.TIMEOUT
