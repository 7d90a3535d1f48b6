"""Sentences of the oracle, word for word."""

import pytest

from rocketdiff.core.sends.plan import SendKind
from rocketdiff.oracle.choices import ChoiceExplorer
from rocketdiff.oracle.interval import Interval
from rocketdiff.oracle.producer.sentences import (
    duration_text,
    end_text,
    finish_text,
    legal_text,
    ms_text,
    reasons_text,
    remaining_ms,
)
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.attempt import Ending, Finish
from tests.oracle.histories import send_of
from tests.oracle.states import avoiding_state

QUEUES = [Queue(broker, queue) for broker in ("b", "a") for queue in range(4)]


def test_up_to_four_legal_queues_are_listed() -> None:
    """Up to four legal queues are listed; five are counted, with their brokers in order."""
    listed = "queue 0 of b, queue 1 of b, queue 2 of b, queue 3 of b (4 of 8 queues)"
    assert (legal_text(QUEUES[:4], 8), legal_text(QUEUES[:5], 8)) == (listed, "one of 5 of 8 queues, on a, b")


def test_a_duration_has_one_figure_or_two() -> None:
    """A duration has one figure or two, with thousands separators and never below zero."""
    assert (duration_text(1_500, 1_500), duration_text(1_500, 2_500)) == ("1,500 ms", "1,500–2,500 ms")
    assert (ms_text(-3), ms_text(7)) == ("0 ms", "7 ms")
    assert ms_text(Interval(-2, 5, ChoiceExplorer())) == "0–5 ms"
    assert repr(Interval(1_500, 1_500, ChoiceExplorer())) == "1,500"
    assert repr(Interval(1_500, 2_500, ChoiceExplorer())) == "1,500–2,500"


def test_reasons_are_who_is_avoided_and_who_has_just_failed() -> None:
    """Reasons are avoided brokers and the failed broker; a remaining time of up to 2 ms is rounding."""
    assert reasons_text(None, {}) == ""
    assert reasons_text(None, {"a": (0, 2)}) == ""
    assert reasons_text(None, {"a": (0, 3)}) == "; a is avoided for another 0–3 ms"
    both = "; a is avoided for another 9 ms and b is avoided for another 7 ms and b failed the previous attempt"
    assert reasons_text("b", {"b": (7, 7), "a": (9, 9)}) == both


def test_the_rest_of_an_avoidance_spans_all_states() -> None:
    """
    The remaining time of an avoidance spans all states.

    Until 150–160 in one and 155–170 in another, it is 49–70 ms at 100–101 and none at 170.
    """
    states = [avoiding_state((150, 160)), avoiding_state((155, 170))]
    assert remaining_ms(states, (100, 101)) == {"a": (49, 70)}
    assert remaining_ms(states[::-1], (100, 101)) == {"a": (49, 70)}
    assert remaining_ms(states, (160, 169)) == {"a": (0, 10)}
    assert remaining_ms(states, (169, 169)) == {"a": (0, 1)}
    assert remaining_ms(states, (170, 171)) == {}


@pytest.mark.parametrize(
    ("finish", "output"),
    [
        (
            Finish(Ending.RETHROWN, error="MQBrokerException", code=2),
            "the call throws the MQBrokerException of its attempt with code 2, because such an error is not retried",
        ),
        (Finish(Ending.GAVE_UP, error="MQClientException"), "the call gives up with MQClientException"),
    ],
)
def test_how_a_call_ends_by_the_rules(finish: Finish, output: str) -> None:
    """Ends that no full difference has: an exception that is not retried, and one without code and cause."""
    assert finish_text(finish) == output


def test_a_result_without_a_status_has_its_number_of_attempts() -> None:
    """A result without a status is called a result, after 0 attempts."""
    assert end_text(send_of(0, 0, SendKind.PLAIN, 0, 0, 1)) == "the call returned a result after 0 attempts"
