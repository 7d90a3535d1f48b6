"""Defects of the bank, and functions that make a faithful client defective."""

import json
from collections.abc import Callable
from dataclasses import dataclass, fields, replace

from rocketdiff.core.records.sending import Send
from rocketdiff.core.sends.message import DELAY, KEYS, properties_text
from rocketdiff.subjects.reported_defects import DefectKind, strikes
from tests.analysis.synthetic import MS, ORIGIN_NS, ArmRecords, Brokers, Stored, play
from tests.analysis.synthetic_modes import ModeStory, carrying

Spoil = Callable[[ArmRecords, ModeStory], None]
"""Changes a faithful client's records into a defective client's."""


@dataclass(frozen=True)
class Defect:
    """
    One defective client in a scenario that triggers its defect.

    checks: one of them must find it. release: of both arms.
    """

    kind: DefectKind
    sentence: str
    checks: tuple[str, ...]
    story: ModeStory
    spoil: Spoil
    release: str = "5.3.3"


SEED = 77
"""Start of the counters of clients that behave differently."""


def _instead(records: ArmRecords, other: ArmRecords, keys: str) -> None:
    records.attempts, records.sends, records.routes = other.attempts, other.sends, other.routes
    records.stored = [carrying(message, keys) for message in other.stored]


def altered(one: Stored, **others: str | None) -> Stored:
    """Set these properties of a message, or remove them (None)."""
    carried = json.loads(one.properties or "{}") | others
    return replace(
        one, properties=properties_text({name: value for name, value in carried.items() if value is not None})
    )


def of_stored(change: Callable[[Stored], Stored | None]) -> Spoil:
    """Change or remove the stored messages of every tenth send."""

    def spoil(records: ArmRecords, _: ModeStory) -> None:
        changed = [change(one) if one.send is not None and strikes(one.send) else one for one in records.stored]
        records.stored = [one for one in changed if one is not None]

    return spoil


def of_sends(change: Callable[[Send], Send], every: int = 10) -> Spoil:
    """Change the results of every tenth send."""

    def spoil(records: ArmRecords, _: ModeStory) -> None:
        records.sends = [change(send) if send.send % every == every - 1 else send for send in records.sends]

    return spoil


def acting(release: str = "5.3.3", **settings: object) -> Spoil:
    """A client of that release with those settings."""

    def spoil(records: ArmRecords, story: ModeStory) -> None:
        other = replace(story, settings=replace(story.settings, **settings))  # type: ignore[arg-type]  # names of settings
        _instead(records, play(other, release, seed=SEED), story.keys)

    return spoil


class _Lingering(Brokers):
    """Answers reach the client 300 ms late during a pause."""

    def __init__(self, story: ModeStory) -> None:
        super().__init__(story)
        self._story = story

    def ask(self, broker: str, queue_id: int, now_ns: int, timeout_ms: int, send: int) -> tuple[int, int | None]:
        end_ns, offset = super().ask(broker, queue_id, now_ns, timeout_ms, send)
        spans = [(ORIGIN_NS + pause.at_ms * MS, pause.for_ms * MS) for pause in self._story.pauses]
        beside = any(from_ns <= now_ns < from_ns + for_ns for from_ns, for_ns in spans)
        return (end_ns + 300 * MS if beside and offset is not None else end_ns), offset


def lingers(records: ArmRecords, story: ModeStory) -> None:
    _instead(records, play(story, "5.3.3", SEED, _Lingering(story)), story.keys)


def fails_after_healing(records: ArmRecords, story: ModeStory) -> None:
    """Sends to a broker within two seconds after its pause are refused."""
    spans = [(pause.broker, ORIGIN_NS + (pause.at_ms + pause.for_ms + 100) * MS) for pause in story.pauses]
    refused = {
        attempt.send
        for attempt in records.attempts
        if any(
            attempt.broker == broker and from_ns < attempt.start_ns < from_ns + 2_000 * MS for broker, from_ns in spans
        )
    }
    error = "RemotingConnectException"
    records.attempts = [
        replace(attempt, error=error, status=None) if attempt.send in refused else attempt
        for attempt in records.attempts
    ]
    records.sends = [
        replace(
            send, error="MQClientException", cause=error, status=None, broker=None, queue_id=None, queue_offset=None
        )
        if send.send in refused
        else send
        for send in records.sends
    ]
    records.stored = [message for message in records.stored if message.send not in refused]


def one_queue(records: ArmRecords, _: ModeStory) -> None:
    ends: dict[str, int] = {}
    places: dict[int, int] = {}
    for place, one in enumerate(records.stored):
        offset = ends.get(one.broker, 0)
        ends[one.broker] = offset + 1
        assert one.send is not None
        places[one.send] = offset
        records.stored[place] = replace(one, queue_id=0, queue_offset=offset)
    records.attempts = [replace(attempt, queue_id=0) for attempt in records.attempts]
    records.sends = [replace(send, queue_id=0, queue_offset=places[send.send]) for send in records.sends]


def seven_of_eight(records: ArmRecords, story: ModeStory) -> None:
    class WithoutTheLast(ModeStory):
        @property
        def queues(self) -> tuple[tuple[str, int], ...]:
            return super().queues[:-1]

    fewer = WithoutTheLast(**{one.name: getattr(story, one.name) for one in fields(story)})
    _instead(records, play(fewer, "5.3.3", SEED), story.keys)


def shares_a_counter(records: ArmRecords, story: ModeStory) -> None:
    _instead(records, play(replace(story, threads=1), "5.3.3", SEED), story.keys)
    records.attempts = [replace(attempt, thread=attempt.send % story.threads) for attempt in records.attempts]
    records.sends = [replace(send, thread=send.send % story.threads) for send in records.sends]


def swaps_results(records: ArmRecords, _: ModeStory) -> None:
    """Exchange the results of two consecutive sends."""

    def of(one: Send, other: Send) -> Send:
        return replace(one, broker=other.broker, queue_id=other.queue_id, queue_offset=other.queue_offset)

    for place in range(9, len(records.sends) - 1, 10):
        one, other = records.sends[place], records.sends[place + 1]
        records.sends[place], records.sends[place + 1] = of(one, other), of(other, one)


def second_copies(change: Callable[[Stored], Stored]) -> Spoil:
    """Change only the message that a retry stored."""

    def spoil(records: ArmRecords, _: ModeStory) -> None:
        seen: set[int | None] = set()
        for place, one in enumerate(records.stored):
            if one.send in seen:
                records.stored[place] = change(one)
            seen.add(one.send)

    return spoil


def _under(one: Stored, send: int | None) -> Stored:
    """Give the message the id and body of another send."""
    return carrying(replace(one, send=send), json.loads(one.properties or "{}").get(KEYS, ""))


def swaps_messages(records: ArmRecords, _: ModeStory) -> None:
    """Exchange the ids of two consecutive messages."""
    whose = {place: one.send for place, one in enumerate(records.stored)}
    for place in range(9, len(records.stored) - 1, 10):
        one, other = records.stored[place], records.stored[place + 1]
        records.stored[place] = _under(one, whose[place + 1])
        records.stored[place + 1] = _under(other, whose[place])


def fails(error: str) -> Spoil:
    def spoil(records: ArmRecords, _: ModeStory) -> None:
        records.attempts = [
            replace(attempt, error=error, status=None) if strikes(attempt.send) else attempt
            for attempt in records.attempts
        ]
        records.sends = [
            replace(send, error=error, status=None, broker=None, queue_id=None, queue_offset=None)
            if strikes(send.send)
            else send
            for send in records.sends
        ]

    return spoil


def other_level(records: ArmRecords, _: ModeStory) -> None:
    records.scheduled = [
        altered(replace(message, queue_id=1), **{DELAY: "2"}) if message.send and strikes(message.send) else message
        for message in records.scheduled or ()
    ]


def falls_silent(records: ArmRecords, _: ModeStory) -> None:
    """The second thread's messages are lost from send 100 on."""
    records.stored = [
        message for message in records.stored if not (message.send and message.send >= 100 and message.send % 2)
    ]
