"""
The bank of defective clients, each with the suite and the checks that must find it.

Reported defects (``rocketdiff.subjects.reported_defects``) are live toys too; the others change stored messages or
callbacks.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from rocketdiff.core.records.sending import NEVER_CALLED_BACK, CalledBackAgain
from rocketdiff.subjects.reported_defects import REPORTED_DEFECTS, DefectKind, ReportedDefect, reported, strikes
from tests.analysis.sending.bank_acting import ACTING
from tests.analysis.sending.bank_spoils import Defect, altered, of_records
from tests.analysis.stories import (
    ASYNC,
    BESIDE_A_PAUSE,
    CALM,
    DELAYED,
    HEALTHY,
    ONEWAY,
    PAUSED,
    TO_QUEUE,
    go_elsewhere,
    sends_to,
)
from tests.analysis.synthetic import MS, ArmRecords, Stored
from tests.analysis.synthetic_modes import ModeStory


def _reported_defect(defect: ReportedDefect) -> Defect:
    def spoil(records: ArmRecords) -> None:
        attempts = [reported(defect, attempt) for attempt in records.attempts]
        records.attempts = [attempt for attempt in attempts if attempt is not None]  # type: ignore[misc]  # a defect keeps the record type
        records.sends = [reported(defect, send) for send in records.sends]  # type: ignore[misc]  # the same

    return Defect(
        defect.kind,
        defect.sentence,
        "quick",
        defect.checks,
        BESIDE_A_PAUSE if defect.needs_failure else CALM,
        of_records(spoil),
    )


def _stored(change: Callable[[Stored], Stored | None]) -> Callable[[ArmRecords], None]:
    """Change or remove the stored messages of some sends."""

    def spoil(records: ArmRecords) -> None:
        changed = [
            change(message) if message.send is not None and strikes(message.send) else message
            for message in records.stored
        ]
        records.stored = [one for one in changed if one is not None]

    return spoil


def _carrying(**others: str) -> Callable[[ArmRecords], None]:
    return _stored(lambda one: altered(one, **others))


def _twice(records: ArmRecords) -> None:
    records.stored += [
        replace(message, queue_offset=5_000 + (message.send or 0))
        for message in records.stored
        if message.send and strikes(message.send)
    ]


def _once_twice(records: ArmRecords) -> None:
    records.stored.append(replace(records.stored[50], queue_offset=5_000))


def _stranger(records: ArmRecords) -> None:
    records.stored.append(Stored(HEALTHY, 0, 9_999, None, properties="", body_digest="x", flag=0))


def _never_called(every: int) -> Callable[[ArmRecords], None]:
    def spoil(records: ArmRecords) -> None:
        records.sends = [
            replace(send, error=NEVER_CALLED_BACK, status=None, broker=None, queue_id=None, queue_offset=None)
            if send.send % every == every - 1
            else send
            for send in records.sends
        ]

    return spoil


def _called_again(records: ArmRecords) -> None:
    records.again = [
        CalledBackAgain(send.send, 0, send.end_ns + MS, status=send.status)
        for send in records.sends
        if strikes(send.send)
    ]


def _blocks(records: ArmRecords) -> None:
    records.sends = [
        replace(send, end_ns=send.end_ns + 900 * MS) if strikes(send.send) else send for send in records.sends
    ]


def _overtaken(records: ArmRecords) -> None:
    """Swap every tenth message of a queue with its successor."""
    held = {(message.broker, message.queue_id, message.queue_offset): message for message in records.stored}
    for place, one in sorted(held.items()):
        after = held.get((place[0], place[1], place[2] + 1))
        if one.send is not None and after is not None and one.queue_offset % 10 == 0:
            held[place], held[place[0], place[1], place[2] + 1] = (
                replace(after, queue_offset=place[2]),
                replace(one, queue_offset=place[2] + 1),
            )
    records.stored = list(held.values())


def _delivered(shift_ms: int) -> Callable[[ArmRecords], None]:
    return _stored(lambda one: replace(one, store_timestamp_ms=one.store_timestamp_ms + shift_ms))


def _undelayed(records: ArmRecords) -> None:
    records.scheduled = [
        message for message in records.scheduled or () if message.send is None or not strikes(message.send)
    ]


def _retries_twice(records: ArmRecords) -> None:
    for number in sends_to(records, HEALTHY, BESIDE_A_PAUSE)[:1]:
        go_elsewhere(records, number)


def _of(
    kind: DefectKind,
    sentence: str,
    suite: str,
    checks: tuple[str, ...],
    story: ModeStory,
    spoil: Callable[[ArmRecords], None],
) -> Defect:
    return Defect(kind, sentence, suite, checks, story, of_records(spoil))


STORED: Mapping[str, Defect] = {
    "loses": _of(
        DefectKind.STORAGE, "says ok of messages that are nowhere", "quick", ("loss",), CALM, _stored(lambda _one: None)
    ),
    "stores-twice": _of(
        DefectKind.STORAGE, "sends some messages twice and reports one", "quick", ("duplication",), CALM, _twice
    ),
    "stores-one-twice": _of(
        DefectKind.STORAGE, "sends one message of 300 twice", "quick", ("duplication",), CALM, _once_twice
    ),
    "stray": _of(
        DefectKind.STORAGE,
        "sends a message that nobody asked for",
        "quick",
        ("loss", "content", "duplication"),
        CALM,
        _stranger,
    ),
    "stored-elsewhere": _of(
        DefectKind.STORAGE,
        "stores on another queue than it says",
        "quick",
        ("queue-choice", "loss"),
        CALM,
        _stored(lambda one: replace(one, queue_id=(one.queue_id + 1) % 4, queue_offset=7_000 + (one.send or 0))),
    ),
    "stored-on-other-broker": _of(
        DefectKind.STORAGE,
        "stores on another broker than it says",
        "quick",
        ("queue-choice", "loss"),
        CALM,
        _stored(
            lambda one: replace(
                one, broker=HEALTHY if one.broker == PAUSED else PAUSED, queue_offset=7_000 + (one.send or 0)
            )
        ),
    ),
    "other-body": _of(
        DefectKind.CONTENT,
        "changes the last byte of a body",
        "quick",
        ("content", "loss"),
        CALM,
        _stored(lambda one: replace(one, body_ok=False)),
    ),
    "broken-body": _of(
        DefectKind.CONTENT,
        "stores a body that does not begin with its id",
        "quick",
        ("content", "loss"),
        CALM,
        _stored(lambda one: replace(one, body_ok=False, body_digest="0" * 64)),
    ),
    "flag": _of(
        DefectKind.CONTENT,
        "sets a flag that the message has not",
        "quick",
        ("content",),
        CALM,
        _stored(lambda one: replace(one, flag=7)),
    ),
    "sys-flag": _of(
        DefectKind.CONTENT,
        "sets a system flag",
        "quick",
        ("content",),
        CALM,
        _stored(lambda one: replace(one, sys_flag=8)),
    ),
    "no-keys": _of(
        DefectKind.CONTENT, "loses the keys", "quick", ("content",), CALM, _stored(lambda one: altered(one, KEYS=None))
    ),
    "other-keys": _of(
        DefectKind.CONTENT, "changes the keys", "quick", ("content",), CALM, _stored(lambda one: altered(one, KEYS="K"))
    ),
    "adds-a-tag": _of(DefectKind.CONTENT, "adds a tag", "quick", ("content",), CALM, _carrying(TAGS="x")),
    "adds-a-property": _of(
        DefectKind.CONTENT, "adds a property of its own", "quick", ("content",), CALM, _carrying(colour="red")
    ),
    "adds-a-delay": _of(DefectKind.CONTENT, "adds a delay level", "quick", ("content",), CALM, _carrying(DELAY="1")),
    "same-key": _of(
        DefectKind.CONTENT,
        "gives every message the same UNIQ_KEY",
        "quick",
        ("content", "duplication"),
        CALM,
        _carrying(UNIQ_KEY="U"),
    ),
    "no-unique-key": _of(
        DefectKind.CONTENT,
        "gives some messages no UNIQ_KEY",
        "quick",
        ("content",),
        CALM,
        _stored(lambda one: altered(one, UNIQ_KEY=None)),
    ),
    "born-at-zero": _of(
        DefectKind.CONTENT,
        "is born in 1970",
        "quick",
        ("content",),
        CALM,
        _stored(lambda one: replace(one, born_timestamp_ms=1)),
    ),
    "born-tomorrow": _of(
        DefectKind.CONTENT,
        "is born a day later",
        "quick",
        ("content",),
        CALM,
        _stored(lambda one: replace(one, born_timestamp_ms=one.born_timestamp_ms + 86_400_000)),
    ),
    "goes-on": _of(
        DefectKind.ATTEMPTS,
        "sends again after an answer that was ok, and says so",
        "quick",
        ("attempts",),
        BESIDE_A_PAUSE,
        _retries_twice,
    ),
    "never-called-back": _of(
        DefectKind.MODES, "does not call back for one send in ten", "modes", ("callbacks",), ASYNC, _never_called(10)
    ),
    "never-once": _of(
        DefectKind.MODES, "does not call back for one send in 150", "modes", ("callbacks",), ASYNC, _never_called(150)
    ),
    "called-again": _of(DefectKind.MODES, "calls back twice", "modes", ("callbacks",), ASYNC, _called_again),
    "one-way-loses": _of(
        DefectKind.MODES, "sends some one-way messages nowhere", "modes", ("loss",), ONEWAY, _stored(lambda _one: None)
    ),
    "one-way-twice": _of(
        DefectKind.MODES, "sends some one-way messages twice", "modes", ("duplication",), ONEWAY, _twice
    ),
    "one-way-blocks": _of(
        DefectKind.MODES,
        "returns from some one-way calls after most of a second",
        "modes",
        ("attempts", "timing", "outcomes", "error-kind"),
        replace(ONEWAY, sends=300, every_ms=20),
        _blocks,
    ),
    "one-way-content": _of(
        DefectKind.MODES,
        "loses the keys of one-way messages",
        "modes",
        ("content",),
        ONEWAY,
        _stored(lambda one: altered(one, KEYS=None)),
    ),
    "async-loses": _of(
        DefectKind.MODES,
        "says ok of asynchronous messages that are nowhere",
        "modes",
        ("loss",),
        ASYNC,
        _stored(lambda _one: None),
    ),
    "overtaken": _of(
        DefectKind.ORDER,
        "lets messages of one queue overtake each other",
        "modes",
        ("order", "queue-choice"),
        TO_QUEUE,
        _overtaken,
    ),
    "delivered-early": _of(
        DefectKind.MODES, "has delayed messages delivered at once", "modes", ("delay",), DELAYED, _delivered(-1_000)
    ),
    "not-kept-back": _of(
        DefectKind.MODES, "sends delayed messages without their delay", "modes", ("delay",), DELAYED, _undelayed
    ),
}

BANK: Mapping[str, Defect] = {
    **{name: _reported_defect(defect) for name, defect in REPORTED_DEFECTS.items()},
    **STORED,
    **ACTING,
}
