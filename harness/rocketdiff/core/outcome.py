"""
How a send or an attempt ended, as three values, and why, as a closed set of causes.

A request that got no answer is ``unknown``, never ``failed``: a paused broker stores it after it is resumed.
"""

from collections.abc import Sequence
from enum import StrEnum


class Outcome(StrEnum):
    """What is known about the message afterwards."""

    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"


class Reason(StrEnum):
    """Normalised cause of an outcome, the same words for every client."""

    NONE = "none"
    NOT_STORE_OK = "not-store-ok"
    TIMEOUT = "timeout"
    BUDGET = "budget"
    CONNECT = "connect"
    CONNECTION_LOST = "connection-lost"
    BROKER = "broker"
    CLIENT = "client"
    NO_ROUTE = "no-route"
    NAME_SERVER = "name-server"
    OTHER = "other"


REASON_OF_ERROR = {
    "RemotingTimeoutException": Reason.TIMEOUT,
    "RemotingTooMuchRequestException": Reason.BUDGET,
    "RemotingConnectException": Reason.CONNECT,
    "RemotingSendRequestException": Reason.CONNECTION_LOST,
    "MQBrokerException": Reason.BROKER,
    "MQClientException": Reason.CLIENT,
    "IllegalStateException": Reason.NAME_SERVER,
}
"""RocketMQ's exception class (simple name) to cause; other classes are OTHER."""

# MQClientException carries the class of its last cause as a response code (DefaultMQProducerImpl of every release).
REASON_OF_CLIENT_CODE = {
    10001: Reason.CONNECT,
    10002: Reason.TIMEOUT,
    10003: Reason.CLIENT,
    10004: Reason.NAME_SERVER,
    10005: Reason.NO_ROUTE,
}

_NOTHING_WAS_WRITTEN = {Reason.CONNECT, Reason.NO_ROUTE, Reason.NAME_SERVER}


def reason_of(error: str | None, code: int | None = None, status: str | None = None) -> Reason:
    """
    Cause named by an exception's simple class name, its response code and a send status.

    No error is NONE, or NOT_STORE_OK when a status other than SEND_OK came back.
    """
    if error is None:
        return Reason.NOT_STORE_OK if is_stored_with_reserve(status) else Reason.NONE
    if error == "MQClientException" and code in REASON_OF_CLIENT_CODE:
        return REASON_OF_CLIENT_CODE[code]
    return REASON_OF_ERROR.get(error, Reason.OTHER)


def is_stored_with_reserve(status: str | None) -> bool:
    """Whether a broker stored a message and said that it did not do all it promises, such as FLUSH_SLAVE_TIMEOUT."""
    return status not in (None, "SEND_OK")


def outcome_of_attempt(error: str | None, code: int | None = None) -> Outcome:
    """
    What is known after one attempt.

    An answer (even an error from the broker) is certain; a connection that was never made is certain; a timeout, or a
    connection lost under way, leaves the message possibly stored.
    """
    if error is None:
        return Outcome.OK
    reason = reason_of(error, code)
    if reason is Reason.BROKER or reason in _NOTHING_WAS_WRITTEN:
        return Outcome.FAILED
    return Outcome.UNKNOWN


def outcome_of_send(
    error: str | None, code: int | None, attempts: Sequence[Outcome], *, is_acknowledged: bool = True
) -> Outcome:
    """
    What is known about a message after its send returned.

    A failed send is only certainly not stored when every one of its attempts certainly was not; the exception alone
    cannot say that (it names the last cause, and an earlier attempt may have timed out). Without a witness of the
    attempts the exception has to do. That a one-way call returned says nothing about its message.
    """
    if error is None:
        return Outcome.OK if is_acknowledged else Outcome.UNKNOWN
    if not attempts:
        return outcome_of_attempt(error, code)
    return Outcome.FAILED if all(attempt is Outcome.FAILED for attempt in attempts) else Outcome.UNKNOWN
