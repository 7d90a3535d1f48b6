"""Records as JSON lines: encoded and decoded, with unknown fields; all else is refused."""

import json
import subprocess
import sys

import pytest

from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.records.consuming import (
    Allocated,
    CallResult,
    Consumed,
    DeliveredMessage,
    Joined,
    Left,
    OffsetEvent,
    OffsetSeen,
    Owned,
    Received,
)
from rocketdiff.core.records.received import Record
from rocketdiff.core.records.sending import Attempt, RouteSeen, Send
from rocketdiff.core.records.session import Done, Hello, Ready, SubjectFailed
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.protocol.records import decode_record, encode_record

EVERY_KIND: list[Record] = [
    Hello(1, "java", "5.3.3", ("plain", "batch"), 17, 2**62),
    Ready(5),
    RouteSeen(1, 7, (("broker-a", 0), ("broker-b", 3))),
    Attempt(3, 0, 1, "broker-a", 2, 10, 20, error="MQBrokerException", code=2),
    Send(3, 0, 9, 21, error="MQClientException", cause="RemotingTimeoutException", code=10002, message='a "b"\n'),
    Send(4, 1, 9, 21, status="SEND_OK", broker="broker-b", queue_id=1, queue_offset=77, route=1, route_after=2),
    Done(5),
    SubjectFailed("setup", "no route"),
    Joined(1, 9, 10, "192.0.2.2@b-m0", "IllegalStateException", "no route"),
    Left(1, 11, 12),
    Allocated(1, 1, 10, "T", "AVG", ("a@m", "a@m"), (("broker-a", 0),), (("broker-a", 0),)),
    Owned(1, 1, 11, (("T", "broker-a", 0), ("%RETRY%G", "broker-b", 0))),
    OffsetSeen(1, 1, 12, OffsetEvent.QUERY, "T", "broker-a", 0, -1),
    Received(0, 1, 3, 13, "T", "broker-a", 0, (DeliveredMessage(17, 0, 1, True, send=34, key="7F"),)),
    Consumed(0, 14, CallResult.LATER, delay_level=1),
    Done(calls=1),
]  # fmt: skip


@pytest.mark.parametrize("record", EVERY_KIND, ids=lambda record: type(record).__name__)
def test_a_record_comes_back_as_it_went(record: Record) -> None:
    """Each record is one line and is decoded as encoded."""
    line = encode_record(record)
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    assert decode_record(line[:-1]).record == record


def test_absent_fields_are_not_written() -> None:
    """Fields that are None are not written."""
    assert encode_record(Done(5)) == b'{"type":"done","sends":5}\n'
    assert b"error" not in encode_record(Attempt(0, 0, 0, "b", 0, 1, 2))


def test_unknown_fields_are_kept() -> None:
    """Unknown fields are kept: a later client may report more."""
    received = decode_record(b'{"type":"done","sends":5,"mood":"fine","at":[1]}')
    assert received.record == Done(5)
    assert received.extra == {"mood": "fine", "at": [1]}


def test_fields_of_the_plan_are_unknown_in_a_record() -> None:
    """Fields that the plan defines are unknown in a record, and not written."""
    line = b'{"type":"send","send":0,"thread":0,"start_ns":1,"end_ns":2,"mode":"oneway","attempts":[]}'
    received = decode_record(line)
    assert received.record == Send(0, 0, 1, 2)
    assert received.extra == {"mode": "oneway", "attempts": []}
    reported = Send(0, 0, 1, 2, mode=SendMode.ONEWAY, attempts=(Attempt(0, 0, 0, "b", 0, 1, 2, oneway=True),))
    assert encode_record(reported) == encode_record(Send(0, 0, 1, 2))


@pytest.mark.parametrize("number", ["thread", "attempt", "queue_id", "code", "chooser"])
def test_a_number_too_large_for_its_column_is_a_bad_line(number: str) -> None:
    """A number too large for its column is refused at once, not when the journal is sealed."""
    reported = json.loads(encode_record(Attempt(0, 0, 0, "b", 0, 1, 2))) | {number: 2**31}
    with pytest.raises(SubjectBroken, match=f"{number} is too large") as raised:
        decode_record(json.dumps(reported).encode())
    assert raised.value.signature == "protocol.bad-line"


BAD = b"hello?", b"", b"[]", b'{"type":"done"}', b'{"type":"done","sends":"5"}', b"\xff"
UNKNOWN = b'{"type":"doner","sends":5}', b"{}", b'{"type":["done"]}'


@pytest.mark.parametrize(
    ("line", "signature"),
    [*((line, "bad-line") for line in BAD), *((line, "unknown-record") for line in UNKNOWN)],
)
def test_a_line_that_is_no_record_is_refused(line: bytes, signature: str) -> None:
    """Bad lines are no JSON, no object, or lack a field; an unknown type needs a new protocol version."""
    with pytest.raises(SubjectBroken) as raised:
        decode_record(line)
    assert raised.value.signature == f"protocol.{signature}"


def test_two_threads_may_read_their_first_record_at_the_same_time() -> None:
    """Importing the module converts the enums, because msgspec crashes if two threads do it first at once."""
    program = (
        "from rocketdiff.protocol import records\n"
        "from rocketdiff.core.sends.plan import SendKind\n"
        "print(hasattr(SendKind, '__msgspec_cache__'))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


def test_the_error_word_of_an_attempt_becomes_the_class_that_the_rules_speak_of() -> None:
    """An attempt's error word becomes a class; a send keeps its word, which says more."""
    attempt = b'{"type":"attempt","send":0,"thread":0,"attempt":0,"broker":"a","queue_id":0,"start_ns":1,"end_ns":2,"error":"refused"}'
    send = b'{"type":"send","send":0,"thread":0,"start_ns":1,"end_ns":2,"error":"timeout"}'
    assert [getattr(decode_record(line).record, "error", None) for line in (attempt, send)] == [
        "RemotingConnectException",
        "timeout",
    ]


def test_a_word_that_is_none_of_the_error_words_is_refused_with_those_that_are() -> None:
    """An unknown error word is refused with the known ones: as a class it would always differ, without explanation."""
    with pytest.raises(SubjectBroken, match=r"error is time-out, which is .* timeout, refused") as refused:
        decode_record(b'{"type":"send","send":0,"thread":0,"start_ns":1,"end_ns":2,"error":"time-out"}')
    assert refused.value.signature == "protocol.impossible-value"


def test_an_attempt_without_an_end_has_only_begun() -> None:
    """An attempt without an end has an unseen end at its start, until the relay has it."""
    line = b'{"type":"attempt","send":0,"thread":0,"attempt":0,"broker":"a","queue_id":0,"start_ns":7}'
    assert decode_record(line).record == Attempt(0, 0, 0, "a", 0, 7, 7, "UnseenEnd")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_named(encoding: str) -> None:
    """A byte order mark, which some editors and shells write and no terminal shows, is named."""
    with pytest.raises(SubjectBroken, match=r"a byte order mark of UTF-(8|16) before the record"):
        decode_record('{"type":"done","sends":5}'.encode(encoding))
