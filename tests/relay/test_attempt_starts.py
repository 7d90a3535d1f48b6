"""Starts that a client reports, joined with the ends on the wire."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from rocketdiff.core.records.sending import UNSEEN_END, Attempt, Send
from rocketdiff.relay.remoting.attempt_starts import Begun, with_ends
from rocketdiff.relay.remoting.exchanges import END_OF_TIME_NS, BlindSpot

MS = 1_000_000
TIMEOUT_NS = 500 * MS
TIMEOUT, REFUSED, LOST = "RemotingTimeoutException", "RemotingConnectException", "RemotingSendRequestException"
TOO_MUCH = "RemotingTooMuchRequestException"
OK = Send(0, 0, 0, 900 * MS, status="SEND_OK")
NEVER: Mapping[str, Sequence[BlindSpot]] = {}


def began(number: int, broker: str, at_ms: int, queue: int = 0) -> Attempt:
    return Attempt(0, 0, number, broker, queue, at_ms * MS, at_ms * MS, UNSEEN_END)


def seen(broker: str, at_ms: int, end_ms: int, error: str | None = None, queue: int = 0) -> Attempt:
    """An attempt on the wire, where numbers count requests only."""
    return Attempt(0, 0, 0, broker, queue, at_ms * MS, end_ms * MS, error, status=None if error else "SEND_OK")


def joined(
    begun: list[Attempt],
    requests: list[Attempt],
    send: Send = OK,
    refusals: Mapping[str, Sequence[BlindSpot]] = NEVER,
    losses: Mapping[str, Sequence[BlindSpot]] = NEVER,
) -> Begun:
    return with_ends(begun, requests, {0: send}, refusals, losses, TIMEOUT_NS)


def ends(found: Begun) -> list[tuple[int, str, int, int, str | None]]:
    """Return number, broker, start and end in ms, error or status."""
    return [
        (made.attempt, made.broker, made.start_ns // MS, made.end_ns // MS, made.error or made.status)
        for made in found.attempts
    ]


def test_a_beginning_is_the_clients_and_its_end_the_wires() -> None:
    """An attempt has the client's start, 1 ms before the request, and the wire's end."""
    found = joined([began(0, "a", 0), began(1, "b", 501)], [seen("a", 1, 500, TIMEOUT), seen("b", 502, 504)])
    assert ends(found) == [(0, "a", 0, 500, TIMEOUT), (1, "b", 501, 504, "SEND_OK")]
    assert found.against == ()


def test_a_refused_attempt_is_kept_though_the_wire_saw_nothing() -> None:
    """An attempt that a dead broker refused ends at the next start; a relay alone leaves it undecided."""
    dead = {"a": [BlindSpot(0, END_OF_TIME_NS)]}
    found = joined([began(0, "a", 10), began(1, "b", 12)], [seen("b", 13, 14)], refusals=dead, losses=dead)
    assert ends(found) == [(0, "a", 10, 12, REFUSED), (1, "b", 12, 14, "SEND_OK")]
    assert found.against == ()


def test_the_last_attempt_of_a_call_that_failed_ends_with_the_call() -> None:
    """The last refused attempt of a failed call ends with the call."""
    dead = {broker: [BlindSpot(0, END_OF_TIME_NS)] for broker in "ab"}
    failed = Send(0, 0, 9 * MS, 15 * MS, error="refused")
    found = joined([began(0, "a", 10), began(1, "b", 12)], [], failed, refusals=dead)
    assert ends(found) == [(0, "a", 10, 12, REFUSED), (1, "b", 12, 15, REFUSED)]


def test_a_request_written_to_a_connection_that_was_just_lost() -> None:
    """A connection lost 200 ms before explains a missing request; after 300 ms the client knows of the loss."""
    lost = {"a": [BlindSpot(100 * MS, 100 * MS)]}
    for at_ms, against in ((300, 0), (400, 1)):
        found = joined([began(0, "a", at_ms), began(1, "b", at_ms + 1)], [seen("b", at_ms + 2, 900)], losses=lost)
        assert ends(found)[0] == (0, "a", at_ms, at_ms + 1, LOST)
        assert len(found.against) == against


def test_an_attempt_for_which_no_time_was_left() -> None:
    """An attempt 495 ms after the call, of 500, may have no request."""
    late = Send(0, 0, 0, 496 * MS, error="timeout")
    found = joined([began(0, "a", 0), began(1, "b", 495)], [seen("a", 1, 494, TIMEOUT)], late)
    assert ends(found)[1] == (1, "b", 495, 496, TOO_MUCH)
    assert found.against == ()


def test_a_client_that_has_begun_another_attempt_has_stopped_waiting() -> None:
    """An attempt times out at the next start, even if an answer comes later."""
    found = joined([began(0, "a", 0), began(1, "b", 500)], [seen("a", 1, 700), seen("b", 501, 503)])
    assert ends(found) == [(0, "a", 0, 500, TIMEOUT), (1, "b", 500, 503, "SEND_OK")]


def test_an_invented_beginning_and_a_hidden_one_are_disagreements() -> None:
    """A start without a request, or a request without a start, is a disagreement; so is another queue."""
    invented = joined([began(0, "a", 0), began(1, "b", 1)], [seen("b", 2, 3)])
    assert invented.against == ("send 0: it began one at queue 0 of a, but no request for it was on the wire",)
    hidden = joined([began(0, "a", 0)], [seen("a", 1, 2), seen("b", 3, 4)])
    assert hidden.against == ("send 0: a request for queue 0 of b was on the wire, which it did not report as begun",)
    assert joined([], [seen("b", 3, 4)]).against == hidden.against
    misplaced = joined([began(0, "a", 0, queue=3)], [seen("a", 1, 2)])
    assert misplaced.against == ("send 0: it began one at queue 3 of a, but no request for it was on the wire",)


@pytest.mark.parametrize(("error", "ended"), [(None, None), ("refused", REFUSED)])
def test_a_returned_one_way_call_does_not_know_of_a_lost_request(error: str | None, ended: str | None) -> None:
    """A one-way call that returned did not notice its lost request; one that failed did."""
    one_way = replace(began(0, "a", 10), oneway=True)
    dead = {"a": [BlindSpot(0, END_OF_TIME_NS)]}
    (made,) = joined([one_way], [], Send(0, 0, 9 * MS, 11 * MS, error=error), refusals=dead).attempts
    assert (made.error, made.end_ns) == (ended, 11 * MS)


def test_of_a_client_that_died_the_two_need_not_agree() -> None:
    """If the client died, its last records or requests may be lost."""
    unheard = with_ends([], [seen("a", 1, 500, TIMEOUT)], {}, NEVER, NEVER, TIMEOUT_NS)
    assert ends(unheard) == [(0, "a", 1, 500, TIMEOUT)]
    retried = with_ends(
        [began(0, "a", 0)], [seen("a", 1, 500, TIMEOUT), seen("b", 502, 504)], {}, NEVER, NEVER, TIMEOUT_NS
    )
    assert ends(retried) == [(0, "a", 0, 500, TIMEOUT), (1, "b", 502, 504, "SEND_OK")]
    unsent = with_ends([began(0, "a", 0)], [], {}, NEVER, NEVER, TIMEOUT_NS)
    assert (unheard.against, retried.against, unsent.against) == ((), (), ())
