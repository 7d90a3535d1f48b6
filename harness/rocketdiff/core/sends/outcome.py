"""
Outcome of a send or an attempt, and its normalised reason.

A request without a response is ``unknown``, never ``failed``: a paused broker stores it after it is resumed.
"""

import re
from collections.abc import Sequence
from enum import StrEnum


class Outcome(StrEnum):
    """What is known about the message afterwards."""

    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"


class Reason(StrEnum):
    """Cause of an outcome, the same words for every client."""

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
"""Exception class (simple name) or error word to cause; others are OTHER."""


class ErrorWord(StrEnum):
    """Errors that a client in any language can report instead of RocketMQ's exception classes."""

    TIMEOUT = "timeout"
    REFUSED = "refused"
    CONNECTION_LOST = "connection-lost"
    BROKER_CODE = "broker-code"
    CLIENT_REFUSED = "client-refused"
    NO_ROUTE = "no-route"
    NO_NAME_SERVER = "no-name-server"
    OTHER = "other"


_CLIENT_ERROR = "MQClientException"

_CLASSES_OF_WORD: dict[str, tuple[str, ...]] = {
    ErrorWord.TIMEOUT: ("RemotingTimeoutException", "RemotingTooMuchRequestException"),
    ErrorWord.REFUSED: ("RemotingConnectException",),
    ErrorWord.CONNECTION_LOST: ("RemotingSendRequestException",),
    ErrorWord.BROKER_CODE: ("MQBrokerException",),
    ErrorWord.CLIENT_REFUSED: (_CLIENT_ERROR,),
}
"""An attempt is stored under the first class."""

_WORD_OF_CLASS = {name: ErrorWord(word) for word, names in _CLASSES_OF_WORD.items() for name in names} | {
    "IllegalStateException": ErrorWord.NO_NAME_SERVER
}

_WORDS = frozenset(ErrorWord)

_WORD_OF_CLIENT_CODE = {
    10001: ErrorWord.REFUSED,
    10002: ErrorWord.TIMEOUT,
    10003: ErrorWord.CLIENT_REFUSED,
    10004: ErrorWord.NO_NAME_SERVER,
    10005: ErrorWord.NO_ROUTE,
}

REASON_OF_ERROR |= {
    ErrorWord.TIMEOUT: Reason.TIMEOUT,
    ErrorWord.REFUSED: Reason.CONNECT,
    ErrorWord.CONNECTION_LOST: Reason.CONNECTION_LOST,
    ErrorWord.BROKER_CODE: Reason.BROKER,
    ErrorWord.CLIENT_REFUSED: Reason.CLIENT,
    ErrorWord.NO_ROUTE: Reason.NO_ROUTE,
    ErrorWord.NO_NAME_SERVER: Reason.NAME_SERVER,
}

# MQClientException carries the class of its last cause as a response code (DefaultMQProducerImpl of every release).
REASON_OF_CLIENT_CODE = {
    10001: Reason.CONNECT,
    10002: Reason.TIMEOUT,
    10003: Reason.CLIENT,
    10004: Reason.NAME_SERVER,
    10005: Reason.NO_ROUTE,
}

WORD_FORM = re.compile(r"[a-z]+(-[a-z]+)*")
"""Form of error words; no exception class has it."""

_PROXYS_FAULT = 50_000
"""Proxy codes (apache.rocketmq.v2.Code) have five digits, 4xxxx client and 5xxxx server errors; broker codes at most three."""

REFUSING = frozenset(
    {
        *("RuntimeException", "IllegalArgumentException", "UnsupportedOperationException", "BufferOverflowException"),
        *("NullPointerException", "ValueError", "TypeError"),
    }
)
"""Exceptions of the language, by which clients refuse a message: no request was made."""

REASON_OF_ERROR |= dict.fromkeys(REFUSING, Reason.CLIENT)

_NOTHING_WAS_WRITTEN = {Reason.CONNECT, Reason.NO_ROUTE, Reason.NAME_SERVER}


def reason_of(error: str | None, code: int | None = None, status: str | None = None) -> Reason:
    """
    Return the cause for an exception's simple class name, response code and send status.

    Without error: NOT_STORE_OK for a status other than SEND_OK, else NONE.
    """
    if error is None:
        return Reason.NOT_STORE_OK if is_stored_with_reserve(status) else Reason.NONE
    if error == "MQClientException" and code in REASON_OF_CLIENT_CODE:
        return REASON_OF_CLIENT_CODE[code]
    reason = REASON_OF_ERROR.get(error, Reason.OTHER)
    # A server error of a proxy leaves open whether the message was stored.
    is_proxys_fault = reason is Reason.BROKER and code is not None and code >= _PROXYS_FAULT
    return Reason.OTHER if is_proxys_fault else reason


def is_refusal(error: str | None, code: int | None = None, cause: str | None = None) -> bool:
    """True for the end of a send without attempts by which a client refuses the message itself (its topic, body, properties)."""
    if error != _CLIENT_ERROR:
        return error in REFUSING or error == ErrorWord.CLIENT_REFUSED
    return code not in _WORD_OF_CLIENT_CODE and word_of(error, code, cause) in (
        ErrorWord.CLIENT_REFUSED,
        ErrorWord.OTHER,
    )


def is_error_word(error: str | None) -> bool:
    """True if an error is one of the error words, not a class name."""
    return error in _WORDS


def is_unknown_word(error: str) -> bool:
    """True if an error has the form of a word but is none of the error words."""
    return WORD_FORM.fullmatch(error) is not None and not is_error_word(error)


def class_of(error: str) -> str:
    """Return RocketMQ's class for an error word; anything else unchanged."""
    return _CLASSES_OF_WORD.get(error, (error,))[0]


def may_be(error: str | None, *classes: str) -> bool:
    """True if an error is one of these classes, or a word for one of them."""
    return error in classes or any(name in classes for name in _CLASSES_OF_WORD.get(error or "", ()))


def word_of(error: str, code: int | None = None, cause: str | None = None) -> ErrorWord:
    """
    Return the error word for a RocketMQ exception.

    A call that gave up reports its last attempt's failure in the code, or else in the cause.
    """
    if error != _CLIENT_ERROR:
        return _WORD_OF_CLASS.get(error, ErrorWord.OTHER)
    return _WORD_OF_CLIENT_CODE.get(code or 0) or _WORD_OF_CLASS.get(cause or "", ErrorWord.CLIENT_REFUSED)


def is_stored_with_reserve(status: str | None) -> bool:
    """True if a broker stored a message without everything it promises (FLUSH_SLAVE_TIMEOUT)."""
    return status not in (None, "SEND_OK")


def outcome_of_attempt(error: str | None, code: int | None = None) -> Outcome:
    """
    Return what is known after one attempt.

    A response, even an error, is certain, and so is a connection never made, or a message refused by the client. After a timeout or a lost connection the
    message may be stored.
    """
    if error is None:
        return Outcome.OK
    reason = reason_of(error, code)
    if reason is Reason.BROKER or reason in _NOTHING_WAS_WRITTEN or error in REFUSING:
        return Outcome.FAILED
    return Outcome.UNKNOWN


def outcome_of_send(
    error: str | None, code: int | None, attempts: Sequence[Outcome], *, is_acknowledged: bool = True
) -> Outcome:
    """
    Return what is known about a message after its send returned.

    A failed send is certainly not stored only if each attempt is FAILED: the exception names the last cause, and an
        earlier attempt may have timed out. Without witnessed attempts the exception decides. The return of a one-way
        call proves nothing.
    """
    if error is None:
        return Outcome.OK if is_acknowledged else Outcome.UNKNOWN
    if not attempts:
        return outcome_of_attempt(error, code)
    return Outcome.FAILED if all(attempt is Outcome.FAILED for attempt in attempts) else Outcome.UNKNOWN
