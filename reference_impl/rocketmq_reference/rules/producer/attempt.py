"""Input of the send loop (the end of an attempt) and its output (the next attempt, or the end of the call)."""

from enum import StrEnum
from typing import NamedTuple

from rocketmq_reference.rules.client.publish import Queue

SEND_OK = "SEND_OK"

CONNECT_BROKER = 10001
ACCESS_BROKER_TIMEOUT = 10002
BROKER_NOT_EXIST = 10003
NO_NAME_SERVER = 10004
NOT_FOUND_TOPIC = 10005
"""ClientErrorCode of every release: response codes that state the cause of an MQClientException."""


class ErrorFamily(StrEnum):
    """Kinds of exceptions that the send loop distinguishes; FOREIGN: any runtime exception, passed through unchanged."""

    REMOTING = "remoting"
    CLIENT = "client"
    BROKER = "broker"
    INTERRUPTED = "interrupted"
    FOREIGN = "foreign"


_FAMILIES = {
    "RemotingException": ErrorFamily.REMOTING,
    "RemotingConnectException": ErrorFamily.REMOTING,
    "RemotingTimeoutException": ErrorFamily.REMOTING,
    "RemotingSendRequestException": ErrorFamily.REMOTING,
    "RemotingTooMuchRequestException": ErrorFamily.REMOTING,
    "RemotingCommandException": ErrorFamily.REMOTING,
    "MQClientException": ErrorFamily.CLIENT,
    "MQBrokerException": ErrorFamily.BROKER,
    "InterruptedException": ErrorFamily.INTERRUPTED,
}


def family_of(error: str) -> ErrorFamily:
    """Return the family of an exception, given the simple name of its class."""
    return _FAMILIES.get(error, ErrorFamily.FOREIGN)


# Tuples, because every send makes several and tuples are the fastest to create.


class AttemptResult(NamedTuple):
    """
    End of one attempt: a send status, or the simple class name of the exception.

    code: response code of the broker (MQBrokerException) or of the exception, if it has one.
    """

    status: str | None = None
    error: str | None = None
    code: int | None = None

    @classmethod
    def ok(cls, status: str = SEND_OK) -> "AttemptResult":
        return cls(status=status)

    @classmethod
    def failed(cls, error: str, code: int | None = None) -> "AttemptResult":
        return cls(error=error, code=code)


class Try(NamedTuple):
    """Send to this queue, as selected, and wait at most timeout_ms for the answer."""

    queue: Queue
    timeout_ms: int


class Ending(StrEnum):
    """How the application's call ends."""

    RESULT = "result"
    RETHROWN = "rethrown"
    GAVE_UP = "gave-up"
    CALL_TIMEOUT = "call-timeout"
    NO_ROUTE = "no-route"


class Finish(NamedTuple):
    """
    The call is over.

    attempt: the attempt, from 0, whose result is returned (RESULT) or whose exception is thrown unchanged (RETHROWN) or
    wrapped (GAVE_UP). error, cause: simple class names that the application sees. code: response code of the error, None
    where Java leaves it at −1.
    """

    ending: Ending
    attempt: int | None = None
    status: str | None = None
    error: str | None = None
    code: int | None = None
    cause: str | None = None


Step = Try | Finish


def gave_up(attempt: int | None, last: AttemptResult | None) -> Finish:
    """
    End in MQClientException after the last attempt failed; its code depends on the last exception.

    The broker's own code, 10001 connect, 10002 timeout, 10003 client; other remoting exceptions leave it unset.
    """
    error = None if last is None else last.error
    codes = {
        "RemotingConnectException": CONNECT_BROKER,
        "RemotingTimeoutException": ACCESS_BROKER_TIMEOUT,
        "MQClientException": BROKER_NOT_EXIST,
        "MQBrokerException": None if last is None else last.code,
    }
    code = codes.get(error) if error is not None else None
    return Finish(Ending.GAVE_UP, attempt, error="MQClientException", code=code, cause=error)


def call_timeout() -> Finish:
    """End because the shared budget was spent before the next attempt began (from 4.3.0)."""
    return Finish(Ending.CALL_TIMEOUT, error="RemotingTooMuchRequestException")
