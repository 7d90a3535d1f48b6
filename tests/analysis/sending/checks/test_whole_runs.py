"""
Whole synthetic runs, judged to the exit code.

Faithful clients of each mode and generation of rules, and defects that the bank (``tests/analysis/sending/bank.py``) does not
have. Limits and cases stand in the check's own file.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from rocketdiff.core.errors import ExitCode
from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.sends.plan import SendKind
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.traces.manifest import ResourceSample
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.judged_to_the_end import Ended
from tests.analysis.stories import (
    ASYNC,
    ASYNC_WITH_LATENCY,
    CALM,
    DELAYED,
    EXACT,
    HEALTHY,
    ONEWAY,
    PAUSED,
    PLAIN,
    TO_QUEUE,
    change_copies,
    change_send,
)
from tests.analysis.synthetic import MS, ORIGIN_NS, ArmRecords, Change, Pause, Story

NewRun = Callable[..., RunDirectory]
EndingOf = Callable[..., Ended]

LATENCY = Story()
BOTH_PAUSED = Story(
    settings=ClientSettings(send_msg_timeout_ms=300),
    pauses=(Pause("broker-a", 500, 2_000), Pause("broker-b", 500, 2_000)),
    sends=120,
)
"""4.2.0 gives up after three timeouts, 5.3.3 when the time for all attempts is spent."""

FOUR_ATTEMPTS = replace(
    BOTH_PAUSED, settings=ClientSettings(send_msg_timeout_ms=300, retry_times_when_send_failed=3), sends=200
)
FOUR_PAUSES = replace(
    LATENCY,
    name="repeated",
    pauses=tuple(Pause(PAUSED, 1_000 + 12_000 * number, 1_500) for number in range(4)),
    sends=1_250,
    every_ms=40,
)
SLOW_CALM = replace(CALM, sends=300, every_ms=700, checks=(*EXACT, "outcomes"))


def faithful(release: str) -> dict[str, str]:
    return {"baseline": f"java:{release}", "candidate": f"python:{release}"}


def found_in(ended: Ended) -> set[str]:
    return {divergence.signature for result in ended.judgement.results for divergence in result.divergences}


FAITHFUL: Mapping[str, tuple[Story, str]] = {
    "plain": (PLAIN, "4.6.1"),
    **{f"async/{release}": (ASYNC, release) for release in ("4.0.0-incubating", "4.2.0", "4.6.1")},
    **{f"async-to-queue/{release}": (replace(ASYNC, kind=SendKind.QUEUE), release) for release in ("4.2.0", "5.3.3")},
    **{f"async-with-latency/{release}": (ASYNC_WITH_LATENCY, release) for release in ("4.2.0", "5.3.3")},
    "one-way": (ONEWAY, "4.6.1"),
    "to-queue": (TO_QUEUE, "4.2.0"),
    "delayed": (DELAYED, "4.2.0"),
    **{f"latency/{release}": (LATENCY, release) for release in ("4.2.0", "5.1.4")},
    "threads-with-latency": (replace(LATENCY, pauses=(), threads=2, sends=60), "5.3.3"),
    **{f"gives-up/{release}": (BOTH_PAUSED, release) for release in ("4.2.0", "5.3.3")},
    "four-attempts": (FOUR_ATTEMPTS, "4.2.0"),
}


@pytest.mark.parametrize(("story", "release"), FAITHFUL.values(), ids=FAITHFUL)
def test_faithful_clients_conform(story: Story, release: str, new_run: NewRun, ending_of: EndingOf) -> None:
    """Two faithful clients conform in each send mode and generation of rules, with every check that was planned."""
    ended = ending_of(new_run([story], **faithful(release)))
    assert (ended.judgement.exit_code, found_in(ended)) == (ExitCode.CONFORMS, set())


def later(late_ms: Callable[[Send], int]) -> Change:
    """Sends end later, and nothing else changes."""

    def change(records: ArmRecords) -> None:
        records.sends = [replace(send, end_ns=send.end_ns + late_ms(send) * MS) for send in records.sends]

    return change


def out_of_turn(records: ArmRecords) -> None:
    """Send 20 goes two queues further than the queue whose turn it is, and all its records agree."""

    def on(queue: int) -> int:
        return (queue + 2) % 4

    records.attempts = [
        replace(each, queue_id=on(each.queue_id)) if each.send == 20 else each for each in records.attempts
    ]
    change_copies(records, 20, lambda copy: replace(copy, queue_id=on(copy.queue_id), queue_offset=9_000))
    change_send(records, 20, lambda send: replace(send, queue_id=on(send.queue_id or 0), queue_offset=9_000))


def keep_to_the_failed_broker(records: ArmRecords) -> None:
    """An asynchronous client whose every retry goes to the broker that failed."""
    records.attempts = [replace(each, broker=PAUSED) if each.attempt else each for each in records.attempts]
    retried = {each.send for each in records.attempts if each.attempt}
    records.stored = [
        replace(copy, broker=PAUSED, queue_offset=20_000 + place)
        if copy.send in retried and copy.broker == HEALTHY
        else copy
        for place, copy in enumerate(records.stored)
    ]
    for number in retried:
        change_send(records, number, lambda send: replace(send, broker=PAUSED, queue_offset=None))


def reverse_the_list(records: ArmRecords) -> None:
    records.routes = [replace(route, queues=tuple(reversed(route.queues))) for route in records.routes]


def answer_twice(records: ArmRecords) -> None:
    records.sends.insert(4, records.sends[3])


def hide_causes(records: ArmRecords) -> None:
    records.sends = [replace(send, cause=None) if send.error else send for send in records.sends]


def outlast(records: ArmRecords) -> None:
    """Failed attempts take 2.6 s instead of 0.5 s; nothing later moves."""
    failed = {attempt.send for attempt in records.attempts if attempt.error}

    def lasting(one: Attempt | Send) -> dict[str, Any]:
        return {"end_ns": one.start_ns + 2_600 * MS}

    records.attempts = [replace(each, **lasting(each)) if each.error else each for each in records.attempts]
    records.sends = [replace(send, **lasting(send)) if send.send in failed else send for send in records.sends]


def fail_without_trying(records: ArmRecords) -> None:
    """Sends in the pause fail as if their budget were spent, without an attempt."""
    hit = {send.send for send in records.sends if 1_000 * MS < send.start_ns - ORIGIN_NS < 3_000 * MS}
    records.attempts = [attempt for attempt in records.attempts if attempt.send not in hit]
    records.stored = [message for message in records.stored if message.send not in hit]
    failed: dict[str, Any] = {"error": "RemotingTooMuchRequestException", "status": None, "broker": None}
    for number in hit:
        change_send(records, number, lambda send: replace(send, **failed, queue_id=None, queue_offset=None))


@dataclass(frozen=True, slots=True)
class Defect:
    """A defective candidate, the release both play, and all signatures."""

    story: Story
    change: Change | None
    found: set[str]
    release: str = "5.3.3"
    candidate: str = ""


DEFECTS: Mapping[str, Defect] = {
    "out-of-turn": Defect(CALM, out_of_turn, {"queue.out-of-turn/first"}),
    "other-list": Defect(CALM, reverse_the_list, {"queue.other-publish-list", "queue.out-of-turn/first"}),
    "older-release": Defect(
        replace(LATENCY, sends=1_000),
        None,
        {"avoidance.stayed-away-from-available-broker/first", "queue.out-of-turn/first"},
        candidate="java:5.1.3",
    ),
    "no-failover": Defect(ASYNC, keep_to_the_failed_broker, {"retry.returned-to-failed-broker/retry"}, "4.6.1"),
    "no-cause": Defect(
        BOTH_PAUSED, hide_causes, {"error.other-cause/expected=RemotingTimeoutException/seen=none/retry"}, "4.2.0"
    ),
    "no-timeout": Defect(PLAIN, outlast, {"attempts.outlasted-timeout"}),
    "never-tries": Defect(PLAIN, fail_without_trying, {"attempts.stopped-early/first"}),
    "held-up-in-calm": Defect(
        SLOW_CALM, later(lambda send: 300 * (send.send % 10 == 9)), {"outcomes.more-often/held-up/calm"}
    ),
    "sleeps-after-a-failure": Defect(
        FOUR_PAUSES,
        later(lambda send: 200 * (send.error is not None)),
        {"timing.blocked-send-duration-differs", "failover-time.failover-time-per-timeout-differs"},
    ),
    "answers-twice": Defect(CALM, answer_twice, {"protocol.answered-twice"}),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_ends_in_exit_code_1(name: str, new_run: NewRun, ending_of: EndingOf) -> None:
    """Each defect diverges with its signature."""
    defect = DEFECTS[name]
    subjects = faithful(defect.release) | ({"candidate": defect.candidate} if defect.candidate else {})
    ended = ending_of(new_run([defect.story], **subjects, change=defect.change))
    assert (ended.judgement.exit_code, found_in(ended)) == (ExitCode.DIVERGES, defect.found)


def resources(pauses: Sequence[Pause], leak: int = 0, spins: float = 0.0) -> tuple[ResourceSample, ...]:
    """
    Samples of one arm, with memory and descriptors that stay.

    leak: threads left behind at the end of each pause. spins: share of a core used from the end of the first pause on.
    """
    ends_ms = sorted(pause.at_ms + pause.for_ms for pause in pauses)
    rest_ms = 60_000
    times_ms = [-200, *range(0, rest_ms, 1_500), *range(rest_ms, rest_ms + 1_500, 250)]
    return tuple(
        ResourceSample(
            ORIGIN_NS + at_ms * MS,
            30 + leak * sum(end_ms <= at_ms for end_ms in ends_ms),
            round(spins * max(0, at_ms - min(ends_ms, default=rest_ms)) * MS),
            120 << 20,
            118,
            0,
            at_ms >= rest_ms,
        )
        for at_ms in times_ms
    )


@pytest.mark.parametrize(
    ("use", "found"),
    [
        ({}, set()),
        ({"leak": 4}, set()),
        ({"leak": 10}, {"resources.threads-grow"}),
        ({"spins": 0.05}, set()),
        ({"spins": 0.9}, {"resources.busy-at-rest"}),
        ({"leak": 10, "spins": 0.9}, {"resources.threads-grow", "resources.busy-at-rest"}),
    ],
    ids=["faithful", "a pool", "a leak", "idle", "spins", "both"],
)
def test_leaked_threads_and_busy_loops(
    use: Mapping[str, Any], found: set[str], new_run: NewRun, ending_of: EndingOf
) -> None:
    """Threads left by failures, and a loop that never ends, diverge in a run whose sends are all correct."""
    run = new_run([PLAIN], **faithful("5.3.3"))
    samples = {"baseline": resources(PLAIN.pauses), "candidate": resources(PLAIN.pauses, **use)}
    run.change(1, lambda entry: replace(entry, resources=samples))
    ended = ending_of(RunDirectory.open(run.path))
    assert (ended.judgement.exit_code, found_in(ended)) == (ExitCode.DIVERGES if found else ExitCode.CONFORMS, found)
