"""From records to exchanges to attempts, derived manually; times in ns."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from rocketdiff.core.records.sending import Attempt, RouteSeen, Send
from rocketdiff.relay.proxy.switches import Action, Switch, Switchboard
from rocketdiff.relay.remoting.attempts import attempts_of
from rocketdiff.relay.remoting.exchanges import (
    END_OF_TIME_NS,
    BlindSpot,
    Exchange,
    blind_spots_of,
    exchanges_of,
    past_the_relay,
    publish_lists_of,
    with_routes,
)
from rocketdiff.relay.remoting.frames import FrameInfo
from rocketdiff.relay.remoting.record import (
    Closed,
    Connected,
    Opened,
    Passed,
    Refused,
    Shut,
    WireRecord,
    decode_wire,
    encode_wire,
    read_wire,
)

TIMEOUT_MS = 100


def request(at: int, send: int, node: str = "broker-a", queue: int = 0, connection: int = 1) -> Passed:
    return Passed(
        connection, node, "server", at, 310, 99, at, at + 1, topic="T", queue_id=queue, identity=f"run/T/{send}"
    )


def answer(at: int, opaque: int, code: int = 0, node: str = "broker-a", connection: int = 1) -> Passed:
    return Passed(connection, node, "client", opaque, code, 99, at, at + 1, response=True, queue_id=0, queue_offset=5)


def sends(*rows: tuple[int, int, int]) -> dict[int, Send]:
    return {send: Send(send, 2, start, end) for send, start, end in rows}


def attempts(exchanges: list[Exchange], *rows: tuple[int, int, int]) -> list[Attempt]:
    """The attempts of these sends, all of thread 2."""
    return attempts_of(exchanges, "T", sends(*rows), dict.fromkeys(range(3), 2), TIMEOUT_MS)


@pytest.mark.parametrize(
    "record",
    [
        Connected(1, "broker-a", 5, vip=True),
        Refused(1, "b", 5),
        Closed(1, "b", 5, "client", True),
        Shut("b", 5),
        Opened("b", 6),
        request(3, 4),
    ],
)
def test_a_record_is_a_line_and_back(record: WireRecord) -> None:
    """A record is decoded as encoded; its line names the witness and leaves out empty fields."""
    line = encode_wire(record)
    assert b'"witness":"wire"' in line and b"null" not in line
    assert decode_wire(line) == record


def test_a_line_that_is_none_is_refused_and_an_unfinished_one_left_out(tmp_path: Path) -> None:
    """A damaged line is refused; an unfinished one, from a killed relay, is left out."""
    with pytest.raises(msgspec.ValidationError):
        decode_wire(b'{"type":"attempt","witness":"client"}')
    file = tmp_path / "wire.ndjson"
    file.write_bytes(encode_wire(request(3, 4)) + b'{"type":"pas')
    assert list(read_wire(file)) == [request(3, 4)]
    assert list(read_wire(tmp_path / "none")) == []


def test_answers_find_their_requests() -> None:
    """Answers match by connection and number; a closed connection ends only its own requests."""
    first, second, third = request(10, 0), request(20, 1), request(30, 2, connection=2)
    closed = Closed(1, "broker-a", 50, "server")
    records: list[WireRecord] = [first, second, third, answer(40, 20), closed, answer(60, 10)]
    assert exchanges_of(records) == [
        Exchange(first, closed=closed),
        Exchange(second, answer(40, 20)),
        Exchange(third),
    ]
    assert past_the_relay(records) == []


def test_of_two_requests_with_one_number_the_later_one_gets_the_answer() -> None:
    """Of two requests with one number only the later is answered, as in a client up to 4.6.1."""
    earlier, later = request(10, 0), replace(request(20, 0), opaque=10)
    closed = Closed(1, "broker-a", 50, "client")
    assert exchanges_of([earlier, later, answer(30, 10), answer(40, 10), closed]) == [
        Exchange(earlier),
        Exchange(later, answer(30, 10)),
    ]


def test_an_answered_request_is_an_attempt() -> None:
    """An attempt lasts from the arrival of the request to that of the answer at the relay."""
    exchanges = [Exchange(request(10, 0, queue=3), answer(20, 10))]
    assert attempts(exchanges, (0, 5, 30)) == [Attempt(0, 2, 0, "broker-a", 3, 10, 20, status="SEND_OK")]


def test_an_error_answer_is_the_brokers() -> None:
    """A code that does not mean stored is a broker error; others are statuses."""
    exchanges = [Exchange(request(10, 0), answer(20, 10, 2)), Exchange(request(30, 0), answer(40, 30, 12))]
    reported = [(one.error, one.code, one.status) for one in attempts(exchanges, (0, 5, 50))]
    assert reported == [("MQBrokerException", 2, None), (None, None, "FLUSH_SLAVE_TIMEOUT")]


def test_silence_ends_with_the_next_attempt_or_the_call() -> None:
    """
    A late or missing answer times out at the next attempt or the end of the call.

    A closed connection ends the attempt: lost if the server closed it, timed out if the client did.
    """
    exchanges = [
        Exchange(request(10, 0), answer(95, 10)),
        Exchange(request(50, 0, "broker-b")),
        Exchange(request(200, 1), closed=Closed(1, "broker-a", 210, "server", True)),
        Exchange(request(400, 2), closed=Closed(2, "broker-a", 430, "client")),
    ]
    reported = attempts(exchanges, (0, 5, 90), (1, 190, 300), (2, 390, 500))
    assert [(one.broker, one.start_ns, one.end_ns, one.error) for one in reported] == [
        ("broker-a", 10, 50, "RemotingTimeoutException"),
        ("broker-b", 50, 90, "RemotingTimeoutException"),
        ("broker-a", 200, 210, "RemotingSendRequestException"),
        ("broker-a", 400, 430, "RemotingTimeoutException"),
    ]


def test_routes_become_publish_lists() -> None:
    """A changed route of the topic is a new publish list."""
    records: list[WireRecord] = []
    for at, topic, queues in ((10, "T", ("b", 1)), (20, "T", ("b", 1)), (30, "W", ("c", 1)), (40, "T", ("b", 2))):
        records.append(Passed(1, "name-server-1", "server", at, 105, 9, at, topic=topic))
        records.append(
            Passed(1, "name-server-1", "client", at, 0, 9, at + 1, at + 2, response=True, queues=(("a", 1), queues))
        )
    records.append(Passed(1, "name-server-1", "client", 50, 17, 9, 50, response=True))
    assert publish_lists_of(records, "T") == [
        RouteSeen(1, 12, (("a", 0), ("b", 0))),
        RouteSeen(2, 42, (("a", 0), ("b", 0), ("b", 1))),
    ]


def test_blind_spots_last_while_a_port_is_shut() -> None:
    """A blind spot lasts while a node's ports are shut, or for the instant of a refused client."""
    shut = Refused(3, "b", 15), Shut("b", 20), Shut("b", 21)
    records: list[WireRecord] = [*shut, Opened("b", 40), Opened("b", 41), Shut("a", 60)]
    assert blind_spots_of(records) == [BlindSpot(15, 15), BlindSpot(20, 40), BlindSpot(60, END_OF_TIME_NS)]


def test_a_send_has_its_route_or_an_unseen_one() -> None:
    """A send has the current route, the first also before it; −1 beside a blind spot, 0 without routes."""
    reported = sends((0, 1, 12), (1, 30, 45), (2, 46, 50), (3, 50, 70)).values()
    routes = [RouteSeen(1, 10, (("a", 0),)), RouteSeen(2, 48, (("a", 0), ("a", 1)))]
    placed = with_routes(reported, routes, [BlindSpot(20, 30), BlindSpot(70, 90)])
    assert [(one.route, one.route_after) for one in placed] == [(1, 1), (-1, -1), (1, 2), (-1, -1)]
    assert [(one.route, one.route_after) for one in with_routes(reported, [], [])] == [(0, 0)] * 4


@pytest.mark.parametrize(
    ("took_ms", "error"), [(80, None), (96, "RemotingTimeoutException"), (99, "RemotingTimeoutException")]
)
def test_an_answer_when_the_time_was_up_came_too_late_if_the_client_went_on(took_ms: int, error: str | None) -> None:
    """An answer shortly before the timeout is too late if the client went on; the last attempt's always counts."""
    end = took_ms * 1_000_000
    exchanges = [
        Exchange(request(0, 0), answer(end, 0)),
        Exchange(request(end + 200_000, 0), answer(2 * end, end + 200_000)),
    ]
    first, last = attempts(exchanges, (0, 0, 2 * end + 9))
    assert (first.error, last.error, last.status) == (error, None, "SEND_OK")


@pytest.mark.parametrize("action", ["swallow", "reset"])
def test_an_answer_that_a_switch_lost_is_none(action: str) -> None:
    """An answer that a switch dropped never reached the client."""
    lost = replace(answer(20, 10), out_ns=None, action=action)
    (exchange,) = exchanges_of([request(10, 0), lost, Closed(1, "broker-a", 30, "relay", True)])
    assert exchange.answer is None
    (attempt,) = attempts([exchange], (0, 5, 40))
    assert (attempt.end_ns, attempt.error) == (30, "RemotingSendRequestException")


def test_a_delayed_answer_comes_when_it_was_let_go() -> None:
    """A delayed answer counts from its release, because the client waited."""
    delayed = replace(answer(20, 10), out_ns=71, action="delay", released_ns=70)
    (attempt,) = attempts(exchanges_of([request(10, 0), delayed]), (0, 5, 90))
    assert (attempt.end_ns, attempt.status) == (70, "SEND_OK")
    late = replace(delayed, released_ns=95)
    (attempt,) = attempts(exchanges_of([request(10, 0), late]), (0, 5, 90))
    assert (attempt.end_ns, attempt.error) == (90, "RemotingTimeoutException")


def test_a_one_way_request_awaits_no_answer() -> None:
    """A one-way attempt ends with its request."""
    oneway = replace(request(10, 0), oneway=True)
    (attempt,) = attempts(exchanges_of([oneway]), (0, 5, 11))
    assert (attempt.end_ns, attempt.error, attempt.status) == (10, None, None)


def test_a_one_way_request_that_its_client_did_not_mark_is_known_by_the_plan() -> None:
    """An unmarked one-way request, as of C++, is known by the plan and ends no later than its call."""
    reported = exchanges_of([request(10, 0), answer(30, 10)])
    for end_ns, at_ns in ((11, 10), (8, 8)):
        (attempt,) = attempts_of(reported, "T", sends((0, 5, end_ns)), {0: 2}, TIMEOUT_MS, {0})
        assert (attempt.start_ns, attempt.end_ns, attempt.error, attempt.status) == (at_ns, at_ns, None, None)
    (waited,) = attempts(reported, (0, 5, 11))
    assert waited.error == "RemotingTimeoutException"


def test_other_topics_and_unplanned_sends_are_no_attempts() -> None:
    """Other topics, such as the warm-up's, and unplanned sends are no attempts."""
    assert attempts_of([Exchange(request(10, 0)), Exchange(request(20, 7))], "T", {}, {}, TIMEOUT_MS) == []
    assert attempts_of([Exchange(request(10, 0))], "other", {}, {0: 0}, TIMEOUT_MS) == []


def test_switches_are_used_up_and_turned_off() -> None:
    """The first matching switch applies; one without a count lasts until turned off."""
    board = Switchboard()
    board.turn_on(Switch(Action.RESET, node="broker-a", to="server", times=1))
    lasting = board.turn_on(Switch(Action.SWALLOW, sends=True))
    send, other = FrameInfo(1, 310, identity="run/T/0"), FrameInfo(2, 34)
    chosen = [board.choose(node, "server", output) for node, output in (("broker-b", other), ("broker-a", other))]
    assert [None if one is None else one.action for one in chosen] == [None, Action.RESET]
    again = board.choose("broker-a", "server", send)
    assert again is not None and again.action is Action.SWALLOW
    board.turn_off(lasting)
    assert board.is_idle
    board.turn_on(Switch(Action.DELAY, to="client", codes=(11, 361)))
    answer = FrameInfo(1, 0, response=True)
    of_a_pull, of_another, unknown = (board.choose("broker-a", "client", answer, code) for code in (361, 34, None))
    assert of_a_pull is not None and (of_another, unknown) == (None, None)
