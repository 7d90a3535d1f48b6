"""Toys whose only defect is wrong records, without a client."""

import os
from collections.abc import Callable

from rocketdiff.core.records.received import Record
from rocketdiff.core.records.sending import Attempt, RouteSeen, Send
from rocketdiff.drivers.python.session import Speak
from rocketdiff.drivers.python.toy import (
    BEHAVIOURS,
    answering_twice,
    honest_speech,
    lying_about_queues,
    speaking_nonsense,
)
from rocketdiff.drivers.python.writer import RecordWriter
from rocketdiff.protocol.records import decode_record
from rocketdiff.subjects.kinds.toy import DEFECTS
from rocketdiff.subjects.reported_defects import strikes


def lines_of(make_speech: Callable[[RecordWriter], Speak], *records: Record) -> list[bytes]:
    """The lines that a toy writes for these records."""
    listening, speaking = os.pipe()
    writer = RecordWriter(speaking)
    speak = make_speech(writer)
    for record in records:
        speak(record)
    writer.flush()
    os.close(speaking)
    with os.fdopen(listening, "rb") as lines:
        return lines.read().splitlines()


def sent(send: int, queue_id: int = 0) -> Send:
    return Send(send, 0, 1, 2, status="SEND_OK", broker="broker-a", queue_id=queue_id)


def test_every_defect_has_a_behaviour() -> None:
    """The runner's list of defects equals the program's."""
    assert set(BEHAVIOURS) == set(DEFECTS)


def test_a_defect_strikes_at_every_tenth_send() -> None:
    """A defect affects sends 9, 19 and 29, never the first."""
    assert [send for send in range(30) if strikes(send)] == [9, 19, 29]


def test_the_honest_toy_writes_one_line_per_record() -> None:
    """The honest toy writes one line per record."""
    assert len(lines_of(honest_speech, sent(8), sent(9))) == 2


def test_one_answers_twice() -> None:
    """A toy answers send 9 twice, and no other."""
    assert [decode_record(line).record for line in lines_of(answering_twice, sent(8), sent(9))] == [
        sent(8),
        sent(9),
        sent(9),
    ]


def test_one_lies_about_its_queue() -> None:
    """A toy reports another queue of the broker in attempt and send 9; a failed send has none."""
    route = RouteSeen(1, 1, (("broker-a", 0), ("broker-a", 1), ("broker-b", 0)))
    attempt = Attempt(9, 0, 0, "broker-a", 1, 1, 2)
    failed = Send(19, 0, 1, 2, error="MQClientException")
    lines = lines_of(lying_about_queues, route, sent(8, 1), attempt, sent(9, 1), failed)
    reported = [decode_record(line).record for line in lines]
    assert reported == [route, sent(8, 1), Attempt(9, 0, 0, "broker-a", 0, 1, 2), sent(9, 0), failed]


def test_one_speaks_nonsense() -> None:
    """A toy writes an invalid line after send 9."""
    lines = lines_of(speaking_nonsense, sent(8), sent(9))
    assert len(lines) == 3 and not lines[2].startswith(b"{")
