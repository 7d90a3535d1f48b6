"""Cases of connections and requests that no script reaches, found by surviving mutants; from 5.2.0 ends are noted."""

import pytest

from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.client.connection_steps import (
    Connect,
    Connection,
    Ended,
    GoOn,
    Kind,
    Noted,
    Place,
    Request,
    Wait,
    Write,
)
from rocketmq_reference.rules.client.connections import GO_AWAY
from rocketmq_reference.rules.client.pending_requests import PendingRequests
from tests.reference_impl.rules.connecting import EXPIRED, LOST, REFUSED, client, ends, kinds, redirected, written


def test_a_new_request_has_had_no_time() -> None:
    """A new request has 0 ms left until it is written."""
    connection = Connection("a")
    assert Request(0, Kind.SYNC, 3_000, 0, connection, connection).left_ms == 0


def test_a_request_that_only_connects_ends_at_once() -> None:
    """A request that only connects ends in its caller's thread, whether it connects or not, and takes no number."""
    for fails in (False, True):
        made = client("5.1.4")
        wish, steps = made.invoke(Kind.NOTHING, "a", 3_000, 0)
        assert kinds(steps)[0] is Connect
        (made.connect_failed if fails else made.connected)(wish.connection)
        assert made.go_on(wish, 0) == (Ended(wish, None, Place.CALLER),)
        assert wish.number == -1 and written(made, Kind.SYNC).number == 0


@pytest.mark.parametrize("release", ["4.2.0", "5.1.4", "5.2.0"])
def test_a_request_that_loses_its_patience_leaves_the_connect_to_others(release: str) -> None:
    """At the connect timeout a request ends alone; the next one waits for the same connect."""
    made = client(release)
    request, _ = made.invoke(Kind.SYNC, "a", 5_000, 0)
    assert made.go_on(request, 3_000) == (Ended(request, REFUSED, Place.CALLER, direct=True),)
    assert kinds(made.invoke(Kind.SYNC, "a", 5_000, 3_000)[1]) == [Wait]


def test_closing_a_replaced_connection_spares_its_successor() -> None:
    """In 5.3.2 closing a connection that GO_AWAY replaced spares the successor, which has its slot."""
    made = client("5.3.2")
    request = written(made, Kind.SYNC)
    redirected(made, request, 0)
    made.answered(request.number, GO_AWAY)
    made.woken(request, failed=True)
    later, steps = made.invoke(Kind.SYNC, "a", 3_000, 1)
    assert steps == (Write(later, 3_000),) and later.connection is request.connection


@pytest.mark.parametrize(("release", "error"), [("5.3.1", None), ("5.3.2", LOST), ("5.3.3", LOST), ("5.4.0", "again")])
def test_going_away_from_a_connection_that_was_replaced_and_given_up(release: str, error: str | None) -> None:
    """
    To 5.3.3 a replaced and closed connection has no slot that leads to the new one.

    So GO_AWAY is returned as the answer (5.3.1) or the request is lost.
    """
    made = client(release)
    late, other, first = (written(made, kind) for kind in (Kind.ASYNC, Kind.SYNC, Kind.ASYNC))
    made.answered(late.number, GO_AWAY)
    redirected(made, first, 0)
    made.wait_expired(other)
    steps = made.redirect(late, 3_000)
    if error == "again":
        assert steps == (GoOn(late, waking=False),) and late.connection is first.connection
    else:
        assert steps == (Ended(late, error, Place.HERE),)


def test_the_end_of_a_closed_connection_has_no_effect() -> None:
    """A peer's close has no effect on a connection that is closed or never opened."""
    made = client("5.3.3")
    request = written(made, Kind.SYNC)
    made.peer_closed(request.connection, reset=True)
    waiting, _ = made.invoke(Kind.SYNC, "a", 3_000, 0)
    for connection in (request.connection, waiting.connection):
        assert made.peer_closed(connection, reset=True) == ()


@pytest.mark.parametrize("left", [0, -1, -1_000])
def test_the_time_that_a_request_did_not_have(left: int) -> None:
    """In 5.1.4 a timeout of 0 or less leaves no time, so it does not close the connection."""
    made = client("5.1.4")
    written(made, Kind.SYNC)
    request, steps = made.invoke(Kind.SYNC, "a", left, 0)
    assert steps == (Ended(request, EXPIRED, Place.CALLER),)
    assert request.left_ms == left and made.open_to("a") == 1


def test_a_request_is_over_after_answer_timeout_or_failed_connect() -> None:
    """A request is over after its answer, its timeout or a failed connect."""
    made = client("5.1.4")
    answered, expired = written(made, Kind.SYNC), written(made, Kind.SYNC, timeout=100)
    refused, _ = made.invoke(Kind.SYNC, "b", 3_000, 0)
    assert not (answered.is_over or expired.is_over or refused.is_over)
    made.answered(answered.number)
    made.wait_expired(expired)
    made.connect_failed(refused.connection)
    made.go_on(refused, 0)
    assert answered.is_over is expired.is_over is refused.is_over is True


@pytest.mark.parametrize(("release", "kind"), [("4.3.0", Kind.SYNC), ("4.3.0", Kind.ASYNC), ("5.2.0", Kind.ASYNC)])
def test_a_request_ends_once_after_a_connect_timeout(release: str, kind: Kind) -> None:
    """A request ended by a connect timeout does not end again, even if its connection opens and an answer arrives."""
    made = client(release)
    request, _ = made.invoke(kind, "a", 5_000, 0)
    assert ends(made.go_on(request, 3_000)) == [(0, REFUSED, Place.CALLER)]
    assert made.connected(request.connection) == (GoOn(request, waking=True),)
    made.go_on(request, 3_001)
    assert made.answered(request.number) == ()


def test_an_answer_handed_up_after_going_away_ends_once() -> None:
    """In 5.2.0 the GO_AWAY answer is returned once if the reconnect is too slow, even if it succeeds later."""
    made = client("5.2.0")
    request = written(made, Kind.ASYNC)
    made.answered(request.number, GO_AWAY)
    made.redirect(request, 0)
    assert made.go_on(request, 2_000) == (Ended(request, None, Place.HERE),)
    made.connected(request.connection)
    made.go_on(request, 2_001)
    assert made.answered(request.number) == ()


def test_to_5_1_4_a_request_whose_time_is_up_is_taken_off_the_table() -> None:
    """A timeout removes the request from the table to 5.1.4; from 5.2.0 an answer still finds it."""
    for release, found in (("5.1.4", False), ("5.2.0", True)):
        made = client(release)
        request = written(made, Kind.SYNC, timeout=100)
        request.left_ms = 0  # so that its timeout does not close the connection
        made.wait_expired(request)
        assert made.addressee(request.number) is (request if found else None)


def test_a_timeout_takes_off_whatever_has_its_number() -> None:
    """In 4.6.1 a heartbeat's timeout removes the retry with its number, which then never ends (invokeSyncImpl)."""
    made = client("4.6.1")
    written(made, Kind.SYNC, address="b")
    retry, _ = made.invoke(Kind.ASYNC, "a", 0, 0, is_retry=True)
    heartbeat = written(made, Kind.SYNC, address="b")
    made.connected(retry.connection)
    assert made.go_on(retry, 0) == (Write(retry, 0),) and retry.number == heartbeat.number
    assert ends(made.wait_expired(heartbeat)) == [(heartbeat.number, EXPIRED, Place.CALLER)]
    assert made.answered(retry.number) == () and made.scan(1_000) == ()


def test_a_command_is_no_retry_by_default() -> None:
    """Only a command marked as a retry takes the next request's number."""
    made = PendingRequests(dialect_of("4.6.1").client.remoting)
    assert [made.number(), made.number(is_retry=True), made.number()] == [0, 2, 2]


def test_the_high_half_of_a_number_counts_in_its_bin() -> None:
    """ConcurrentHashMap.spread: 196 608 is 3 << 16 and is in bin 3, after 514 in bin 2 and before 516 in bin 4."""
    made, connection = PendingRequests(dialect_of("4.7.0").client.remoting), Connection("a")
    for number in (513, 514, 516, 196_608):
        made.put(Request(number, Kind.ASYNC, 3_000, 0, connection, connection))
    assert [one.number for one in made.take_all(connection)] == [513, 514, 196_608, 516]


@pytest.mark.parametrize(("release", "noted"), [("5.1.4", 0), ("5.2.0", 1)])
def test_the_end_of_a_connection_is_noted_where_new_ones_are_greeted(release: str, noted: int) -> None:
    """From 5.2.0 every end of a connection is noted once, as the last step."""
    for end in ("close", "reset", "fin"):
        made = client(release)
        one = written(made, Kind.SYNC)
        steps = made.wait_expired(one)[:-1] if end == "close" else made.peer_closed(one.made_on, reset=end == "reset")
        assert kinds(steps).count(Noted) == noted
        assert not noted or kinds(steps)[-1] is Noted


def test_a_second_close_is_noted_until_the_handlers_are_gone() -> None:
    """A second close is noted until the handlers are gone: one event after a reset, at once after a FIN."""
    for reset, steps in ((True, [Noted]), (False, [])):
        made = client("5.3.3")
        one = written(made, Kind.SYNC)
        made.peer_closed(one.made_on, reset=reset)
        assert kinds(made.woken(one, failed=True)) == steps
        made.taken_down(one.made_on)
        assert made.woken(one, failed=True) == ()


def test_a_connection_that_is_known_no_more_is_noted_if_it_is_reset() -> None:
    """A reset of a connection without an entry is noted, a FIN is not, and neither fails a request."""
    for reset, steps in ((True, [Noted]), (False, [])):
        made = client("5.4.0")
        old = written(made, Kind.SYNC)
        made.peer_closed(old.made_on, reset=True)
        successor = written(made, Kind.SYNC)
        made.woken(old, failed=True)  # removes the successor from the table
        assert kinds(made.peer_closed(successor.made_on, reset=reset)) == steps
        assert made.woken(successor, failed=True) == ()


@pytest.mark.parametrize(("release", "by_the_loop"), [("5.3.1", False), ("5.3.2", True)])
def test_going_away_to_a_connection_that_is_open_by_now(release: str, by_the_loop: bool) -> None:
    """From 5.3.2 the event loop writes a request that GO_AWAY moves to a connection which another one has opened."""
    made = client(release)
    first, second = written(made, Kind.ASYNC), written(made, Kind.ASYNC)
    made.answered(second.number, GO_AWAY)
    redirected(made, first, 0)
    steps = made.redirect(second, 10)
    assert steps == ((GoOn(second, waking=False),) if by_the_loop else (Write(second, 2_990),))
    assert second.redirected and second.connection is first.connection


@pytest.mark.parametrize(("release", "error"), [("5.3.1", None), ("5.3.2", LOST)])
def test_going_away_from_a_connection_without_a_slot(release: str, error: str | None) -> None:
    """From 5.3.2 a request whose connection was removed is lost; before, GO_AWAY is its answer."""
    made = client(release)
    request = written(made, Kind.ASYNC)
    made.answered(request.number, GO_AWAY)
    made.peer_closed(request.connection, reset=True)
    assert made.redirect(request, 10) == (Ended(request, error, Place.HERE),)


def test_a_connection_that_never_opened_has_no_handlers_to_note_its_end() -> None:
    """From 5.2.0 the end of a failed connect is not noted when the request closes its connection."""
    made = client("5.2.0")
    request, _ = made.invoke(Kind.SYNC, "a", 3_000, 0)
    made.connect_failed(request.connection)
    assert kinds(made.go_on(request, 5)) == [Ended]
    assert request.connection.has_handlers is False


def test_a_second_close_is_noted_as_long_as_the_handlers_live() -> None:
    """From 5.2.0 the close by a request that goes on only then meets the handlers, unless the event after the first close has come."""
    made = client("5.2.0")
    first, second, third = (made.invoke(Kind.SYNC, "a", 3_000, 0)[0] for _ in range(3))
    made.connected(first.connection)
    made.go_on(first, 0)
    made.close_all()
    assert kinds(made.go_on(second, 0)) == [Noted, Ended]
    made.taken_down(first.connection)
    assert kinds(made.go_on(third, 0)) == [Ended]


def test_a_connect_that_took_the_whole_timeout_closes_nothing() -> None:
    """From 5.1.4 a synchronous request without time left does not close its connection: its time is 0 or less."""
    made = client("5.1.4")
    request, _ = made.invoke(Kind.SYNC, "a", 1_000, 0)
    made.connected(request.connection)
    assert made.go_on(request, 2_000) == (Ended(request, EXPIRED, Place.CALLER),)
    assert request.left_ms == -1_000 and made.open_to("a") == 1


def test_a_late_close_spares_the_successor_of_its_connection() -> None:
    """Up to 5.3.0 a connection that is given up leaves the entry of its address, and a closed one its successor's."""
    made = client("5.2.0")
    request, _ = made.invoke(Kind.SYNC, "a", 5_000, 0)
    assert made.go_on(request, 3_000) == (Ended(request, REFUSED, Place.CALLER, direct=True),)
    made.connect_failed(request.connection)
    late, steps = made.invoke(Kind.SYNC, "a", 5_000, 3_001)
    assert kinds(steps) == [Connect, Wait] and late.connection is not request.connection
    made.woken(request, failed=True)
    assert made.current("a") is late.connection
    made.woken(late, failed=True)
    assert made.current("a") is None
