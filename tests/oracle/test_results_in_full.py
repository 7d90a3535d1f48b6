"""Full differences of results that contradict their attempts or are incomplete."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.oracle.producer.difference import result_difference
from rocketdiff.oracle.producer.judgement import DifferenceKind, RuleDifference
from tests.oracle.histories import history
from tests.oracle.test_differences_in_full import told_of


@pytest.mark.parametrize(
    ("text", "place", "attempt", "last"),
    [("0 a0 1", "first", 0, ["a", 0]), ("0 a0 1 refused > b0 1", "retry", 1, ["b", 0])],
)
def test_a_result_that_names_another_queue(text: str, place: str, attempt: int, last: list[object]) -> None:
    """A result must name the queue of the last answered attempt."""
    for broker, queue in (("a", 3), ("b", 3), ("c", 0)):
        assert told_of({"broker": broker, "queue_id": queue}, text) == RuleDifference(
            DifferenceKind.QUEUE,
            f"queue.result-names-other-queue/{place}",
            attempt,
            f"a result from queue {last[1]} of {last[0]}, where the last answered attempt went",
            f"a result that names queue {queue} of {broker}",
            {"attempted": last, "returned": [broker, queue]},
        )


def test_a_result_that_names_no_broker_is_not_asked_for_its_queue() -> None:
    """A result without a broker is legal, because some clients report less."""
    assert told_of({"broker": None, "queue_id": None}) is None


def test_the_result_is_that_of_the_last_attempt_that_was_answered() -> None:
    """The result is that of the last answered attempt, here b0, though a refused one at a0 follows."""
    (send,) = history("0 a0 1 SLAVE_NOT_AVAILABLE > b0 1 SLAVE_NOT_AVAILABLE > a0 1 refused")
    kept = replace(send, error=None, cause=None, code=None, status="SLAVE_NOT_AVAILABLE", broker="b", queue_id=0)
    assert result_difference(kept) is None
    found = result_difference(replace(kept, broker="a"))
    assert found is not None
    assert (found.attempt, found.detail["attempted"]) == (1, ["b", 0])


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("0 a0 1 refused", {"error": None}),
        ("0 a0 1", {"error": "MQClientException"}),
        ("0", {}),
    ],
)
def test_a_result_that_came_from_no_attempt_names_none(text: str, change: dict[str, Any]) -> None:
    """Without an answer, or after an exception, no queue is compared: that is another difference."""
    (send,) = history(text)
    assert result_difference(replace(send, broker="a", queue_id=3, **change)) is None


def test_a_result_without_a_status() -> None:
    """A client that reports attempts must report a status."""
    assert told_of({"status": None}) == RuleDifference(
        DifferenceKind.ERROR,
        "error.result-incomplete",
        None,
        "a result with a status",
        "the call returned a result without a status",
        {"broker": "a", "queue": 0},
    )
