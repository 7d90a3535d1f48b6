"""Toys whose only defect is wrong records, without a client."""

from rocketdiff.core.records.received import Record
from rocketdiff.core.records.sending import Attempt, RouteSeen, Send
from rocketdiff.drivers.python.toy import (
    BEHAVIOURS,
    Speech,
    answering_twice,
    honestly,
    lying_about_queues,
    speaking_nonsense,
)
from rocketdiff.subjects.kinds.toy import DEFECTS
from rocketdiff.subjects.reported_defects import strikes


def reported_by(speech: Speech, *records: Record) -> list[Record | bytes]:
    """What a toy writes for these records."""
    return [line for record in records for line in speech(record)]


def sent(send: int, queue_id: int = 0) -> Send:
    return Send(send, 0, 1, 2, status="SEND_OK", broker="broker-a", queue_id=queue_id)


def test_every_defect_has_a_behaviour() -> None:
    """The runner's list of defects equals the program's."""
    assert set(BEHAVIOURS) == set(DEFECTS)


def test_a_defect_strikes_at_every_tenth_send() -> None:
    """A defect affects sends 9, 19 and 29, never the first."""
    assert [send for send in range(30) if strikes(send)] == [9, 19, 29]


def test_the_honest_toy_reports_what_happened() -> None:
    """The honest toy writes every record once, unchanged."""
    assert reported_by(honestly, sent(8), sent(9)) == [sent(8), sent(9)]


def test_one_answers_twice() -> None:
    """A toy answers send 9 twice, and no other."""
    assert reported_by(answering_twice, sent(8), sent(9)) == [sent(8), sent(9), sent(9)]


def test_one_lies_about_its_queue() -> None:
    """A toy reports another queue of the broker in attempt and send 9; a failed send has none."""
    route = RouteSeen(1, 1, (("broker-a", 0), ("broker-a", 1), ("broker-b", 0)))
    attempt = Attempt(9, 0, 0, "broker-a", 1, 1, 2)
    failed = Send(19, 0, 1, 2, error="MQClientException")
    reported = reported_by(lying_about_queues(), route, sent(8, 1), attempt, sent(9, 1), failed)
    assert reported == [route, sent(8, 1), Attempt(9, 0, 0, "broker-a", 0, 1, 2), sent(9, 0), failed]


def test_one_speaks_nonsense() -> None:
    """A toy writes an invalid line after send 9."""
    lines = reported_by(speaking_nonsense, sent(8), sent(9))
    assert lines[:2] == [sent(8), sent(9)]
    assert len(lines) == 3 and isinstance(lines[2], bytes) and not lines[2].startswith(b"{")
