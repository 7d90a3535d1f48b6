"""What a sender thread tells of its calls."""

import time
from typing import Any

from harness.core.plan import PlannedSend, SendKind
from harness.core.records import Record, SendEnded
from harness.subjects.programs.client import Answer
from harness.subjects.programs.sender import Sender

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

    def send(self, send: PlannedSend, message: Any) -> Answer:
        assert message == f"message {send.send}"
        if send.argument == 1:
            raise BrokenBrokerError("two\nlines") from TimeoutError()
        if send.argument == 2:
            raise NamelessError
        return Answer("SEND_OK", "broker-a", 3, 17)

    def shutdown(self) -> None:
        """Nothing to end."""


def told(*sends: PlannedSend, start_ns: int = 0) -> list[SendEnded]:
    """Records of a sender that has sent these."""
    records: list[Record] = []
    Sender(0, sends, start_ns, Fake(), records.append).run()
    return [record for record in records if isinstance(record, SendEnded)]


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
