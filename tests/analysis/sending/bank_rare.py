"""Defective clients of the bank that few scenarios give an opportunity (``python -m maintenance.opportunities``)."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.subjects.reported_defects import DefectKind
from rocketmq_reference.dialects import dialect_of
from tests.analysis.sending.bank_acting import BOTH_PAUSED, CALM_ASYNC, CALM_ONEWAY, WITH_LATENCY, act_instead
from tests.analysis.sending.bank_spoils import SEED, Defect, Spoil, altered, of_sends
from tests.analysis.stories import BESIDE_A_PAUSE, HEALTHY, PAUSED
from tests.analysis.synthetic import MS, ArmRecords, Pause, Stored, play
from tests.analysis.synthetic_modes import ModeStory

BESIDE_A_DEAD_BROKER = replace(
    BESIDE_A_PAUSE,
    name="round-robin/kill-one-of-two",
    pauses=(Pause(PAUSED, 1_500, 0, FaultKind.KILL, refuses=True),),
    sends=270,
    every_ms=10,
    tags="t",
)
AVOIDED_AND_DEAD = replace(
    WITH_LATENCY,
    name="fault-latency/kill-beside-an-avoided-broker",
    settings=replace(WITH_LATENCY.settings, send_msg_timeout_ms=300),
    pauses=(Pause(HEALTHY, 1_500, 600), Pause(PAUSED, 2_400, 0, FaultKind.KILL, refuses=True)),
    sends=450,
    every_ms=10,
)


def keeps_its_index(records: ArmRecords, story: ModeStory) -> None:
    """The client's retries go on counting."""
    dialect = dialect_of("5.3.3")
    index = replace(dialect.producer.index, resets=False)
    dialect = replace(dialect, producer=replace(dialect.producer, index=index))
    act_instead(records, play(story, "5.3.3", SEED, dialect=dialect), story)


def every_third_retry(change: Callable[[Stored], Stored]) -> Spoil:
    """Change what every third send that was retried has stored."""

    def spoil(records: ArmRecords, _: ModeStory) -> None:
        retried = {attempt.send for attempt in records.attempts if attempt.attempt}
        struck = set(sorted(retried)[2::3])
        records.stored = [change(message) if message.send in struck else message for message in records.stored]

    return spoil


def opens_a_circuit(records: ArmRecords, _: ModeStory) -> None:
    """After three failed attempts in a row the next ten sends fail at once, without an attempt."""
    refused: set[int] = set()
    failed = 0
    for attempt in sorted(records.attempts, key=lambda one: one.end_ns):
        failed = failed + 1 if attempt.error else 0
        if failed == 3:
            refused |= set(range(attempt.send + 1, attempt.send + 11))
    records.attempts = [attempt for attempt in records.attempts if attempt.send not in refused]
    records.stored = [message for message in records.stored if message.send not in refused]
    records.sends = [
        replace(
            send,
            end_ns=send.start_ns + MS,
            error="MQClientException",
            cause=None,
            status=None,
            broker=None,
            queue_id=None,
            queue_offset=None,
        )
        if send.send in refused
        else send
        for send in records.sends
    ]


def drops_the_first(records: ArmRecords, _: ModeStory) -> None:
    """The first message to each broker is lost."""
    first = {message.broker: message.send for message in reversed(records.stored)}
    records.stored = [message for message in records.stored if message.send != first[message.broker]]


def _retrying_at_times(sentence: str, change: Callable[[Stored], Stored], *checks: str) -> Defect:
    return Defect(DefectKind.CONTENT, sentence, checks, BESIDE_A_DEAD_BROKER, every_third_retry(change))


RARE: Mapping[str, Defect] = {
    "keeps-its-index": Defect(
        DefectKind.PLACE,
        "goes on counting where a retry starts from a new index",
        ("queue-choice",),
        AVOIDED_AND_DEAD,
        keeps_its_index,
    ),
    "no-tags-on-third-retry": _retrying_at_times(
        "loses the tag on every third retry", lambda one: altered(one, TAGS=None), "content"
    ),
    "no-keys-on-third-retry": _retrying_at_times(
        "loses the keys on every third retry", lambda one: altered(one, KEYS=None), "content"
    ),
    "other-body-on-third-retry": _retrying_at_times(
        "changes the body on every third retry", lambda one: replace(one, body_ok=False), "content", "loss"
    ),
    "opens-a-circuit": Defect(
        DefectKind.OUTCOME,
        "sends nothing for a while after three failures in a row",
        ("attempts", "outcomes", "error-kind"),
        BOTH_PAUSED,
        opens_a_circuit,
    ),
    "calls-back-late": Defect(
        DefectKind.MODES,
        "calls back 30 to 70 ms after the answers, in another order",
        ("callbacks",),
        CALM_ASYNC,
        of_sends(lambda send: replace(send, end_ns=send.end_ns + (30 + 20 * (send.send % 3)) * MS), every=1),
    ),
    "one-way-loses-the-first": Defect(
        DefectKind.MODES,
        "drops one-way messages while it makes a connection",
        ("loss",),
        CALM_ONEWAY,
        drops_the_first,
    ),
}
