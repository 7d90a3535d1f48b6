"""Error words and the RocketMQ exceptions behind them."""

import pytest

from rocketdiff.core.sends.outcome import (
    ErrorWord,
    Outcome,
    Reason,
    class_of,
    is_refusal,
    is_unknown_word,
    may_be,
    outcome_of_attempt,
    word_of,
)
from rocketdiff.core.sends.outcome import reason_of as reason


@pytest.mark.parametrize(
    ("error", "code", "cause", "word"),
    [
        ("RemotingTimeoutException", None, None, "timeout"),
        ("RemotingTooMuchRequestException", None, None, "timeout"),
        ("RemotingConnectException", None, None, "refused"),
        ("RemotingSendRequestException", None, None, "connection-lost"),
        ("MQBrokerException", 14, None, "broker-code"),
        ("IllegalStateException", None, None, "no-name-server"),
        ("MQClientException", 10001, "RemotingConnectException", "refused"),
        ("MQClientException", 10002, "RemotingTimeoutException", "timeout"),
        ("MQClientException", 10003, None, "client-refused"),
        ("MQClientException", 10005, None, "no-route"),
        ("MQClientException", 14, "MQBrokerException", "broker-code"),
        ("MQClientException", None, "RemotingSendRequestException", "connection-lost"),
        ("MQClientException", 13, None, "client-refused"),
        ("NullPointerException", None, None, "other"),
    ],
)
def test_each_exception_of_rocketmq_has_a_word(error: str, code: int | None, cause: str | None, word: str) -> None:
    """Each exception of RocketMQ has a word; a call that gave up has that of its last failure."""
    assert word_of(error, code, cause) == word


@pytest.mark.parametrize(
    ("error", "code", "cause", "refuses"),
    [
        ("RuntimeException", None, None, True),
        ("IllegalArgumentException", None, None, True),
        ("ValueError", None, None, True),
        ("client-refused", None, None, True),
        ("MQClientException", 13, None, True),
        ("MQClientException", None, "RuntimeException", True),
        ("MQClientException", None, "UnsupportedOperationException", True),
        ("MQClientException", None, "RemotingTimeoutException", False),
        ("MQClientException", 10003, None, False),
        ("MQClientException", 10005, None, False),
        ("IllegalStateException", None, None, False),
        ("RemotingTooMuchRequestException", None, None, False),
        ("NeverCalledBack", None, None, False),
        ("other", None, None, False),
        (None, None, None, False),
    ],
)
def test_which_ends_refuse_a_message(error: str | None, code: int | None, cause: str | None, refuses: bool) -> None:
    """A client refuses a message by an exception of its language, or by its own without a failure of a request behind it."""
    assert is_refusal(error, code, cause) == refuses


def test_a_message_refused_by_its_client_is_certainly_not_stored() -> None:
    """A refusal by an exception of the language is the client's own, and certain."""
    assert reason("RuntimeException") is Reason.CLIENT
    assert outcome_of_attempt("RuntimeException") is Outcome.FAILED


def test_words_have_the_reasons_and_outcomes_of_their_classes() -> None:
    """A word has the reason and outcome of its class: a timed-out message may be stored."""
    assert [reason(word) for word in ErrorWord] == [
        Reason.TIMEOUT,
        Reason.CONNECT,
        Reason.CONNECTION_LOST,
        Reason.BROKER,
        Reason.CLIENT,
        Reason.NO_ROUTE,
        Reason.NAME_SERVER,
        Reason.OTHER,
    ]
    assert outcome_of_attempt("timeout") is Outcome.UNKNOWN
    assert outcome_of_attempt("refused") is outcome_of_attempt("broker-code", 2) is Outcome.FAILED


def test_a_word_may_be_any_class_that_it_stands_for() -> None:
    """A word may be any class that it stands for, a class only itself."""
    assert may_be("timeout", "RemotingTooMuchRequestException")
    assert not may_be("timeout", "MQBrokerException")
    assert not may_be("RemotingTimeoutException", "RemotingTooMuchRequestException")
    assert not may_be(None, "MQBrokerException")


def test_only_what_is_written_like_a_word_is_taken_for_an_unknown_word() -> None:
    """Only text in the form of a word counts as an unknown word; class names of other languages do not."""
    assert is_unknown_word("time-out") and is_unknown_word("refuse")
    assert not any(map(is_unknown_word, ("timeout", "IOException", "errors.errorString", "")))
    assert class_of("refused") == "RemotingConnectException"
    assert class_of("no-route") == "no-route"
