"""Connections of a client: who waits, and what a close fails."""

import pytest

from rocketmq_reference.rules.client.connection_steps import Close, Ended, Kind, Place
from tests.reference_impl.rules.connecting import EXPIRED, LOST, client, ends, kinds, redirected, written


@pytest.mark.parametrize(
    ("release", "sync"), [("4.9.1", Place.WAKE), ("5.1.4", Place.WAKE), ("5.2.0", Place.CALLBACKS)]
)
def test_from_4_9_1_a_timeout_fails_whatever_waits_on_the_connection(release: str, sync: Place) -> None:
    """
    From 4.9.1 a timeout first fails all other requests on its connection, oldest first.

    From 5.2.0 it fails its own request too, without effect.
    """
    made = client(release)
    one, asynchronous, other = written(made, Kind.SYNC), written(made, Kind.ASYNC), written(made, Kind.SYNC, 5)
    elsewhere = written(made, Kind.SYNC, address="b")
    steps = made.wait_expired(one)
    assert kinds(steps)[0] is Close
    assert ends(steps) == [
        *([(one.number, LOST, sync)] if release == "5.2.0" else []),
        (asynchronous.number, LOST, Place.CALLBACKS),
        (other.number, LOST, sync),
        (one.number, EXPIRED, Place.CALLER),
    ]
    assert (made.open_to("a"), made.open_to("b")) == (0, 1)
    assert ends(made.answered(elsewhere.number)) == [(elsewhere.number, None, sync)]


def test_an_answer_takes_the_number_that_would_be_given_twice() -> None:
    """An answer takes a number too, so one between a retry and the next request takes the shared number."""
    made = client("4.6.1")
    asked = written(made, Kind.SYNC)
    retry, _ = made.invoke(Kind.ASYNC, "a", 0, 0, is_retry=True)
    made.answered(asked.number)
    assert written(made, Kind.SYNC).number > retry.number


def test_from_5_2_0_a_timed_out_request_is_still_pending() -> None:
    """From 5.2.0 a timed-out synchronous request stays pending and ends without a report."""
    made = client("5.2.0")
    request = written(made, Kind.SYNC, timeout=50)
    made.wait_expired(request)
    assert made.scan(1_050) == () and made.answered(request.number) == ()


@pytest.mark.parametrize(("release", "open_ones"), [("5.3.3", [1, 1]), ("5.4.0", [1, 2])])
def test_a_connection_given_up_twice(release: str, open_ones: list[int]) -> None:
    """From 5.4.0 a second close of a connection evicts its successor, which stays open and unwatched."""
    made = client(release)
    one, other = written(made, Kind.SYNC), written(made, Kind.SYNC)
    made.wait_expired(one)
    made.taken_down(one.made_on)
    newer = written(made, Kind.SYNC)
    assert made.woken(other, failed=True) == ()
    seen = [made.open_to("a")]
    newest = written(made, Kind.ASYNC)
    assert [*seen, made.open_to("a")] == open_ones
    if newest.connection is not newer.connection:
        assert made.idle(newer.connection) == ()
        assert ends(made.peer_closed(newer.connection, reset=True)) == []
        assert [request for request, _, _ in ends(made.scan(4_000))] == [newer.number, newest.number]


def test_an_idle_connection_is_closed() -> None:
    """A connection without traffic for two minutes is closed and fails its requests."""
    made = client("4.3.0")
    request = written(made, Kind.ASYNC)
    assert kinds(made.idle(request.connection)) == [Close, Ended]
    assert made.idle(request.connection) == ()


def test_a_request_that_could_not_be_written_is_lost() -> None:
    """A request that cannot be written fails once."""
    made = client("4.2.0")
    one, other = written(made, Kind.SYNC), written(made, Kind.ASYNC)
    assert made.write_failed(one) == (Ended(one, LOST, Place.WAKE),)
    assert made.write_failed(one) == ()
    assert made.write_failed(other) == (Ended(other, LOST, Place.CALLBACKS),)


def test_shutting_down_closes_every_connection() -> None:
    """Shutdown closes every open connection and, from 4.3.0, fails its requests."""
    for release, ended in (("4.2.0", []), ("4.3.0", [(0, LOST, Place.WAKE), (1, LOST, Place.WAKE)])):
        made = client(release)
        one, other = written(made, Kind.SYNC), written(made, Kind.SYNC, address="b")
        made.invoke(Kind.SYNC, "c", 3_000, 0)
        steps = made.close_all()
        assert [step.connection for step in steps if isinstance(step, Close)] == [one.connection, other.connection]
        assert ends(steps) == ended
        assert made.close_all() == ()


def test_an_address_has_its_connection_until_it_is_forgotten() -> None:
    """An address has a connection from its first request until that connection is forgotten."""
    made = client("5.5.0")
    assert made.current("a") is None
    request, _ = made.invoke(Kind.SYNC, "a", 3_000, 0)
    assert made.current("a") is request.connection
    made.connected(request.connection)
    made.peer_closed(request.connection, reset=True)
    assert made.current("a") is None


def test_answers_that_no_thread_reads_for() -> None:
    """A connection is unattended while it awaits answers to asynchronous requests, or to requests moved by GO_AWAY."""
    made = client("5.3.3")
    one, other = written(made, Kind.SYNC), written(made, Kind.ASYNC, address="b")
    assert not made.has_unattended(one.connection)
    assert made.has_unattended(other.connection)
    made.answered(other.number)
    assert not made.has_unattended(other.connection)
    redirected(made, one, 0)
    assert made.has_unattended(one.connection)
