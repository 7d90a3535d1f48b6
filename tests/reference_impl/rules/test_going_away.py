"""What GO_AWAY does to a connection and its requests."""

import pytest

from rocketmq_reference.rules.client.connection_steps import (
    Connect,
    Ended,
    GoOn,
    Kind,
    Place,
    Redirect,
    Write,
)
from rocketmq_reference.rules.client.connections import GO_AWAY
from tests.reference_impl.rules.connecting import EXPIRED, LOST, REFUSED, client, ends, kinds, redirected, written


def test_going_away_is_an_answer_to_5_1_4() -> None:
    """Like any other."""
    made = client("5.1.4")
    request = written(made, Kind.SYNC)
    assert made.answered(request.number, GO_AWAY) == (Ended(request, None, Place.WAKE),)


@pytest.mark.parametrize("release", ["5.2.0", "5.3.0", "5.3.1", "5.3.2"])
def test_from_5_2_0_going_away_writes_the_request_again(release: str) -> None:
    """On a new connection, with the time that is left; the old one stays until the other side ends it."""
    made = client(release)
    request = written(made, Kind.ASYNC)
    number = request.number
    assert redirected(made, request, 200) == (Write(request, 2_800),)
    assert request.number > number
    assert made.open_to("a") == 2
    assert ends(made.answered(request.number)) == [(request.number, None, Place.CALLBACKS)]
    assert made.peer_closed(request.made_on, reset=False) == () and made.open_to("a") == 1


@pytest.mark.parametrize(("release", "error"), [("5.2.0", None), ("5.3.1", None), ("5.3.2", LOST)])
def test_going_away_twice(release: str, error: str | None) -> None:
    """Is handed up; from 5.3.2 it is a lost request."""
    made = client(release)
    request = written(made, Kind.ASYNC)
    redirected(made, request, 0)
    assert made.answered(request.number, GO_AWAY) == (Ended(request, error, Place.CALLBACKS),)


@pytest.mark.parametrize(("release", "again"), [("5.2.0", False), ("5.3.0", False), ("5.3.1", True), ("5.3.2", True)])
def test_going_away_again_within_a_minute(release: str, again: bool) -> None:
    """To 5.3.0 there is no second reconnection so soon."""
    made = client(release)
    redirected(made, written(made, Kind.ASYNC), 0)
    request = written(made, Kind.ASYNC, 60_000)
    made.answered(request.number, GO_AWAY)
    steps = made.redirect(request, 60_000)
    assert (Connect in kinds(steps)) is again
    if not again:
        assert steps == (Ended(request, None, Place.HERE),)
        later = written(made, Kind.ASYNC, 60_001)
        made.answered(later.number, GO_AWAY)
        assert Connect in kinds(made.redirect(later, 60_001))


@pytest.mark.parametrize(("release", "error"), [("5.2.0", None), ("5.3.0", REFUSED), ("5.3.2", REFUSED)])
def test_going_away_to_nowhere(release: str, error: str | None) -> None:
    """A refused reconnection: the answer is handed up in 5.2.0, then it is the failure."""
    made = client(release)
    request = written(made, Kind.ASYNC)
    made.answered(request.number, GO_AWAY)
    made.redirect(request, 5)
    made.connect_failed(request.connection)
    assert made.go_on(request, 5) == (Ended(request, error, Place.HERE),)


def test_a_failed_synchronous_request_closes_the_old_connection() -> None:
    """GO_AWAY twice from 5.3.2: the old connection goes, with who waits on it, and the new one stays."""
    made = client("5.3.2")
    other = written(made, Kind.ASYNC)
    request = written(made, Kind.SYNC)
    redirected(made, request, 0)
    assert ends(made.answered(request.number, GO_AWAY)) == [(request.number, LOST, Place.CALLBACKS)]
    assert ends(made.woken(request, failed=True)) == [(other.number, LOST, Place.CALLBACKS)]
    assert made.open_to("a") == 1


@pytest.mark.parametrize(("release", "again"), [("5.3.3", False), ("5.4.0", True)])
def test_going_away_from_a_connection_that_was_given_up(release: str, again: bool) -> None:
    """From 5.4.0 on it knows its place still, and is made anew, beside the one that has taken it."""
    made = client(release)
    one, other = written(made, Kind.SYNC), written(made, Kind.ASYNC)
    assert made.answered(other.number, GO_AWAY) == (Redirect(other),)
    made.wait_expired(one)
    newer = written(made, Kind.SYNC, 3_000)
    steps = made.redirect(other, 3_000)
    assert kinds(steps) == ([Connect] if again else [Ended])
    if again:
        assert made.connected(other.connection) == (GoOn(other, waking=False),)
        assert made.go_on(other, 3_000) == (Write(other, 0),)
        assert other.connection is not newer.connection and made.open_to("a") == 2


@pytest.mark.parametrize(("release", "handed_on"), [("5.3.1", False), ("5.3.2", True)])
def test_who_comes_second_finds_the_new_connection_made(release: str, handed_on: bool) -> None:
    """Written there by the thread that read the answer; from 5.3.2 in a step of its own."""
    made = client(release)
    one, other = written(made, Kind.ASYNC), written(made, Kind.ASYNC, 100)
    redirected(made, one, 200)
    assert made.answered(other.number, GO_AWAY) == (Redirect(other),)
    expected = GoOn(other, waking=False) if handed_on else Write(other, 2_800)
    assert made.redirect(other, 300) == (expected,)
    assert other.connection is one.connection


@pytest.mark.parametrize(("now", "left"), [(2_900, 300), (3_200, 0)])
def test_the_time_left_counts_from_the_first_writing(now: int, left: int) -> None:
    """Written at 200 with 3 s; a request that has waited all of them is still written, with no time."""
    made = client("5.3.3")
    request = written(made, Kind.ASYNC, 200)
    assert redirected(made, request, now) == (Write(request, left),)


def test_a_millisecond_later_it_is_too_late_to_write_again() -> None:
    """The request is over in the thread that would have written it."""
    made = client("5.3.3")
    request = written(made, Kind.ASYNC, 200)
    assert redirected(made, request, 3_201) == (Ended(request, EXPIRED, Place.HERE),)


def test_a_minute_counts_from_the_last_reconnection() -> None:
    """5.2.0, at noon and half a minute later."""
    made = client("5.2.0")
    redirected(made, written(made, Kind.ASYNC, 43_200_000), 43_200_000)
    request = written(made, Kind.ASYNC, 43_230_000)
    made.answered(request.number, GO_AWAY)
    assert made.redirect(request, 43_230_000) == (Ended(request, None, Place.HERE),)
