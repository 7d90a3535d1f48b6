"""
Defective clients that behave differently: another release, other settings, or other broker answers.

Their records replace the candidate's.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace

from rocketdiff.core.records.sending import Send
from rocketdiff.core.sends.message import DELAY
from rocketdiff.subjects.reported_defects import DefectKind, strikes
from tests.analysis.sending.bank_spoils import SEED, Defect, Spoil, altered, of_sends, of_stored
from tests.analysis.stories import ASYNC, BESIDE_A_PAUSE, CALM, DELAYED, HEALTHY, ONEWAY, PAUSED
from tests.analysis.synthetic import MS, ORIGIN_NS, ArmRecords, Brokers, Pause, Stored, play
from tests.analysis.synthetic_modes import HALF_A_SECOND, ModeStory

OLD = "4.2.0"
"""For retries after timeouts: from 4.3.0 on all attempts share one timeout, used up by the first silent broker."""

REPEATED = replace(
    BESIDE_A_PAUSE,
    name="round-robin/repeated-pauses",
    pauses=tuple(Pause(PAUSED, 1_500 + 3_500 * number, 1_400) for number in range(6)),
    sends=1_150,
    checks=(*BESIDE_A_PAUSE.checks, "timing", "failover-time"),
)
WITH_LATENCY = replace(
    BESIDE_A_PAUSE,
    name="fault-latency/pause-one-of-two",
    settings=replace(HALF_A_SECOND, send_latency_fault_enable=True),
    checks=(*BESIDE_A_PAUSE.checks, "avoidance"),
)
BOTH_PAUSED = replace(
    BESIDE_A_PAUSE,
    name="round-robin/pause-both-of-two",
    pauses=(Pause(PAUSED, 1_000, 2_500), Pause(HEALTHY, 1_000, 2_500)),
)
CAPPED = replace(
    BESIDE_A_PAUSE,
    name="retries/capped-attempts-under-pauses",
    settings=replace(HALF_A_SECOND, send_msg_timeout_ms=1_000, send_msg_max_timeout_per_request_ms=150),
    pauses=tuple(Pause(PAUSED, 1_500 + 1_500 * number, 600) for number in range(3)),
    sends=600,
    every_ms=10,
    checks=(*BESIDE_A_PAUSE.checks, "timing", "failover-time"),
)
TWO_THREADS = replace(CALM, name="round-robin/calm-two-threads", threads=2)
CALM_ASYNC = replace(ASYNC, name="async/calm", pauses=())
CALM_ONEWAY = replace(ONEWAY, name="one-way/calm", pauses=())


def act_instead(records: ArmRecords, other: ArmRecords, story: ModeStory) -> None:
    records.attempts, records.sends, records.routes = other.attempts, other.sends, other.routes
    records.stored = [story.carried(message) for message in other.stored]


def acting(release: str = "5.3.3", **settings: object) -> Spoil:
    """A client of that release with those settings."""

    def spoil(records: ArmRecords, story: ModeStory) -> None:
        other = replace(story, settings=replace(story.settings, **settings))  # type: ignore[arg-type]  # names of settings
        act_instead(records, play(other, release, seed=SEED), story)

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
    act_instead(records, play(story, "5.3.3", SEED, _Lingering(story)), story)


class _Late(Brokers):
    """The client notices each timeout later by some ms, which depend on how many there were."""

    def __init__(self, story: ModeStory, late_ms: Callable[[int], int]) -> None:
        super().__init__(story)
        self._late_ms = late_ms
        self._timeouts = 0

    def ask(self, broker: str, queue_id: int, now_ns: int, timeout_ms: int, send: int) -> tuple[int, int | None]:
        end_ns, offset = super().ask(broker, queue_id, now_ns, timeout_ms, send)
        self._timeouts += offset is None
        return (end_ns + self._late_ms(self._timeouts) * MS if offset is None else end_ns), offset


def notices_late(late_ms: Callable[[int], int]) -> Spoil:
    """A client that notices its timeouts late. late_ms: by their number, from 1."""

    def spoil(records: ArmRecords, story: ModeStory) -> None:
        act_instead(records, play(story, "5.3.3", SEED, _Late(story, late_ms)), story)

    return spoil


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
    records.sends = [
        replace(send, queue_id=0, queue_offset=places[send.send]) if send.send in places else send
        for send in records.sends
    ]


def seven_of_eight(records: ArmRecords, story: ModeStory) -> None:
    class WithoutTheLast(ModeStory):
        @property
        def queues(self) -> tuple[tuple[str, int], ...]:
            return super().queues[:-1]

    fewer = WithoutTheLast(**{one.name: getattr(story, one.name) for one in fields(story)})
    act_instead(records, play(fewer, "5.3.3", SEED), story)


def shares_a_counter(records: ArmRecords, story: ModeStory) -> None:
    act_instead(records, play(replace(story, threads=1), "5.3.3", SEED), story)
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


def swaps_messages(records: ArmRecords, story: ModeStory) -> None:
    """Exchange the ids of two consecutive messages."""
    whose = {place: one.send for place, one in enumerate(records.stored)}
    for place in range(9, len(records.stored) - 1, 10):
        one, other = records.stored[place], records.stored[place + 1]
        records.stored[place] = story.carried(replace(one, send=whose[place + 1]))
        records.stored[place + 1] = story.carried(replace(other, send=whose[place]))


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


def _waiting(sentence: str, timeout_ms: int, *checks: str) -> Defect:
    return Defect(DefectKind.TIMING, sentence, checks, REPEATED, acting(send_msg_timeout_ms=timeout_ms))


def _avoiding(sentence: str, story: ModeStory, spoil: Spoil) -> Defect:
    return Defect(DefectKind.PLACE, sentence, ("queue-choice", "avoidance"), story, spoil)


def _retrying(sentence: str, change: Callable[[Stored], Stored]) -> Defect:
    return Defect(DefectKind.CONTENT, sentence, ("content",), BESIDE_A_PAUSE, second_copies(change), OLD)


def _losing(sentence: str, story: ModeStory, error: str) -> Defect:
    return Defect(DefectKind.MODES, sentence, ("outcomes",), story, fails(error))


ACTING: Mapping[str, Defect] = {
    "patient": _waiting("waits half as long again as its timeout", 750, "timing", "attempts"),
    "twice-as-patient": _waiting("waits twice as long as its timeout", 1_000, "timing", "attempts"),
    "ignores-its-cap": Defect(
        DefectKind.TIMING,
        "waits for its whole timeout though an attempt has a limit",
        ("attempts",),
        CAPPED,
        acting(send_msg_max_timeout_per_request_ms=-1),
    ),
    "doubles-its-cap": Defect(
        DefectKind.TIMING,
        "waits 300 ms where an attempt has a limit of 150",
        ("attempts",),
        CAPPED,
        acting(send_msg_max_timeout_per_request_ms=300),
    ),
    "waits-longer-each-time": Defect(
        DefectKind.TIMING,
        "waits 10 ms longer with every timeout",
        ("attempts",),
        replace(REPEATED, name="round-robin/longer-each-time"),
        notices_late(lambda number: 10 * number),
    ),
    "a-quarter-quicker": _waiting("waits three quarters of its timeout", 375, "attempts"),
    "lingers": Defect(
        DefectKind.TIMING, "hears of answers 300 ms late beside a pause", ("timing", "failover-time"), REPEATED, lingers
    ),
    "no-retry": Defect(
        DefectKind.OUTCOME,
        "tries nothing again",
        ("error-kind", "attempts"),
        BESIDE_A_PAUSE,
        acting(retry_times_when_send_failed=0),
    ),
    "one-retry-more": Defect(
        DefectKind.ATTEMPTS,
        "tries once more than it may",
        ("attempts",),
        BOTH_PAUSED,
        acting(OLD, retry_times_when_send_failed=3),
        OLD,
    ),
    "one-retry-less": Defect(
        DefectKind.ATTEMPTS,
        "tries once less than it should",
        ("attempts",),
        BOTH_PAUSED,
        acting(OLD, retry_times_when_send_failed=1),
        OLD,
    ),
    "fails-after-healing": Defect(
        DefectKind.OUTCOME,
        "is refused by a broker for two seconds after its pause",
        ("outcomes", "attempts", "error-kind"),
        BESIDE_A_PAUSE,
        fails_after_healing,
    ),
    "acknowledges-early": Defect(
        DefectKind.OUTCOME,
        "says ok of some messages 800 ms before they are stored",
        ("outcomes", "loss", "content"),
        CALM,
        of_stored(lambda one: replace(one, store_timestamp_ms=one.store_timestamp_ms + 800)),
    ),
    "never-avoids": _avoiding(
        "keeps no fault table though it should", WITH_LATENCY, acting(send_latency_fault_enable=False)
    ),
    "always-avoids": _avoiding(
        "keeps a fault table though it should not", BESIDE_A_PAUSE, acting(send_latency_fault_enable=True)
    ),
    "of-4.9.8": _avoiding("avoids as 4.9.8 does and says that it is 5.3.3", WITH_LATENCY, acting("4.9.8")),
    "of-4.2.0": _avoiding("avoids as 4.2.0 does and says that it is 5.3.3", WITH_LATENCY, acting("4.2.0")),
    "one-queue": Defect(DefectKind.PLACE, "uses queue 0 of each broker only", ("queue-choice",), CALM, one_queue),
    "seven-of-eight": Defect(DefectKind.PLACE, "leaves the last queue out", ("queue-choice",), CALM, seven_of_eight),
    "shares-a-counter": Defect(
        DefectKind.THREADS, "has one counter for all threads", ("queue-choice",), TWO_THREADS, shares_a_counter
    ),
    "falls-silent": Defect(
        DefectKind.THREADS, "loses what one of two threads sends", ("loss",), TWO_THREADS, falls_silent
    ),
    "swaps-results": Defect(
        DefectKind.PLACE,
        "tells of some sends what the broker said of the next",
        ("queue-choice", "error-kind"),
        CALM,
        swaps_results,
    ),
    "swaps-messages": Defect(
        DefectKind.ORDER,
        "sends some messages in each other's place",
        ("queue-choice", "loss", "duplication"),
        CALM,
        swaps_messages,
    ),
    "new-key-on-retry": _retrying(
        "gives a retry a UNIQ_KEY of its own", lambda one: altered(one, UNIQ_KEY=f"R{one.send}")
    ),
    "no-keys-on-retry": _retrying("loses the keys on a retry", lambda one: altered(one, KEYS=None)),
    "flag-on-retry": _retrying("sets a flag on a retry", lambda one: replace(one, flag=1)),
    "asynchronous-returns-late": Defect(
        DefectKind.MODES,
        "returns from some asynchronous calls after most of a second",
        ("attempts", "outcomes", "timing", "error-kind", "callbacks"),
        replace(CALM_ASYNC, sends=300, every_ms=20),
        of_sends(lambda send: replace(send, returned_ns=send.start_ns + 900 * MS)),
    ),
    "one-way-answers": Defect(
        DefectKind.MODES,
        "tells a status of one-way sends",
        ("error-kind", "attempts", "queue-choice"),
        CALM_ONEWAY,
        of_sends(lambda send: replace(send, status="SEND_OK")),
    ),
    "asynchronous-loses-connections": _losing(
        "loses the connection of some asynchronous sends for no reason", CALM_ASYNC, "RemotingSendRequestException"
    ),
    "one-way-loses-connections": _losing(
        "loses the connection of some one-way sends for no reason", CALM_ONEWAY, "RemotingSendRequestException"
    ),
    "one-way-too-much": _losing(
        "refuses some one-way sends as too many", CALM_ONEWAY, "RemotingTooMuchRequestException"
    ),
    "other-level": Defect(
        DefectKind.MODES, "delays some messages under another level", ("delay",), DELAYED, other_level
    ),
}
