"""
Defective clients that behave differently: another release, other settings, or other broker answers.

Their records replace the candidate's.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from rocketdiff.subjects.reported_defects import DefectKind
from tests.analysis.sending.bank_spoils import (
    Defect,
    Spoil,
    acting,
    altered,
    fails,
    fails_after_healing,
    falls_silent,
    lingers,
    of_sends,
    of_stored,
    one_queue,
    other_level,
    second_copies,
    seven_of_eight,
    shares_a_counter,
    swaps_messages,
    swaps_results,
)
from tests.analysis.stories import ASYNC, BESIDE_A_PAUSE, CALM, DELAYED, HEALTHY, ONEWAY, PAUSED
from tests.analysis.synthetic import MS, Pause, Stored
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
TWO_THREADS = replace(CALM, name="round-robin/calm-two-threads", threads=2)
CALM_ASYNC = replace(ASYNC, name="async/calm", pauses=())
CALM_ONEWAY = replace(ONEWAY, name="one-way/calm", pauses=())


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
