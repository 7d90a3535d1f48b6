"""A sender thread's records of its calls."""

import time
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.core.records.received import Record
from rocketdiff.core.records.sending import NEVER_CALLED_BACK, CalledBackAgain, Send
from rocketdiff.core.sends.plan import PlannedSend, SendKind, SendMode
from rocketdiff.drivers.python.sending.async_sends import AsyncSends, Told
from rocketdiff.drivers.python.sending.client import ClientResult
from rocketdiff.drivers.python.sending.sender import Sender
from tests.drivers.python.willing import Willing

MS = 1_000_000


class BrokenBrokerError(Exception):
    """Has a code like RocketMQ's exceptions."""

    code = 10002


class NamelessError(Exception):
    """Has -1, Java's value for no code."""

    code = -1


class Fake(Willing):
    """A client that answers, or raises as the send's argument states."""

    def message(self, send: PlannedSend) -> Any:
        if send.argument == 3:
            raise NamelessError("a name that the client reserves")
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

    def send_async(self, send: PlannedSend, message: Any, on_end: Told) -> None:
        if send.argument == 1:
            raise BrokenBrokerError("refused at once")
        for _ in range(send.argument):
            on_end(self.send(replace(send, argument=0), message))


def reported(*sends: PlannedSend, start_ns: int = 0) -> list[Send]:
    """Send records of a sender for these sends."""
    records: list[Record] = []
    under_way = AsyncSends(records.append, 0.05, Fake().gave_up)
    Sender(0, sends, start_ns, Fake(), records.append, under_way).run()
    under_way.await_all()
    return [record for record in records if isinstance(record, Send)]


def planned(send: int, argument: int = 0, due_ns: int = 0) -> PlannedSend:
    return PlannedSend(send, 0, due_ns, SendKind.PLAIN, argument, 0)


def test_a_send_record_has_status_queue_and_offset() -> None:
    """A send record has status, queue and offset of the client's result."""
    (record,) = reported(planned(5))
    assert (record.send, record.status, record.broker, record.queue_id, record.queue_offset) == (
        5, "SEND_OK", "broker-a", 3, 17,
    )  # fmt: skip
    assert record.error is None and record.start_ns <= record.end_ns
    assert (record.route, record.route_after) == (1, 1)


def test_a_failed_send_has_class_names_message_and_code() -> None:
    """A failed send has simple class names, message and code, and no status."""
    (record,) = reported(planned(5, argument=1))
    assert (record.error, record.cause, record.code) == ("BrokenBrokerError", "TimeoutError", 10002)
    assert record.message == "two\nlines" and record.status is None


@pytest.mark.parametrize("mode", SendMode)
def test_a_refused_message_ends_its_send_and_not_the_thread(mode: SendMode) -> None:
    """A message that the client refuses to make is the end of its send; the thread goes on."""
    refused, good = reported(replace(planned(5, argument=3), mode=mode), planned(6))
    assert (refused.error, refused.message, refused.status) == (
        "NamelessError", "a name that the client reserves", None,
    )  # fmt: skip
    assert (refused.returned_ns is None) == (mode is not SendMode.ASYNC)
    assert good.status == "SEND_OK"


def test_minus_one_is_no_code() -> None:
    """-1, Java's value for exceptions without a code, is no code."""
    assert reported(planned(5, argument=2))[0].code is None


def test_no_send_begins_before_it_is_due() -> None:
    """Sends start in order, none before its due time."""
    start_ns = time.monotonic_ns() + 20 * MS
    first, second = reported(planned(0, due_ns=0), planned(1, due_ns=15 * MS), start_ns=start_ns)
    assert first.start_ns >= start_ns
    assert second.start_ns >= start_ns + 15 * MS


def asynchronous(send: int, argument: int) -> PlannedSend:
    """An asynchronous send. argument: number of callbacks; 1 makes the call raise."""
    return replace(planned(send, argument), mode=SendMode.ASYNC)


def test_the_first_callback_ends_the_send_and_a_second_is_recorded() -> None:
    """The first callback ends the send; a second has its own record."""
    records: list[Record] = []
    under_way = AsyncSends(records.append, 0.05, Fake().gave_up)
    Sender(0, [asynchronous(0, 2)], 0, Fake(), records.append, under_way).run()
    answer, again = records
    assert isinstance(answer, Send)
    assert isinstance(again, CalledBackAgain)
    assert (answer.status, answer.error) == ("SEND_OK", None)
    assert answer.returned_ns is not None
    assert answer.start_ns <= answer.end_ns <= answer.returned_ns


def test_a_missing_callback_ends_its_send_after_the_limit() -> None:
    """A missing callback ends its send after the limit with NeverCalledBack."""
    (answer,) = reported(asynchronous(0, 0))
    assert answer.error == NEVER_CALLED_BACK


def test_an_open_attempt_is_reported_before_its_send_is_given_up() -> None:
    """An open attempt is reported before its send is given up."""
    told_in_order: list[object] = []
    under_way = AsyncSends(told_in_order.append, 0.05, lambda send, _now_ns: told_in_order.append(send.send))
    Sender(0, [asynchronous(3, 0)], 0, Fake(), told_in_order.append, under_way).run()
    under_way.await_all()
    first, second = told_in_order
    assert first == 3
    assert isinstance(second, Send)


def test_an_exception_of_an_asynchronous_call_is_its_result() -> None:
    """An exception of an asynchronous call is its result, as up to 4.2.0 without callback."""
    (answer,) = reported(asynchronous(0, 1))
    assert (answer.error, answer.code) == ("BrokenBrokerError", 10002)


def test_a_one_way_send_has_neither_status_nor_error() -> None:
    """A oneway send has neither status nor error."""
    (answer,) = reported(replace(planned(0), mode=SendMode.ONEWAY))
    assert (answer.status, answer.error, answer.broker) == (None, None, None)
