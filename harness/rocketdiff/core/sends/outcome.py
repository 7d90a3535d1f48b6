"""
How a send or an attempt ended, as three values, and why, as a closed set of causes.

A request that got no answer is ``unknown``, never ``failed``: a paused broker stores it after it is resumed.
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
"""RocketMQ's exception class (simple name) to cause, and below a neutral word to cause; other classes are OTHER."""


class ErrorWord(StrEnum):
    """Words for errors that a client of any language can report; a program may report RocketMQ's exception classes instead."""

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
"""RocketMQ's classes that a word stands for; the first is the one that an attempt is kept under."""

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
"""How error words are written, and no exception class."""

_PROXYS_FAULT = 50_000
"""Codes of a proxy have five digits, those of brokers three at most (apache.rocketmq.v2.Code): 4xxxx blames the client, 5xxxx the servers."""

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
    reason = REASON_OF_ERROR.get(error, Reason.OTHER)
    # A proxy's code that blames itself or the broker behind it: it cannot say what became of the message.
    is_proxys_fault = reason is Reason.BROKER and code is not None and code >= _PROXYS_FAULT
    return Reason.OTHER if is_proxys_fault else reason


def is_error_word(error: str | None) -> bool:
    """Whether an error is one of the neutral words, not a class name."""
    return error in _WORDS


def is_unknown_word(error: str) -> bool:
    """Whether an error is written like a word, in small letters with hyphens, and is none of them."""
    return WORD_FORM.fullmatch(error) is not None and not is_error_word(error)


def class_of(error: str) -> str:
    """RocketMQ's class that stands for an error word; any other error, and a word without a class, as it is."""
    return _CLASSES_OF_WORD.get(error, (error,))[0]


def may_be(error: str | None, *classes: str) -> bool:
    """Whether an error is one of RocketMQ's classes, or a word that stands for one of them."""
    return error in classes or any(name in classes for name in _CLASSES_OF_WORD.get(error or "", ()))


def word_of(error: str, code: int | None = None, cause: str | None = None) -> ErrorWord:
    """
    The word for an exception of RocketMQ's, of which a client of another language makes no class of its own.

    A call that gave up says the kind of its last attempt's failure, in the code or else in the cause.
    """
    if error != _CLIENT_ERROR:
        return _WORD_OF_CLASS.get(error, ErrorWord.OTHER)
    return _WORD_OF_CLIENT_CODE.get(code or 0) or _WORD_OF_CLASS.get(cause or "", ErrorWord.CLIENT_REFUSED)


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
