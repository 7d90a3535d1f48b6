"""
Defects in calm cases that columns could miss.

Each begins with one send of ninety, without a fault or a retry; every call returned SEND_OK.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.analysis.case_trace import read_case
from rocketdiff.analysis.facts import DifferenceFact
from rocketdiff.analysis.sending.columns.case_columns import case_columns
from rocketdiff.analysis.sending.steps.rulebook import rulebook_for
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.sending.bank_spoils import altered
from tests.analysis.sending.columns.planted import ROTATING, both_ways
from tests.analysis.stories import change_copies, change_send
from tests.analysis.synthetic import MS, ArmRecords, Change, Stored, Story

AT = 41
"""The defective send, in the middle of a stretch."""

NAMED = replace(ROTATING, kind=SendKind.QUEUE)
"""Its out-of-order messages are compared with messages that never become objects."""


def stored(change: Callable[[Stored], Stored]) -> Change:
    """Change the message of the send."""
    return lambda records: change_copies(records, AT, change)


def store_once_more(records: ArmRecords) -> None:
    """A second copy in the same queue, with its own UNIQ_KEY."""
    last = next(message for message in records.stored if message.send == AT)
    records.stored.append(altered(replace(last, queue_offset=9_000), UNIQ_KEY="another"))


def move(places: dict[tuple[str, int], tuple[str, int]], *numbers: int) -> Change:
    """These sends go to another queue, and all their records agree."""

    def change(records: ArmRecords) -> None:
        for number in numbers:
            made = next(each for each in records.attempts if each.send == number)
            broker, queue_id = places[made.broker, made.queue_id]
            records.attempts[records.attempts.index(made)] = replace(made, broker=broker, queue_id=queue_id)
            put(records, number, broker, queue_id, 1_000 + number)

    return change


def put(records: ArmRecords, number: int, broker: str, queue_id: int, queue_offset: int) -> None:
    """A message is stored, and reported, at this place."""
    change_send(
        records, number, lambda send: replace(send, broker=broker, queue_id=queue_id, queue_offset=queue_offset)
    )
    change_copies(
        records, number, lambda copy: replace(copy, broker=broker, queue_id=queue_id, queue_offset=queue_offset)
    )


def outlast_its_timeout(records: ArmRecords) -> None:
    """Answered after 1,502 ms: timeout of 500 ms, 1 s of a busy machine, and 2 ms."""
    records.attempts = [
        replace(attempt, end_ns=attempt.start_ns + 1_502 * MS) if attempt.send == AT else attempt
        for attempt in records.attempts
    ]
    change_send(records, AT, lambda send: replace(send, end_ns=send.start_ns + 1_503 * MS))


def overtake(other: int) -> Change:
    """The message is stored before an earlier one of its queue."""

    def change(records: ArmRecords) -> None:
        ours, theirs = (next(copy for copy in records.stored if copy.send == number) for number in (AT, other))
        put(records, AT, theirs.broker, theirs.queue_id, theirs.queue_offset)
        put(records, other, ours.broker, ours.queue_id, ours.queue_offset)

    return change


def hold_up_every_call(records: ArmRecords) -> None:
    """Each asynchronous call returns after 100 ms, one after 200 ms."""
    records.sends = [
        replace(send, returned_ns=send.start_ns + (200 if send.send == AT else 100) * MS) for send in records.sends
    ]


IN_TURN = {place: ROTATING.queues[(number + 1) % 8] for number, place in enumerate(ROTATING.queues)}
BESIDE = {(broker, queue_id): (broker, (queue_id + 1) % 4) for broker, queue_id in ROTATING.queues}
ANOTHER_BODY = stored(lambda message: replace(message, body_ok=False))

DEFECTS: dict[str, tuple[Story, Change, str]] = {
    "stored once more": (ROTATING, store_once_more, "duplication.stored-more-than-attempted"),
    "from now on the queue after the right one": (ROTATING, move(IN_TURN, *range(AT, 90)), "queue.out-of-turn/first"),
    "acknowledged too early": (
        ROTATING,
        stored(lambda message: replace(message, store_timestamp_ms=message.store_timestamp_ms + 102)),
        "loss.stored-after-its-acknowledgement",
    ),
    "outlasts its timeout": (ROTATING, outlast_its_timeout, "attempts.outlasted-timeout"),
    "another body": (ROTATING, ANOTHER_BODY, "content.body-changed"),
    "a key again": (
        ROTATING,
        stored(lambda message: altered(message, UNIQ_KEY="U0")),
        "content.key-used-before/UNIQ_KEY",
    ),
    "elsewhere": (
        ROTATING,
        stored(lambda message: replace(message, queue_id=(message.queue_id + 1) % 4, queue_offset=9_000)),
        "duplication.stored-elsewhere-than-claimed",
    ),
    "overtakes many": (NAMED, overtake(AT - 12), "order.stored-before-an-earlier-message"),
    "overtakes one": (NAMED, overtake(AT - 3), "order.stored-before-an-earlier-message"),
    "to another queue than named": (NAMED, move(BESIDE, AT), "queue.out-of-turn/first"),
    "holds up every call": (replace(ROTATING, mode=SendMode.ASYNC), hold_up_every_call, "attempts.call-held-up/async"),
    "named, with another body": (NAMED, ANOTHER_BODY, "content.body-changed"),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_columns_find_what_send_by_send_finds(name: str, new_run: Callable[..., RunDirectory]) -> None:
    """The defective send becomes an object, and both ways note the same facts, with its signature."""
    story, defect, signature = DEFECTS[name]
    trace = read_case(new_run([story], change=defect), 1)
    case = case_columns(trace, rulebook_for(trace))
    assert case is not None
    assert case.slow[AT]
    assert case.slow.sum() < 6
    here, there = both_ways(trace)
    assert here == there
    assert not isinstance(here, str)
    assert signature in {item.fact.signature for item in here if isinstance(item.fact, DifferenceFact)}
