"""What a sender thread tells of its calls."""

import time
from dataclasses import replace
from typing import Any

from rocketdiff.core.sends.plan import PlannedSend, SendKind, SendMode
from rocketdiff.core.sends.records import NEVER_CALLED_BACK, CalledBackAgain, Record, Send
from rocketdiff.drivers.python.async_sends import AsyncSends, Told
from rocketdiff.drivers.python.client import ClientResult
from rocketdiff.drivers.python.sender import Sender

MS = 1_000_000


class BrokenBrokerError(Exception):
    """Carries a code as RocketMQ's exceptions do."""

    code = 10002


class NamelessError(Exception):
    """Carries -1, Java's way of saying that there is no code."""

    code = -1


class Fake:
    """A client that answers, or raises what the send's argument says."""

    def prepare(self) -> None:
        """Nothing to prepare."""

    def message(self, send: PlannedSend) -> Any:
        return f"message {send.send}"

    def route(self) -> int:
        return 1

    def send(self, send: PlannedSend, message: Any) -> ClientResult:
        assert message == f"message {send.send}"
        if send.argument == 1:
            raise BrokenBrokerError("two\nlines") from TimeoutError()
        if send.argument == 2:
            raise NamelessError
        return ClientResult("SEND_OK", "broker-a", 3, 17)

    def send_async(self, send: PlannedSend, message: Any, told: Told) -> None:
        if send.argument == 1:
            raise BrokenBrokerError("refused at once")
        for _ in range(send.argument):
            told(self.send(replace(send, argument=0), message))

    def send_oneway(self, send: PlannedSend, message: Any) -> None:
        """Nothing comes of it."""

    def gave_up(self, send: PlannedSend, now_ns: int) -> None:
        """Nothing was open."""

    def shutdown(self) -> None:
        """Nothing to end."""


def told(*sends: PlannedSend, start_ns: int = 0) -> list[Send]:
    """Records of a sender that has sent these."""
    records: list[Record] = []
    under_way = AsyncSends(records.append, 0.05, Fake().gave_up)
    Sender(0, sends, start_ns, Fake(), records.append, under_way).run()
    under_way.await_all()
    return [record for record in records if isinstance(record, Send)]


def planned(send: int, argument: int = 0, due_ns: int = 0) -> PlannedSend:
    return PlannedSend(send, 0, due_ns, SendKind.PLAIN, argument, 0)


def test_an_answer_is_told_with_its_place() -> None:
    """Status, queue and offset as the result says."""
    (record,) = told(planned(5))
    assert (record.send, record.status, record.broker, record.queue_id, record.queue_offset) == (
        5, "SEND_OK", "broker-a", 3, 17,
    )  # fmt: skip
    assert record.error is None and record.start_ns <= record.end_ns
    assert (record.route, record.route_after) == (1, 1)


def test_what_was_raised_is_told_with_cause_and_code() -> None:
    """Simple class names; no status."""
    (record,) = told(planned(5, argument=1))
    assert (record.error, record.cause, record.code) == ("BrokenBrokerError", "TimeoutError", 10002)
    assert record.message == "two\nlines" and record.status is None


def test_minus_one_is_no_code() -> None:
    """Java's exceptions without a code carry -1."""
    assert told(planned(5, argument=2))[0].code is None


def test_no_send_begins_before_it_is_due() -> None:
    """In order, each not before start and offset."""
    start_ns = time.monotonic_ns() + 20 * MS
    first, second = told(planned(0, due_ns=0), planned(1, due_ns=15 * MS), start_ns=start_ns)
    assert first.start_ns >= start_ns
    assert second.start_ns >= start_ns + 15 * MS


def asynchronous(send: int, argument: int) -> PlannedSend:
    """An asynchronous send whose fake callback is called so many times; 1: the call raises."""
    return replace(planned(send, argument), mode=SendMode.ASYNC)


def test_the_first_callback_is_the_answer_and_a_second_is_told_too() -> None:
    """Of two calls of a callback the first ends the send."""
    records: list[Record] = []
    under_way = AsyncSends(records.append, 0.05, Fake().gave_up)
    Sender(0, [asynchronous(0, 2)], 0, Fake(), records.append, under_way).run()
    answer, again = records
    assert isinstance(answer, Send)
    assert isinstance(again, CalledBackAgain)
    assert (answer.status, answer.error) == ("SEND_OK", None)
    assert answer.returned_ns is not None
    assert answer.start_ns <= answer.end_ns <= answer.returned_ns


def test_a_callback_that_never_comes_is_told_after_the_limit() -> None:
    """The send is over, and its end is that nobody called back."""
    (answer,) = told(asynchronous(0, 0))
    assert answer.error == NEVER_CALLED_BACK


def test_the_client_is_asked_what_was_still_open_before_the_send_is_told() -> None:
    """An attempt comes before the end of its send."""
    told_in_order: list[object] = []
    under_way = AsyncSends(told_in_order.append, 0.05, lambda send, _now_ns: told_in_order.append(send.send))
    Sender(0, [asynchronous(3, 0)], 0, Fake(), told_in_order.append, under_way).run()
    under_way.await_all()
    first, second = told_in_order
    assert first == 3
    assert isinstance(second, Send)


def test_what_an_asynchronous_call_raises_is_its_answer() -> None:
    """As to 4.2.0, where nobody calls back then."""
    (answer,) = told(asynchronous(0, 1))
    assert (answer.error, answer.code) == ("BrokenBrokerError", 10002)


def test_a_one_way_send_has_neither_status_nor_error() -> None:
    """It returned, and that is all there is to say."""
    (answer,) = told(replace(planned(0), mode=SendMode.ONEWAY))
    assert (answer.status, answer.error, answer.broker) == (None, None, None)
