"""Two witnesses of one send: attempts in, sentences out."""

from dataclasses import replace

import pytest

from rocketdiff.core.records.sending import NEVER_CALLED_BACK, UNSEEN_END, Attempt, Send
from rocketdiff.relay.remoting.cross_check import disagreements, other_statuses, unreported_attempts
from rocketdiff.relay.remoting.exchanges import BlindSpot, losses_of
from rocketdiff.relay.remoting.record import Closed, Opened, Shut

MS = 1_000_000
TIMEOUT, LOST = "RemotingTimeoutException", "RemotingSendRequestException"


def attempt(broker: str, queue: int = 0, error: str | None = None, at: int = 0) -> Attempt:
    end = at + (300 * MS if error == TIMEOUT else 1 * MS)
    return Attempt(0, 0, 0, broker, queue, at, end, error, status=None if error else "SEND_OK")


@pytest.mark.parametrize(
    "reported",
    [
        [attempt("a", 1, TIMEOUT), attempt("b")],
        [attempt("b", 3, LOST), attempt("a", 1, TIMEOUT), attempt("b")],
        [attempt("a", 1, TIMEOUT), attempt("b"), attempt("b", 1, "RemotingTooMuchRequestException")],
        [attempt("a", 1, TIMEOUT), attempt("b"), replace(attempt("b", 1, TIMEOUT), end_ns=1)],
        [attempt("a", 1, TIMEOUT), attempt("b"), replace(attempt("b", 1, TIMEOUT), end_ns=11 * MS)],
    ],
)
def test_an_unsent_attempt_may_be_reported_beside_seen_ones(reported: list[Attempt]) -> None:
    """
    A reported attempt without a request may have lost its connection or had no time left.

    Errors may have other names, because the wire does not show their class.
    """
    assert disagreements(reported, [attempt("a", 1, LOST, at=1), attempt("b", at=1)], {}, 300 * MS) == []


def test_requests_without_time_may_overtake_each_other() -> None:
    """Requests without time left leave within 1 ms over two connections, in any order; others keep the client's order."""
    reported = [attempt("b", 0, TIMEOUT), attempt("a", 0, TIMEOUT, at=300 * MS), attempt("b", 2, TIMEOUT, at=301 * MS)]
    hasty = [reported[0], *(replace(one, end_ns=one.start_ns + 1) for one in reported[1:])]
    seen = [replace(one, start_ns=303 * MS, end_ns=304 * MS) for one in (reported[2], reported[1])]
    assert disagreements(hasty, [reported[0], *seen], {}, 300 * MS) == []
    assert disagreements(reported, [reported[0], *seen], {}, 300 * MS)
    assert disagreements(hasty, [reported[0], *seen, seen[0]], {}, 300 * MS)


def test_an_answer_may_cross_with_a_client_that_gives_up() -> None:
    """An answer may reach the relay 2 ms before the client gives up, but not 200 ms, nor after a short wait."""
    reported = attempt("a", 1, TIMEOUT)
    answered = attempt("a", 1)
    assert disagreements([reported], [replace(answered, end_ns=reported.end_ns - 2 * MS)], {}, 300 * MS) == []
    assert disagreements([reported], [replace(answered, end_ns=reported.end_ns - 200 * MS)], {}, 300 * MS)
    assert disagreements([replace(reported, end_ns=20 * MS)], [replace(answered, end_ns=19 * MS)], {}, 300 * MS)


@pytest.mark.parametrize(
    "reported",
    [
        [],
        [attempt("b")],
        [attempt("b"), attempt("a", 1, TIMEOUT)],
        [attempt("a", 2, TIMEOUT), attempt("b")],
        [attempt("a", 1), attempt("b")],
        [attempt("a", 1, TIMEOUT), attempt("b"), attempt("a", 0, TIMEOUT)],
        [attempt("a", 1, TIMEOUT, at=5), attempt("b")],
        [attempt("a", 1, TIMEOUT), attempt("b"), replace(attempt("a", 0, TIMEOUT), end_ns=50 * MS)],
    ],
)
def test_anything_else_is_a_disagreement(reported: list[Attempt]) -> None:
    """A hidden, reordered, misplaced, differently ended, invented or late attempt is a disagreement."""
    (sentence,) = disagreements(reported, [attempt("a", 1, TIMEOUT, at=1), attempt("b", at=1)], {}, 300 * MS)
    assert sentence.startswith("send 0: reported ")
    assert sentence.endswith("on the wire a queue 1 RemotingTimeoutException, b queue 0 SEND_OK")


SILENT = [attempt("a", error=UNSEEN_END), attempt("a", error=TIMEOUT), replace(attempt("a"), status=None)]
"""An asynchronous attempt, one that waits for an answer, and a one-way call."""


@pytest.mark.parametrize("reported", SILENT)
def test_a_request_on_a_lost_connection_is_only_reported(reported: Attempt) -> None:
    """A request may be missing within 250 ms of a lost connection to its broker, unless the client closed it."""
    reported = replace(reported, start_ns=1_000 * MS, end_ns=1_001 * MS + reported.end_ns)
    for closed_ms, agree in ((750, True), (1_250, True), (749, False), (1_251, False)):
        losses = losses_of([Closed(7, "a", closed_ms * MS, by="relay", reset=True)])
        assert (disagreements([reported], [], losses, 300 * MS) == []) is agree, closed_ms
    for lost in (Closed(7, "b", 1_000 * MS, by="relay", reset=True), Closed(7, "a", 1_000 * MS, by="client")):
        assert disagreements([reported], [], losses_of([lost]), 300 * MS)


def test_a_refusing_broker_is_no_witness_of_an_asynchronous_attempt() -> None:
    """While a broker's port is shut an asynchronous request may be missing, but not an answered one."""
    losses = losses_of([Shut("a", 1_000 * MS), Opened("a", 2_000 * MS)])
    assert losses == {"a": [BlindSpot(1_000 * MS, 2_000 * MS)]}
    during = attempt("a", error=UNSEEN_END, at=1_600 * MS)
    assert disagreements([during], [], losses, 300 * MS) == []
    assert disagreements([replace(during, error=None, status="SEND_OK")], [], losses, 300 * MS)


def test_a_retry_whose_time_was_up_is_not_written() -> None:
    """With a timeout of 300 ms a retry after 290 ms may have no request, after 289 ms it must have one."""
    first = attempt("a", error=UNSEEN_END)
    for began_ms, agree in ((290, True), (289, False)):
        reported = [first, attempt("b", error=UNSEEN_END, at=began_ms * MS)]
        assert (disagreements(reported, [attempt("a", error=LOST, at=1)], {}, 300 * MS) == []) is agree, began_ms


def test_an_unreported_end_may_be_any() -> None:
    """An unseen end matches any end on the wire, but only at the same queue."""
    reported = attempt("a", 1, UNSEEN_END)
    assert disagreements([reported], [attempt("a", 1, at=1)], {}, 300 * MS) == []
    assert disagreements([reported], [attempt("a", 2, at=1)], {}, 300 * MS)


RESERVED = replace(attempt("b", at=1), status="FLUSH_DISK_TIMEOUT", end_ns=1 * MS)


def test_a_status_is_taken_from_the_wire() -> None:
    """A status that differs from the wire's is returned with the wire's, among other attempts."""
    reported = [attempt("a", 1, TIMEOUT), attempt("b", 3, LOST), attempt("b")]
    assert other_statuses(reported, [attempt("a", 1, TIMEOUT, at=1), RESERVED]) == [
        replace(reported[2], status="FLUSH_DISK_TIMEOUT")
    ]


@pytest.mark.parametrize(
    ("reported", "seen"),
    [
        pytest.param(attempt("b"), attempt("b", at=1), id="the-same-status"),
        pytest.param(attempt("b", 1), RESERVED, id="another-queue"),
        pytest.param(attempt("b", at=5), RESERVED, id="begun-after-it-was-seen"),
        pytest.param(attempt("b"), replace(RESERVED, end_ns=2 * MS), id="answered-after-the-client-was-done"),
        pytest.param(attempt("b", 0, TIMEOUT), RESERVED, id="told-as-a-timeout"),
        pytest.param(attempt("b", 0, UNSEEN_END), RESERVED, id="its-end-is-not-told"),
        pytest.param(attempt("b"), attempt("b", 0, TIMEOUT, at=1), id="no-answer-was-seen"),
    ],
)
def test_nothing_else_is_another_status(reported: Attempt, seen: Attempt) -> None:
    """Any other mismatch is no other status: either witness may be wrong."""
    assert other_statuses([reported], [seen]) == []


CALL = Send(0, 0, 0, 1_000 * MS, status="SEND_OK")
"""A synchronous call of one second."""

RETRIED = [attempt("a", 1, TIMEOUT, at=1), attempt("b", 2, at=301 * MS)]
"""Its requests on the wire."""


def test_a_request_without_any_report_is_the_clients() -> None:
    """Unreported requests are returned, numbered after the reported attempts; of two to one queue the later."""
    for reported, hidden in (
        ([RETRIED[0]], [replace(RETRIED[1], attempt=1)]),
        ([RETRIED[1]], [replace(RETRIED[0], attempt=1)]),
        ([], [RETRIED[0], replace(RETRIED[1], attempt=1)]),
        (RETRIED, []),
    ):
        assert unreported_attempts(reported, RETRIED, [CALL]) == hidden
    again = replace(RETRIED[0], start_ns=400 * MS, end_ns=700 * MS)
    assert unreported_attempts([replace(RETRIED[0], attempt=4)], [RETRIED[0], again], [CALL]) == [
        replace(again, attempt=5)
    ]


@pytest.mark.parametrize(
    "reported",
    [
        pytest.param([attempt("a", 2, TIMEOUT)], id="another-queue"),
        pytest.param([attempt("b", 1, TIMEOUT)], id="another-broker"),
        pytest.param([attempt("a", 1, TIMEOUT), attempt("c", 0, LOST)], id="one-that-never-left"),
        pytest.param([attempt("a", 1), attempt("b", 2, TIMEOUT, at=900 * MS)], id="other-times-and-ends"),
    ],
)
def test_a_possibly_reported_request_is_left_to_the_guard(reported: list[Attempt]) -> None:
    """If a request may be reported wrongly none is returned: either witness may be wrong."""
    assert unreported_attempts(reported, RETRIED, [CALL]) == []


def test_only_requests_of_a_call_that_ended_are_certain() -> None:
    """Only requests before the end of a returned call are certain, without those in ``unsure``."""
    assert unreported_attempts([], RETRIED, []) == []
    assert unreported_attempts([], RETRIED, [CALL], unsure={0}) == []
    assert unreported_attempts([], RETRIED, [replace(CALL, end_ns=301 * MS - 1)]) == RETRIED[:1]
    assert unreported_attempts([], RETRIED, [replace(CALL, end_ns=301 * MS)]) == [
        RETRIED[0],
        replace(RETRIED[1], attempt=1),
    ]


def test_the_attempts_of_an_asynchronous_call_may_be_under_way_to_us() -> None:
    """Asynchronous attempts may be reported late: within 1 s of the last end, or without a callback, none is certain."""
    called = replace(CALL, returned_ns=1 * MS)
    for later_ms, certain in ((999, 0), (1_000, 2)):
        last = replace(CALL, send=1, end_ns=CALL.end_ns + later_ms * MS)
        assert len(unreported_attempts([], RETRIED, [called, last])) == certain, later_ms
        assert unreported_attempts([], RETRIED, [replace(called, error=NEVER_CALLED_BACK), last]) == []
