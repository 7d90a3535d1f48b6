"""
Defective clients that behave differently: another release, other settings, or other broker answers.

Their records replace the candidate's.
"""

from collections.abc import Mapping
from dataclasses import replace

from rocketdiff.subjects.reported_defects import DefectKind
from tests.analysis.sending.bank_spoils import (
    Defect,
    acknowledges_early,
    acting,
    altered,
    answers_one_way,
    fails,
    fails_after_healing,
    falls_silent,
    lingers,
    one_queue,
    other_level,
    returns_late,
    second_copies,
    seven_of_eight,
    shares_a_counter,
    swaps_messages,
    swaps_results,
)
from tests.analysis.stories import ASYNC, BESIDE_A_PAUSE, CALM, DELAYED, HEALTHY, ONEWAY, PAUSED
from tests.analysis.synthetic import Pause
from tests.analysis.synthetic_modes import HALF_A_SECOND

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


ACTING: Mapping[str, Defect] = {
    "patient": Defect(
        DefectKind.TIMING,
        "waits half as long again as its timeout",
        "quick",
        ("timing", "attempts"),
        REPEATED,
        acting(send_msg_timeout_ms=750),
    ),
    "twice-as-patient": Defect(
        DefectKind.TIMING,
        "waits twice as long as its timeout",
        "quick",
        ("timing", "attempts"),
        REPEATED,
        acting(send_msg_timeout_ms=1_000),
    ),
    "a-quarter-quicker": Defect(
        DefectKind.TIMING,
        "waits three quarters of its timeout",
        "quick",
        ("attempts",),
        REPEATED,
        acting(send_msg_timeout_ms=375),
    ),
    "lingers": Defect(
        DefectKind.TIMING,
        "hears of answers 300 ms late beside a pause",
        "quick",
        ("timing", "failover-time"),
        REPEATED,
        lingers,
    ),
    "no-retry": Defect(
        DefectKind.OUTCOME,
        "tries nothing again",
        "quick",
        ("error-kind", "attempts"),
        BESIDE_A_PAUSE,
        acting(retry_times_when_send_failed=0),
    ),
    "one-retry-more": Defect(
        DefectKind.ATTEMPTS,
        "tries once more than it may",
        "quick",
        ("attempts",),
        BOTH_PAUSED,
        acting(OLD, retry_times_when_send_failed=3),
        OLD,
    ),
    "one-retry-less": Defect(
        DefectKind.ATTEMPTS,
        "tries once less than it should",
        "quick",
        ("attempts",),
        BOTH_PAUSED,
        acting(OLD, retry_times_when_send_failed=1),
        OLD,
    ),
    "fails-after-healing": Defect(
        DefectKind.OUTCOME,
        "is refused by a broker for two seconds after its pause",
        "quick",
        ("outcomes", "attempts", "error-kind"),
        BESIDE_A_PAUSE,
        fails_after_healing,
    ),
    "acknowledges-early": Defect(
        DefectKind.OUTCOME,
        "says ok of some messages 800 ms before they are stored",
        "quick",
        ("outcomes", "loss", "content"),
        CALM,
        acknowledges_early,
    ),
    "never-avoids": Defect(
        DefectKind.PLACE,
        "keeps no fault table though it should",
        "quick",
        ("queue-choice", "avoidance"),
        WITH_LATENCY,
        acting(send_latency_fault_enable=False),
    ),
    "always-avoids": Defect(
        DefectKind.PLACE,
        "keeps a fault table though it should not",
        "quick",
        ("queue-choice", "avoidance"),
        BESIDE_A_PAUSE,
        acting(send_latency_fault_enable=True),
    ),
    "of-4.9.8": Defect(
        DefectKind.PLACE,
        "avoids as 4.9.8 does and says that it is 5.3.3",
        "quick",
        ("queue-choice", "avoidance"),
        WITH_LATENCY,
        acting("4.9.8"),
    ),
    "of-4.2.0": Defect(
        DefectKind.PLACE,
        "avoids as 4.2.0 does and says that it is 5.3.3",
        "quick",
        ("queue-choice", "avoidance"),
        WITH_LATENCY,
        acting("4.2.0"),
    ),
    "one-queue": Defect(
        DefectKind.PLACE, "uses queue 0 of each broker only", "quick", ("queue-choice",), CALM, one_queue
    ),
    "seven-of-eight": Defect(
        DefectKind.PLACE, "leaves the last queue out", "quick", ("queue-choice",), CALM, seven_of_eight
    ),
    "shares-a-counter": Defect(
        DefectKind.THREADS, "has one counter for all threads", "full", ("queue-choice",), TWO_THREADS, shares_a_counter
    ),
    "falls-silent": Defect(
        DefectKind.THREADS, "loses what one of two threads sends", "full", ("loss",), TWO_THREADS, falls_silent
    ),
    "swaps-results": Defect(
        DefectKind.PLACE,
        "tells of some sends what the broker said of the next",
        "quick",
        ("queue-choice", "error-kind"),
        CALM,
        swaps_results,
    ),
    "swaps-messages": Defect(
        DefectKind.ORDER,
        "sends some messages in each other's place",
        "quick",
        ("queue-choice", "loss", "duplication"),
        CALM,
        swaps_messages,
    ),
    "new-key-on-retry": Defect(
        DefectKind.CONTENT,
        "gives a retry a UNIQ_KEY of its own",
        "quick",
        ("content",),
        BESIDE_A_PAUSE,
        second_copies(lambda one: altered(one, UNIQ_KEY=f"R{one.send}")),
        OLD,
    ),
    "no-keys-on-retry": Defect(
        DefectKind.CONTENT,
        "loses the keys on a retry",
        "quick",
        ("content",),
        BESIDE_A_PAUSE,
        second_copies(lambda one: altered(one, KEYS=None)),
        OLD,
    ),
    "flag-on-retry": Defect(
        DefectKind.CONTENT,
        "sets a flag on a retry",
        "quick",
        ("content",),
        BESIDE_A_PAUSE,
        second_copies(lambda one: replace(one, flag=1)),
        OLD,
    ),
    "asynchronous-returns-late": Defect(
        DefectKind.MODES,
        "returns from some asynchronous calls after most of a second",
        "modes",
        ("attempts", "outcomes", "timing", "error-kind", "callbacks"),
        replace(CALM_ASYNC, sends=300, every_ms=20),
        returns_late,
    ),
    "one-way-answers": Defect(
        DefectKind.MODES,
        "tells a status of one-way sends",
        "modes",
        ("error-kind", "attempts", "queue-choice"),
        CALM_ONEWAY,
        answers_one_way,
    ),
    "asynchronous-loses-connections": Defect(
        DefectKind.MODES,
        "loses the connection of some asynchronous sends for no reason",
        "modes",
        ("outcomes",),
        CALM_ASYNC,
        fails("RemotingSendRequestException"),
    ),
    "one-way-loses-connections": Defect(
        DefectKind.MODES,
        "loses the connection of some one-way sends for no reason",
        "modes",
        ("outcomes",),
        CALM_ONEWAY,
        fails("RemotingSendRequestException"),
    ),
    "one-way-too-much": Defect(
        DefectKind.MODES,
        "refuses some one-way sends as too many",
        "modes",
        ("outcomes",),
        CALM_ONEWAY,
        fails("RemotingTooMuchRequestException"),
    ),
    "other-level": Defect(
        DefectKind.MODES, "delays some messages under another level", "modes", ("delay",), DELAYED, other_level
    ),
}
