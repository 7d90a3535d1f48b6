"""
The bank of defective clients, each with the checks that must find it.

Reported defects (``rocketdiff.subjects.reported_defects``) are live toys too; the others change stored messages or
callbacks.
"""

from collections.abc import Mapping
from dataclasses import replace

from rocketdiff.core.records.sending import NEVER_CALLED_BACK, CalledBackAgain
from rocketdiff.subjects.reported_defects import REPORTED_DEFECTS, DefectKind, ReportedDefect, reported, strikes
from tests.analysis.sending.bank_acting import ACTING
from tests.analysis.sending.bank_moved import MOVED
from tests.analysis.sending.bank_rare import RARE
from tests.analysis.sending.bank_spoils import Defect, Spoil, altered, of_sends, of_stored
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
    def spoil(records: ArmRecords, _: ModeStory) -> None:
        attempts = [reported(defect, attempt) for attempt in records.attempts]
        records.attempts = [attempt for attempt in attempts if attempt is not None]  # type: ignore[misc]  # a defect keeps the record type
        records.sends = [reported(defect, send) for send in records.sends]  # type: ignore[misc]  # the same

    story = BESIDE_A_PAUSE if defect.needs_failure else CALM
    return Defect(defect.kind, defect.sentence, defect.checks, story, spoil)


def _twice(records: ArmRecords, _: ModeStory) -> None:
    records.stored += [
        replace(message, queue_offset=5_000 + (message.send or 0))
        for message in records.stored
        if message.send and strikes(message.send)
    ]


def _once_twice(records: ArmRecords, _: ModeStory) -> None:
    records.stored.append(replace(records.stored[50], queue_offset=5_000))


def _stranger(records: ArmRecords, _: ModeStory) -> None:
    records.stored.append(Stored(HEALTHY, 0, 9_999, None, properties="", body_digest="x", flag=0))


def _never_called(every: int) -> Spoil:
    return of_sends(
        lambda send: replace(send, error=NEVER_CALLED_BACK, status=None, broker=None, queue_id=None, queue_offset=None),
        every,
    )


def _called_again(records: ArmRecords, _: ModeStory) -> None:
    records.again = [
        CalledBackAgain(send.send, 0, send.end_ns + MS, status=send.status)
        for send in records.sends
        if strikes(send.send)
    ]


def _overtaken(records: ArmRecords, _: ModeStory) -> None:
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


def _undelayed(records: ArmRecords, _: ModeStory) -> None:
    records.scheduled = [
        message for message in records.scheduled or () if message.send is None or not strikes(message.send)
    ]


def _retries_twice(records: ArmRecords, _: ModeStory) -> None:
    for number in sends_to(records, HEALTHY, BESIDE_A_PAUSE)[:1]:
        go_elsewhere(records, number)


def _storage(sentence: str, spoil: Spoil, *checks: str) -> Defect:
    return Defect(DefectKind.STORAGE, sentence, checks, CALM, spoil)


def _content(sentence: str, spoil: Spoil, *further: str) -> Defect:
    return Defect(DefectKind.CONTENT, sentence, ("content", *further), CALM, spoil)


def _mode(sentence: str, story: ModeStory, spoil: Spoil, *checks: str) -> Defect:
    return Defect(DefectKind.MODES, sentence, checks, story, spoil)


def _held_back(ms: int, every: int) -> Spoil:
    def spoil(records: ArmRecords, _: ModeStory) -> None:
        records.stored = [
            replace(one, store_timestamp_ms=one.store_timestamp_ms + (0 if (one.send or 0) % every else ms))
            for one in records.stored
        ]

    return spoil


UNDISTURBED = replace(ONEWAY, pauses=(), sends=600, every_ms=10, checks=(*ONEWAY.checks, "outcomes", "pace"))
LOSES = of_stored(lambda _: None)
NO_KEYS = of_stored(lambda one: altered(one, KEYS=None))

STORED: Mapping[str, Defect] = {
    "loses": _storage("says ok of messages that are nowhere", LOSES, "loss"),
    "stores-twice": _storage("sends some messages twice and reports one", _twice, "duplication"),
    "stores-one-twice": _storage("sends one message of 300 twice", _once_twice, "duplication"),
    "stray": _storage("sends a message that nobody asked for", _stranger, "loss", "content", "duplication"),
    "stored-elsewhere": _storage(
        "stores on another queue than it says",
        of_stored(lambda one: replace(one, queue_id=(one.queue_id + 1) % 4, queue_offset=7_000 + (one.send or 0))),
        "queue-choice",
        "loss",
    ),
    "stored-on-other-broker": _storage(
        "stores on another broker than it says",
        of_stored(
            lambda one: replace(
                one, broker=HEALTHY if one.broker == PAUSED else PAUSED, queue_offset=7_000 + (one.send or 0)
            )
        ),
        "queue-choice",
        "loss",
    ),
    "other-body": _content(
        "changes the last byte of a body", of_stored(lambda one: replace(one, body_ok=False)), "loss"
    ),
    "broken-body": _content(
        "stores a body that does not begin with its id",
        of_stored(lambda one: replace(one, body_ok=False, body_digest="0" * 64)),
        "loss",
    ),
    "flag": _content("sets a flag that the message has not", of_stored(lambda one: replace(one, flag=7))),
    "sys-flag": _content("sets a system flag", of_stored(lambda one: replace(one, sys_flag=8))),
    "no-keys": _content("loses the keys", NO_KEYS),
    "other-keys": _content("changes the keys", of_stored(lambda one: altered(one, KEYS="K"))),
    "adds-a-tag": _content("adds a tag", of_stored(lambda one: altered(one, TAGS="x"))),
    "adds-a-property": _content("adds a property of its own", of_stored(lambda one: altered(one, colour="red"))),
    "adds-a-delay": _content("adds a delay level", of_stored(lambda one: altered(one, DELAY="1"))),
    "same-key": _content(
        "gives every message the same UNIQ_KEY", of_stored(lambda one: altered(one, UNIQ_KEY="U")), "duplication"
    ),
    "no-unique-key": _content("gives some messages no UNIQ_KEY", of_stored(lambda one: altered(one, UNIQ_KEY=None))),
    "born-at-zero": _content("is born in 1970", of_stored(lambda one: replace(one, born_timestamp_ms=1))),
    "born-tomorrow": _content(
        "is born a day later",
        of_stored(lambda one: replace(one, born_timestamp_ms=one.born_timestamp_ms + 86_400_000)),
    ),
    "goes-on": Defect(
        DefectKind.ATTEMPTS,
        "sends again after an answer that was ok, and says so",
        ("attempts",),
        BESIDE_A_PAUSE,
        _retries_twice,
    ),
    "results-without-offsets": Defect(
        DefectKind.PLACE,
        "names no offset in one result of fifty",
        ("queue-choice",),
        CALM,
        of_sends(lambda send: replace(send, queue_offset=None), every=50),
    ),
    "acknowledges-at-once": Defect(
        DefectKind.OUTCOME,
        "says ok before the broker has answered",
        ("outcomes",),
        CALM,
        of_sends(lambda send: replace(send, end_ns=send.start_ns + MS // 10), every=10),
    ),
    "fails-late": _mode(
        "calls back three seconds after the last attempt of a send that failed",
        ASYNC,
        of_sends(lambda send: replace(send, end_ns=send.end_ns + (3_000 * MS if send.error else 0)), every=1),
        "attempts",
    ),
    "never-called-back": _mode("does not call back for one send in ten", ASYNC, _never_called(10), "callbacks"),
    "never-once": _mode("does not call back for one send in 150", ASYNC, _never_called(150), "callbacks"),
    "called-again": _mode("calls back twice", ASYNC, _called_again, "callbacks"),
    "one-way-loses": _mode("sends some one-way messages nowhere", ONEWAY, LOSES, "loss"),
    "one-way-twice": _mode("sends some one-way messages twice", ONEWAY, _twice, "duplication"),
    "one-way-blocks": _mode(
        "returns from some one-way calls after most of a second",
        replace(ONEWAY, sends=300, every_ms=20),
        of_sends(lambda send: replace(send, end_ns=send.end_ns + 900 * MS)),
        "attempts",
        "timing",
        "outcomes",
        "error-kind",
    ),
    "one-way-held-back": _mode(
        "keeps one-way messages back for a third of a second", UNDISTURBED, _held_back(300, every=1), "pace"
    ),
    "one-way-held-at-times": _mode(
        "keeps one one-way message in ten back for a second", UNDISTURBED, _held_back(1_000, every=10), "outcomes"
    ),
    "one-way-content": _mode("loses the keys of one-way messages", ONEWAY, NO_KEYS, "content"),
    "async-loses": _mode("says ok of asynchronous messages that are nowhere", ASYNC, LOSES, "loss"),
    "overtaken": Defect(
        DefectKind.ORDER,
        "lets messages of one queue overtake each other",
        ("order", "queue-choice"),
        TO_QUEUE,
        _overtaken,
    ),
    "delivered-early": _mode(
        "has delayed messages delivered at once",
        DELAYED,
        of_stored(lambda one: replace(one, store_timestamp_ms=one.store_timestamp_ms - 1_000)),
        "delay",
    ),
    "not-kept-back": _mode("sends delayed messages without their delay", DELAYED, _undelayed, "delay"),
}

BANK: Mapping[str, Defect] = {
    **{name: _reported_defect(defect) for name, defect in REPORTED_DEFECTS.items()},
    **STORED,
    **ACTING,
    **RARE,
    **MOVED,
}
