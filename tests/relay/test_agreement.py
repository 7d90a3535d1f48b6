"""Two witnesses of one send, literal attempts in, sentences out."""

from dataclasses import replace

import pytest

from harness.core.records import UNSEEN_END, AttemptEnded
from harness.relay.agreement import disagreements
from harness.relay.blind_spots import BlindSpot, losses_of
from harness.relay.wire import Closed, Opened, Shut

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
    assert disagreements(told, [attempt("a", 1, LOST, at=1), attempt("b", at=1)], {}) == []


def test_an_answer_may_cross_with_a_client_that_gives_up() -> None:
    """It was at the relay 2 ms before; 200 ms before, or for an attempt that hardly waited, it is another story."""
    told = attempt("a", 1, TIMEOUT)
    answered = attempt("a", 1)
    assert disagreements([told], [replace(answered, end_ns=told.end_ns - 2 * MS)], {}) == []
    assert disagreements([told], [replace(answered, end_ns=told.end_ns - 200 * MS)], {})
    assert disagreements([replace(told, end_ns=20 * MS)], [replace(answered, end_ns=19 * MS)], {})


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
    (sentence,) = disagreements(told, [attempt("a", 1, TIMEOUT, at=1), attempt("b", at=1)], {})
    assert sentence.startswith("send 0: told ")
    assert sentence.endswith("seen a queue 1 RemotingTimeoutException, b queue 0 SEND_OK")


@pytest.mark.parametrize("told", [attempt("a", error=UNSEEN_END), replace(attempt("a"), status=None)])
def test_what_went_into_a_lost_connection_is_told_alone(told: AttemptEnded) -> None:
    """An attempt of an asynchronous send, or a one-way call, within 50 ms of the loss of a connection to its broker."""
    told = replace(told, start_ns=200 * MS, end_ns=201 * MS)
    for closed_ms, agree in ((151, True), (251, True), (149, False), (252, False)):
        losses = losses_of([Closed(7, "a", closed_ms * MS, by="relay", reset=True)])
        assert (disagreements([told], [], losses) == []) is agree, closed_ms
    assert disagreements([told], [], losses_of([Closed(7, "b", 200 * MS, by="relay", reset=True)])), "another broker's"
    assert disagreements([told], [], losses_of([Closed(7, "a", 200 * MS, by="client")])), "its client closed it"


def test_a_refusing_broker_is_no_witness_of_an_asynchronous_attempt() -> None:
    """Its port was shut from 100 ms to 200 ms; an attempt with an end of its own speaks for itself."""
    losses = losses_of([Shut("a", 100 * MS), Opened("a", 200 * MS)])
    assert losses == {"a": [BlindSpot(100 * MS, 200 * MS)]}
    during = attempt("a", error=UNSEEN_END, at=160 * MS)
    assert disagreements([during], [], losses) == []
    assert disagreements([replace(during, error=TIMEOUT, end_ns=300 * MS)], [], losses)
    assert disagreements([replace(during, error=None, status="SEND_OK")], [], losses)
