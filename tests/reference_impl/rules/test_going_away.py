"""Effects of GO_AWAY on a connection and its requests."""

import pytest

from rocketmq_reference.rules.client.connection_steps import (
    Connect,
    Ended,
    Kind,
    Place,
    Write,
)
from rocketmq_reference.rules.client.connections import GO_AWAY
from tests.reference_impl.rules.connecting import EXPIRED, REFUSED, client, ends, kinds, redirected, written


@pytest.mark.parametrize("release", ["5.2.0", "5.3.0", "5.3.1", "5.3.2"])
def test_from_5_2_0_going_away_writes_the_request_again(release: str) -> None:
    """From 5.2.0 GO_AWAY repeats the request on a new connection with the time left; the peer closes the old one."""
    made = client(release)
    request = written(made, Kind.ASYNC)
    number = request.number
    assert redirected(made, request, 200) == (Write(request, 2_800),)
    assert request.number > number
    assert made.open_to("a") == 2
    assert ends(made.answered(request.number)) == [(request.number, None, Place.CALLBACKS)]
    assert made.peer_closed(request.made_on, reset=False) == () and made.open_to("a") == 1


@pytest.mark.parametrize(("release", "again"), [("5.2.0", False), ("5.3.0", False), ("5.3.1", True), ("5.3.2", True)])
def test_a_client_reconnects_once_a_minute_up_to_5_3_0(release: str, again: bool) -> None:
    """To 5.3.0 a client reconnects at most once in 60 s."""
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
def test_a_refused_reconnect_returns_go_away_in_5_2_0(release: str, error: str | None) -> None:
    """If the reconnect is refused, 5.2.0 returns the GO_AWAY answer; later the request fails."""
    made = client(release)
    request = written(made, Kind.ASYNC)
    made.answered(request.number, GO_AWAY)
    made.redirect(request, 5)
    made.connect_failed(request.connection)
    assert made.go_on(request, 5) == (Ended(request, error, Place.HERE),)


@pytest.mark.parametrize(("now", "left"), [(2_900, 300), (3_200, 0)])
def test_the_time_left_counts_from_the_first_writing(now: int, left: int) -> None:
    """The 3 s count from the first write at 200 ms; a request with 0 ms left is still written."""
    made = client("5.3.3")
    request = written(made, Kind.ASYNC, 200)
    assert redirected(made, request, now) == (Write(request, left),)


def test_a_millisecond_later_it_is_too_late_to_write_again() -> None:
    """A request without time left for the second write times out in the current thread."""
    made = client("5.3.3")
    request = written(made, Kind.ASYNC, 200)
    assert redirected(made, request, 3_201) == (Ended(request, EXPIRED, Place.HERE),)


def test_a_minute_counts_from_the_last_reconnection() -> None:
    """In 5.2.0 the minute counts from the last reconnect (here at noon)."""
    made = client("5.2.0")
    redirected(made, written(made, Kind.ASYNC, 43_200_000), 43_200_000)
    request = written(made, Kind.ASYNC, 43_230_000)
    made.answered(request.number, GO_AWAY)
    assert made.redirect(request, 43_230_000) == (Ended(request, None, Place.HERE),)
