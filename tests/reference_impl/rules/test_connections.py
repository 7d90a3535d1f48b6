"""Connections of a client: who waits, and what a close fails."""

import pytest

from rocketmq_reference.rules.client.connection_steps import Close, Connect, Ended, GoOn, Kind, Place, Wait, Write
from tests.reference_impl.rules.connecting import EXPIRED, LOST, REFUSED, client, ends, kinds, redirected, written


@pytest.mark.parametrize(
    ("release", "kind", "waits"),
    [
        ("5.2.0", Kind.ASYNC, True),
        ("5.3.0", Kind.ASYNC, False),
        ("5.3.0", Kind.ONE_WAY, False),
        ("5.3.0", Kind.SYNC, True),
    ],
)
def test_who_waits_for_a_connection(release: str, kind: Kind, waits: bool) -> None:
    """Every request waits for its connect to 5.2.0; from 5.3.0 only synchronous ones do."""
    made = client(release)
    request, steps = made.invoke(kind, "a", 3_000, 0)
    assert kinds(steps) == [Connect, Wait] if waits else [Connect]
    assert made.connected(request.connection) == (GoOn(request, waking=waits),)
    assert made.go_on(request, 0) == (Write(request, 3_000),)


def test_an_open_connection_is_used_again() -> None:
    """An open connection is reused at once, or (from 5.3.0, unless synchronous) through the event loop."""
    for release, later in (("5.2.0", False), ("5.3.0", True)):
        made = client(release)
        written(made, Kind.SYNC)
        request, steps = made.invoke(Kind.ASYNC, "a", 3_000, 5)
        assert steps == ((GoOn(request, waking=False),) if later else (Write(request, 3_000),))
        assert made.open_to("a") == 1


def test_requests_for_one_connection_share_it_in_the_order_they_came() -> None:
    """Requests to one address share a connect and continue in order of arrival."""
    made = client("4.9.8")
    first, _ = made.invoke(Kind.SYNC, "a", 3_000, 0)
    second, steps = made.invoke(Kind.ASYNC, "a", 3_000, 0)
    assert kinds(steps) == [Wait] and second.connection is first.connection
    assert made.connected(first.connection) == (GoOn(first, waking=True), GoOn(second, waking=True))


@pytest.mark.parametrize(
    ("release", "kind", "place"),
    [
        ("5.2.0", Kind.SYNC, Place.CALLER),
        ("5.2.0", Kind.ASYNC, Place.CALLER),
        ("5.2.0", Kind.ONE_WAY, Place.CALLER),
        ("5.3.0", Kind.SYNC, Place.CALLER),
        ("5.3.0", Kind.ASYNC, Place.HERE),
        ("5.3.0", Kind.ONE_WAY, Place.HERE),
    ],
)
def test_a_refused_connection(release: str, kind: Kind, place: Place) -> None:
    """A refused connect is thrown or reported in the event loop; the next request connects again."""
    made = client(release)
    request, _ = made.invoke(kind, "a", 3_000, 0)
    made.connect_failed(request.connection)
    assert made.go_on(request, 0) == (Ended(request, REFUSED, place, direct=True),)
    assert isinstance(made.invoke(kind, "a", 3_000, 1)[1][0], Connect)


@pytest.mark.parametrize(
    ("release", "sync", "asynchronous"),
    [
        ("4.0.0-incubating", Place.WAKE, Place.CALLBACKS),
        ("5.1.4", Place.WAKE, Place.CALLBACKS),
        ("5.2.0", Place.CALLBACKS, Place.CALLBACKS),
    ],
)
def test_where_an_answer_is_told(release: str, sync: Place, asynchronous: Place) -> None:
    """From 5.2.0 answers of synchronous requests pass through the callback pool too."""
    made = client(release)
    one, other = written(made, Kind.SYNC), written(made, Kind.ASYNC)
    assert made.answered(one.number) == (Ended(one, None, sync),)
    assert made.answered(other.number) == (Ended(other, None, asynchronous),)
    assert made.answered(other.number) == ()


def test_time_that_connecting_took() -> None:
    """From 4.3.0 connecting counts against the timeout, except for one-way requests."""
    for release, kind, left in (
        ("4.2.0", Kind.ASYNC, 3_000),
        ("4.3.0", Kind.ASYNC, 0),
        ("5.1.3", Kind.SYNC, 0),
        ("5.5.0", Kind.ONE_WAY, 3_000),
    ):
        made = client(release)
        request, _ = made.invoke(kind, "a", 3_000, 0)
        made.connected(request.connection)
        assert made.go_on(request, 3_000) == (Write(request, left),)


@pytest.mark.parametrize(
    ("release", "ended"),
    [
        ("4.3.0", [("RemotingTooMuchRequestException", Place.CALLER, True)]),
        ("5.2.0", [("RemotingTooMuchRequestException", Place.CALLER, True)]),
        ("5.3.0", [("RemotingTooMuchRequestException", Place.HERE, True), (EXPIRED, Place.HERE, False)]),
    ],
)
def test_an_asynchronous_request_without_time_left(release: str, ended: list[tuple[str, Place, bool]]) -> None:
    """Without time left an asynchronous request throws; from 5.3.0 it fails, is sent and fails again."""
    made = client(release)
    written(made, Kind.SYNC)
    request, steps = made.invoke(Kind.ASYNC, "a", -1_000, 0)
    if isinstance(steps[0], GoOn):
        steps = made.go_on(request, 0)
    assert [(step.error, step.place, step.direct) for step in steps if isinstance(step, Ended)] == ended


def test_a_synchronous_request_without_time_left() -> None:
    """Without time left a synchronous request fails unwritten; from 5.1.4 it does not close the connection."""
    for release, closes in (("4.9.1", True), ("5.1.4", False)):
        made = client(release)
        request, _ = made.invoke(Kind.SYNC, "a", 3_000, 0)
        made.connected(request.connection)
        steps = made.go_on(request, 3_001)
        assert ends(steps) == [(0, EXPIRED, Place.CALLER)] and (Close in kinds(steps)) is closes


def test_a_timeout_to_4_9_0_costs_nothing_else() -> None:
    """To 4.9.0 a timeout affects neither the connection nor other requests."""
    made = client("4.9.0")
    one, other = written(made, Kind.SYNC), written(made, Kind.SYNC, 100)
    assert made.wait_expired(one) == (Ended(one, EXPIRED, Place.CALLER),)
    assert made.answered(other.number) == (Ended(other, None, Place.WAKE),)
    assert made.answered(one.number) == ()


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


def test_an_answer_on_its_way_through_the_callback_pool_comes_too_late() -> None:
    """From 5.2.0 a request can time out after its answer arrived, before the pool's job runs."""
    made = client("5.2.0")
    one = written(made, Kind.SYNC)
    assert made.answered(one.number) == (Ended(one, None, Place.CALLBACKS),)
    assert ends(made.wait_expired(one)) == [(one.number, EXPIRED, Place.CALLER)]


@pytest.mark.parametrize(("release", "later"), [("4.6.1", []), ("4.7.0", [1])])
def test_a_retry_and_the_next_request_may_have_one_number(release: str, later: list[int]) -> None:
    """To 4.6.1 the next request replaces a retry with its number and gets its answer; the retry never ends."""
    made = client(release)
    written(made, Kind.SYNC)
    retry, _ = made.invoke(Kind.ASYNC, "a", 0, 0, is_retry=True)
    heartbeat = written(made, Kind.SYNC)
    assert (retry.number == heartbeat.number) == (not later)
    assert [step.request.number for step in made.scan(1_000) if isinstance(step, Ended)] == later
    assert made.addressee(retry.number) is (None if later else heartbeat)


def test_an_answer_takes_the_number_that_would_be_given_twice() -> None:
    """An answer takes a number too, so one between a retry and the next request takes the shared number."""
    made = client("4.6.1")
    asked = written(made, Kind.SYNC)
    retry, _ = made.invoke(Kind.ASYNC, "a", 0, 0, is_retry=True)
    made.answered(asked.number)
    assert written(made, Kind.SYNC).number > retry.number


def test_the_cause_of_a_lost_synchronous_request() -> None:
    """From 5.2.0 a lost synchronous request's exception wraps that of its future."""
    for release, cause in (("5.1.4", None), ("5.2.0", LOST)):
        made = client(release)
        one = written(made, Kind.SYNC)
        told = [step for step in made.peer_closed(one.connection, reset=True) if isinstance(step, Ended)]
        assert [step.cause for step in told] == [cause]


@pytest.mark.parametrize(
    ("release", "fin", "reset"), [("4.2.0", 0, 0), ("4.3.0", 0, 2), ("5.1.2", 0, 2), ("5.1.3", 2, 2)]
)
def test_what_the_other_side_ends(release: str, fin: int, reset: int) -> None:
    """A reset fails pending requests from 4.3.0, an orderly close from 5.1.3."""
    for was_reset, told in ((False, fin), (True, reset)):
        made = client(release)
        one, _ = written(made, Kind.SYNC), written(made, Kind.ASYNC)
        assert len(ends(made.peer_closed(one.connection, reset=was_reset))) == told
        assert made.open_to("a") == 0
        assert isinstance(made.invoke(Kind.SYNC, "a", 3_000, 5)[1][0], Connect)


def test_a_timeout_on_a_dead_connection_fails_nothing_else() -> None:
    """From 4.9.1 to 5.1.2 a timeout after a peer's close fails nothing else, because Netty's handlers are gone."""
    made = client("5.1.2")
    one, other = written(made, Kind.SYNC), written(made, Kind.ASYNC)
    made.peer_closed(one.connection, reset=False)
    newer = written(made, Kind.SYNC, 10)
    assert ends(made.wait_expired(one)) == [(one.number, EXPIRED, Place.CALLER)]
    assert ends(made.answered(newer.number)) == [(newer.number, None, Place.WAKE)]
    assert ends(made.scan(4_000)) == [(other.number, EXPIRED, Place.CALLBACKS)]


def test_a_scan_ends_what_was_due_a_second_ago() -> None:
    """A scan ends asynchronous requests one second after their timeout, each once."""
    made = client("5.3.3")
    one, other = written(made, Kind.ASYNC), written(made, Kind.ASYNC, 200)
    assert made.scan(3_999) == ()
    assert ends(made.scan(4_000)) == [(one.number, EXPIRED, Place.CALLBACKS)]
    assert ends(made.scan(5_000)) == [(other.number, EXPIRED, Place.CALLBACKS)]
    assert made.answered(one.number) == () and made.scan(9_000) == ()


def test_from_5_2_0_a_request_nobody_waits_for_is_still_pending() -> None:
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


def test_an_answer_nobody_waits_for_is_a_job_all_the_same() -> None:
    """From 5.2.0 a late answer is a job of the callback pool; before, its request is gone."""
    for release, ended in (("5.1.4", []), ("5.2.0", [(0, None, Place.CALLBACKS)])):
        made = client(release)
        one = written(made, Kind.SYNC, timeout=100)
        written(made, Kind.SYNC)
        one.left_ms = 0  # so that its timeout does not close the connection
        made.wait_expired(one)
        assert ends(made.answered(one.number)) == ended


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


def test_the_connection_of_an_address() -> None:
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
