"""
Defects in calm cases that columns could miss, judged to the exit code.

Each begins with one send of ninety, without a fault or a retry; every call returned SEND_OK.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from rocketdiff.analysis.case_trace import read_case
from rocketdiff.analysis.sending.case_pass import PLAIN_REPLAY
from rocketdiff.analysis.sending.columns.case_columns import case_columns
from rocketdiff.analysis.sending.steps.rulebook import rulebook_for
from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.sends.plan import SendKind
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.judged_to_the_end import Ended
from tests.analysis.sending.columns.planted import ROTATING
from tests.analysis.synthetic import MS, ArmRecords, Stored, Story
from tests.analysis.synthetic_modes import carrying

AT = 41
"""The defective send, in the middle of a stretch."""

STORY = replace(
    ROTATING, checks=("queue-choice", "attempts", "error-kind", "loss", "duplication", "content", "outcomes", "timing")
)


def stored_once_more(records: ArmRecords) -> None:
    """A second copy in the same queue, with its own UNIQ_KEY."""
    last = max((message for message in records.stored if message.send == AT), key=lambda one: one.queue_offset)
    records.stored.append(carrying(replace(last, queue_offset=9_000), "k", UNIQ_KEY="another"))


def skips_one_queue(records: ArmRecords) -> None:
    """From one send on, every message goes to the queue after the right one."""
    step = {place: STORY.queues[(number + 1) % 8] for number, place in enumerate(STORY.queues)}

    records.attempts = [_tried_at(step, attempt) if attempt.send >= AT else attempt for attempt in records.attempts]
    records.sends = [_moved_send(step, send) if send.send >= AT else send for send in records.sends]
    records.stored = [
        replace(
            message,
            broker=step[message.broker, message.queue_id][0],
            queue_id=step[message.broker, message.queue_id][1],
            queue_offset=1_000 + message.send,
        )
        if message.send is not None and message.send >= AT
        else message
        for message in records.stored
    ]


Steps = Mapping[tuple[str, int], tuple[str, int]]


def _tried_at(step: Steps, one: Attempt) -> Attempt:
    broker, queue = step[one.broker, one.queue_id]
    return replace(one, broker=broker, queue_id=queue)


def _moved_send(step: Steps, one: Send) -> Send:
    broker, queue = step[one.broker or "", one.queue_id or 0]
    return replace(one, broker=broker, queue_id=queue, queue_offset=1_000 + one.send)


def acknowledged_too_early(records: ArmRecords) -> None:
    """The answer comes more than 101 ms before the message is stored."""
    records.stored = [
        replace(message, store_timestamp_ms=message.store_timestamp_ms + 102) if message.send == AT else message
        for message in records.stored
    ]


def outlasts_its_timeout(records: ArmRecords) -> None:
    """Answered after 1,502 ms: timeout of 500 ms, 1 s of a busy machine, and 2 ms."""
    records.attempts = [
        replace(attempt, end_ns=attempt.start_ns + 1_502 * MS) if attempt.send == AT else attempt
        for attempt in records.attempts
    ]
    records.sends = [
        replace(send, end_ns=send.start_ns + 1_503 * MS) if send.send == AT else send for send in records.sends
    ]


def carries_another_body(records: ArmRecords) -> None:
    """The body differs from the planned one."""
    records.stored = [replace(message, body_ok=False) if message.send == AT else message for message in records.stored]


def uses_a_key_again(records: ArmRecords) -> None:
    """The first message's UNIQ_KEY again, 41 sends later."""
    first = next(message.properties for message in records.stored if message.send == 0)
    records.stored = [
        _with_key_of(first or "", message) if message.send == AT else message for message in records.stored
    ]


def _with_key_of(other: str, one: Stored) -> Stored:
    properties = json.loads(one.properties or "{}") | {"UNIQ_KEY": json.loads(other)["UNIQ_KEY"]}
    return replace(one, properties=json.dumps(properties, separators=(",", ":")))


def is_somewhere_else(records: ArmRecords) -> None:
    """The message is stored in the queue next to the reported one."""
    records.stored = [
        replace(message, queue_id=(message.queue_id + 1) % 4, queue_offset=9_000) if message.send == AT else message
        for message in records.stored
    ]


def _places_changed(records: ArmRecords, one: int, other: int) -> None:
    """Exchange the offsets of two messages, reported and stored."""
    offsets = {each.send: each.queue_offset for each in records.sends}
    swapped = offsets | {one: offsets[other], other: offsets[one]}
    records.sends = [replace(each, queue_offset=swapped[each.send]) for each in records.sends]
    records.stored = [
        replace(each, queue_offset=swapped[each.send] or 0) if each.send in (one, other) else each
        for each in records.stored
    ]


def overtakes_one(records: ArmRecords) -> None:
    """A message is stored before its predecessor in its queue."""
    _places_changed(records, AT, AT - 3)


def overtakes_many(records: ArmRecords) -> None:
    """A message is stored before its four predecessors in its queue."""
    _places_changed(records, AT, AT - 12)


def goes_to_another_queue(records: ArmRecords) -> None:
    """A message goes to, and is reported in, the queue next to the named one."""
    records.attempts = [
        replace(attempt, queue_id=(attempt.queue_id + 1) % 4) if attempt.send == AT else attempt
        for attempt in records.attempts
    ]
    records.sends = [
        replace(send, queue_id=((send.queue_id or 0) + 1) % 4, queue_offset=9_000) if send.send == AT else send
        for send in records.sends
    ]
    is_somewhere_else(records)


NAMED = replace(STORY, kind=SendKind.QUEUE, checks=(*STORY.checks, "order"))
"""Its out-of-order messages are compared with messages that never become objects."""

Defect = Callable[[ArmRecords], None]

DEFECTS: list[tuple[Story, Defect, str, str]] = [
    (STORY, stored_once_more, "duplication", "duplication.stored-more-than-attempted"),
    (STORY, skips_one_queue, "queue-choice", "queue.out-of-turn/first"),
    (STORY, acknowledged_too_early, "loss", "loss.stored-after-its-acknowledgement"),
    (STORY, outlasts_its_timeout, "attempts", "attempts.outlasted-timeout"),
    (STORY, carries_another_body, "content", "content.body-changed"),
    (STORY, uses_a_key_again, "content", "content.key-used-before/UNIQ_KEY"),
    (STORY, is_somewhere_else, "duplication", "duplication.stored-elsewhere-than-claimed"),
    (NAMED, overtakes_many, "order", "order.stored-before-an-earlier-message"),
    (NAMED, overtakes_one, "order", "order.stored-before-an-earlier-message"),
    (NAMED, goes_to_another_queue, "queue-choice", "queue.out-of-turn/first"),
    (NAMED, carries_another_body, "content", "content.body-changed"),
]


@pytest.mark.parametrize(
    ("story", "defect", "check", "signature"),
    DEFECTS,
    ids=[f"{story.kind}-{defect.__name__}" for story, defect, _, _ in DEFECTS],
)
def test_it_is_found_to_the_exit_code(
    story: Story,
    defect: Defect,
    check: str,
    signature: str,
    new_run: Callable[..., RunDirectory],
    ending_of: Callable[..., Ended],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The check diverges with its signature and exit code 1, and judging send by send reports the same."""
    run = new_run([story], baseline="java:5.3.3", candidate="python:5.3.3", change=defect)
    trace = read_case(run, 1)
    case = case_columns(trace, rulebook_for(trace))
    assert case is not None
    assert case.slow[AT]
    assert case.slow.sum() < 6
    ended = ending_of(run)
    assert ended.judgement.exit_code is ExitCode.DIVERGES
    found = {
        (result.check, divergence.signature)
        for result in ended.judgement.results
        if result.verdict is Verdict.DIVERGES
        for divergence in result.divergences
    }
    assert (check, signature) in found
    monkeypatch.setenv(PLAIN_REPLAY, "1")
    assert ending_of(run).text == ended.text
