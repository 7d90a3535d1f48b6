"""Two witnesses of one send, literal attempts in, sentences out."""

from dataclasses import replace

import pytest

from harness.core.records import AttemptEnded
from harness.relay.agreement import disagreements

MS = 1_000_000
TIMEOUT, LOST = "RemotingTimeoutException", "RemotingSendRequestException"


def attempt(broker: str, queue: int = 0, error: str | None = None, at: int = 0) -> AttemptEnded:
    end = at + (300 * MS if error == TIMEOUT else 1 * MS)
    return AttemptEnded(0, 0, 0, broker, queue, at, end, error, status=None if error else "SEND_OK")


@pytest.mark.parametrize(
    "told",
    [
        [attempt("a", 1, TIMEOUT), attempt("b")],
        [attempt("b", 3, LOST), attempt("a", 1, TIMEOUT), attempt("b")],
        [attempt("a", 1, TIMEOUT), attempt("b"), attempt("b", 1, "RemotingTooMuchRequestException")],
        [attempt("a", 1, TIMEOUT), attempt("b"), replace(attempt("b", 1, TIMEOUT), end_ns=1)],
    ],
)
def test_what_never_left_may_be_told_beside_what_was_seen(told: list[AttemptEnded]) -> None:
    """A lost connection before, a spent budget after, or hardly any; errors may have other names, as the wire does not see their class."""
    assert disagreements(told, [attempt("a", 1, LOST, at=1), attempt("b", at=1)]) == []


def test_an_answer_may_cross_with_a_client_that_gives_up() -> None:
    """It was at the relay 2 ms before; 200 ms before, or for an attempt that hardly waited, it is another story."""
    told = attempt("a", 1, TIMEOUT)
    answered = attempt("a", 1)
    assert disagreements([told], [replace(answered, end_ns=told.end_ns - 2 * MS)]) == []
    assert disagreements([told], [replace(answered, end_ns=told.end_ns - 200 * MS)])
    assert disagreements([replace(told, end_ns=20 * MS)], [replace(answered, end_ns=19 * MS)])


@pytest.mark.parametrize(
    "told",
    [
        [],
        [attempt("b")],
        [attempt("b"), attempt("a", 1, TIMEOUT)],
        [attempt("a", 2, TIMEOUT), attempt("b")],
        [attempt("a", 1), attempt("b")],
        [attempt("a", 1, TIMEOUT), attempt("b"), attempt("a", 0, TIMEOUT)],
        [attempt("a", 1, TIMEOUT, at=5), attempt("b")],
    ],
)
def test_anything_else_is_a_disagreement(told: list[AttemptEnded]) -> None:
    """Hidden, in another order, misplaced, ended otherwise, invented, or begun after it was seen."""
    (sentence,) = disagreements(told, [attempt("a", 1, TIMEOUT, at=1), attempt("b", at=1)])
    assert sentence.startswith("send 0: told ")
    assert sentence.endswith("seen a queue 1 RemotingTimeoutException, b queue 0 SEND_OK")
