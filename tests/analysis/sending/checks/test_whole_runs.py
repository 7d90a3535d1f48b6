"""
Whole synthetic runs, judged to the exit code: for each check one that conforms and one that diverges.

The bank (``tests/analysis/sending/bank.py``) has the other defective clients. Limits and cases stand in the check's own file.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.answers.verdict import Severity
from rocketdiff.core.arm import CANDIDATE, Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.sends.plan import SendKind
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.traces.manifest import Breach, ConnectionSample, ResourceSample, stamped
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.judged_to_the_end import Ended
from tests.analysis.stories import (
    ASYNC,
    ASYNC_WITH_LATENCY,
    BESIDE_A_PAUSE,
    DELAYED,
    EXACT,
    HEALTHY,
    ONEWAY,
    PAUSED,
    PLAIN,
    TO_QUEUE,
    Found,
    change_copies,
    change_send,
    go_elsewhere,
    sends_to,
)
from tests.analysis.synthetic import MS, ORIGIN_NS, ArmRecords, Change, Pause, Story
from tests.analysis.synthetic_modes import HALF_A_SECOND

NewRun = Callable[..., RunDirectory]
EndingOf = Callable[..., Ended]
EvidenceOf = Callable[[RunDirectory], dict[tuple[str, str], Evidence]]
ARMS = ("baseline", "candidate")
RESERVED = "FLUSH_SLAVE_TIMEOUT"

LATENCY = Story()
CALM = Story(name="calm", settings=HALF_A_SECOND, pauses=(), sends=100)
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
THREADS_BESIDE_PAUSES = replace(
    BESIDE_A_PAUSE,
    name="round-robin/pauses-and-threads",
    pauses=tuple(Pause(PAUSED, 1_500 + 3_000 * number, 1_300) for number in range(14)),
    sends=360,
    threads=4,
    every_ms=130,
)
"""Four threads, each sending every 520 ms, so a timeout of 500 ms delays no later send."""

ELSEWHERE_IF_RESERVED = replace(HALF_A_SECOND, retry_another_broker_when_not_store_ok=True)


def faithful(release: str) -> dict[str, str]:
    return {"baseline": f"java:{release}", "candidate": f"python:{release}"}


def found_in(ended: Ended) -> set[str]:
    return {divergence.signature for result in ended.judgement.results for divergence in result.divergences}


FAITHFUL: Mapping[str, tuple[Story, str]] = {
    **{f"plain/{release}": (PLAIN, release) for release in ("4.2.0", "4.6.1")},
    **{f"async/{release}": (ASYNC, release) for release in ("4.0.0-incubating", "4.2.0", "4.6.1")},
    **{f"async-to-queue/{release}": (replace(ASYNC, kind=SendKind.QUEUE), release) for release in ("4.2.0", "5.3.3")},
    **{f"async-with-latency/{release}": (ASYNC_WITH_LATENCY, release) for release in ("4.2.0", "5.3.3")},
    "one-way/4.6.1": (ONEWAY, "4.6.1"),
    "to-queue/4.2.0": (TO_QUEUE, "4.2.0"),
    "delayed/4.2.0": (DELAYED, "4.2.0"),
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


def struck(fields: Mapping[str, Any], *numbers: int, attempts: bool = False) -> Change:
    """Override fields of these sends. attempts: of their attempts too."""

    def change(records: ArmRecords) -> None:
        records.sends = [replace(send, **fields) if send.send in numbers else send for send in records.sends]
        if attempts:
            records.attempts = [replace(each, **fields) if each.send in numbers else each for each in records.attempts]

    return change


def of_failed(fields: Mapping[str, Any]) -> Change:
    """Override fields of all failed sends."""

    def change(records: ArmRecords) -> None:
        records.sends = [replace(send, **fields) if send.error else send for send in records.sends]

    return change


def later(late_ms: Callable[[Send], int]) -> Change:
    """Sends end later, and nothing else changes."""

    def change(records: ArmRecords) -> None:
        records.sends = [replace(send, end_ns=send.end_ns + late_ms(send) * MS) for send in records.sends]

    return change


def every_tenth(late_ms: int) -> Change:
    return later(lambda send: late_ms * (send.send % 10 == 9))


def out_of_turn(records: ArmRecords) -> None:
    """Send 20 goes two queues further than the queue whose turn it is, and all its records agree."""

    def on(queue: int) -> int:
        return (queue + 2) % 4

    records.attempts = [
        replace(each, queue_id=on(each.queue_id)) if each.send == 20 else each for each in records.attempts
    ]
    change_copies(records, 20, lambda copy: replace(copy, queue_id=on(copy.queue_id), queue_offset=9_000))
    change_send(records, 20, lambda send: replace(send, queue_id=on(send.queue_id or 0), queue_offset=9_000))


def insist(records: ArmRecords) -> None:
    """Retry a timed-out send; from 5.3.2 on no time is left for that."""
    number = next(send.send for send in records.sends if send.error is not None)
    go_elsewhere(records, number)
    ok = {"error": None, "cause": None, "status": "SEND_OK"}
    change_send(records, number, lambda send: replace(send, **ok, end_ns=send.end_ns + 2 * MS))  # type: ignore[arg-type]  # names of fields


def give_up(records: ArmRecords) -> None:
    """An asynchronous send that timed out is not tried again."""
    number = sends_to(records, PAUSED, ASYNC)[3]
    first = next(each for each in records.attempts if each.send == number)
    records.attempts = [each for each in records.attempts if each.send != number or each.attempt == 0]
    records.stored = [copy for copy in records.stored if copy.send != number or copy.broker == PAUSED]
    failed: dict[str, Any] = {"error": "MQClientException", "status": None, "broker": None, "queue_id": None}
    change_send(records, number, lambda send: replace(send, **failed, queue_offset=None, end_ns=first.end_ns))


def never_try(records: ArmRecords) -> None:
    """A send fails without an attempt, although its route is known."""
    records.attempts = [each for each in records.attempts if each.send != 9]
    records.stored = [copy for copy in records.stored if copy.send != 9]
    failed: dict[str, Any] = {"error": "MQClientException", "status": None, "broker": None, "queue_id": None}
    change_send(records, 9, lambda send: replace(send, **failed, queue_offset=None))


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


def refuse_in_calm(records: ArmRecords) -> None:
    """The call and the attempt of a stored message report a refused connection."""
    refused: dict[str, Any] = {"error": "RemotingConnectException", "status": None}
    records.attempts = [replace(each, **refused) if each.send == 9 else each for each in records.attempts]
    given_up: dict[str, Any] = refused | {"error": "MQClientException", "cause": "RemotingConnectException"}
    change_send(records, 9, lambda send: replace(send, **given_up, broker=None, queue_id=None, queue_offset=None))


def acknowledge_by_a_stopped_broker(records: ArmRecords) -> None:
    """A request to the paused broker is answered after 5 ms."""
    number = sends_to(records, PAUSED, ASYNC)[3]
    records.attempts = [
        replace(each, error=None, status="SEND_OK", end_ns=each.start_ns + 5 * MS)
        if each.send == number and each.attempt == 0
        else each
        for each in records.attempts
    ]


def wait_for_other_threads(records: ArmRecords) -> None:
    """A send waits until another thread's attempt has timed out, as for a lock."""
    blocked = [each for each in records.attempts if each.error is not None]

    def late_ns(mine: Attempt) -> int:
        ends = (
            each.end_ns
            for each in blocked
            if each.thread != mine.thread and each.start_ns < mine.start_ns < each.end_ns
        )
        return max((end_ns - mine.start_ns for end_ns in ends), default=0)

    more = {each.send: late_ns(each) for each in records.attempts if each.error is None}
    records.attempts = [replace(each, end_ns=each.end_ns + more.get(each.send, 0)) for each in records.attempts]
    records.sends = [replace(send, end_ns=send.end_ns + more.get(send.send, 0)) for send in records.sends]


def reverse_the_list(records: ArmRecords) -> None:
    records.routes = [replace(route, queues=tuple(reversed(route.queues))) for route in records.routes]


def answer_twice(records: ArmRecords) -> None:
    records.sends.insert(4, records.sends[3])


def hide_a_status(records: ArmRecords) -> None:
    """The call reports SEND_OK although its attempt was answered otherwise."""
    records.attempts = [replace(each, status=RESERVED) if each.send == 20 else each for each in records.attempts]


@dataclass(frozen=True, slots=True)
class Defect:
    """A defective candidate, the release both play, and all signatures; those of the baseline begin with ``rules/``."""

    story: Story
    change: Change | None
    found: set[str]
    release: str = "5.3.3"
    candidate: str = ""
    change_baseline: Change | None = None


UNASKED = f"outcomes.failed-without-cause/{RESERVED}"
"""These brokers do not wait for slaves, so they never answer this."""

HELD_UP = "outcomes.more-often/held-up"
SLOW_CALM = replace(CALM, sends=300, every_ms=700, checks=(*EXACT, "outcomes"))
DEFECTS: Mapping[str, Defect] = {
    "out-of-turn": Defect(CALM, out_of_turn, {"queue.out-of-turn/first"}),
    "wrong-offset": Defect(CALM, struck({"queue_offset": 77_777}, 5), {"witness.queue-or-offset-wrong"}),
    "other-list": Defect(CALM, reverse_the_list, {"queue.other-publish-list", "queue.out-of-turn/first"}),
    "older-release": Defect(
        replace(LATENCY, sends=1_000),
        None,
        {"avoidance.stayed-away-from-available-broker/first", "queue.out-of-turn/first"},
        candidate="java:5.1.3",
    ),
    "no-failover": Defect(ASYNC, keep_to_the_failed_broker, {"retry.returned-to-failed-broker/retry"}, "4.6.1"),
    "other-class": Defect(
        LATENCY,
        of_failed({"error": "RuntimeException"}),
        {"error.other-class/expected=RemotingTooMuchRequestException/seen=RuntimeException/first"},
    ),
    "other-cause": Defect(
        BOTH_PAUSED,
        of_failed({"cause": "IOException"}),
        {"error.other-cause/expected=RemotingTimeoutException/seen=IOException/retry"},
        "4.2.0",
    ),
    "no-cause": Defect(
        BOTH_PAUSED,
        of_failed({"cause": None}),
        {"error.other-cause/expected=RemotingTimeoutException/seen=none/retry"},
        "4.2.0",
    ),
    "a-cause-too-many": Defect(
        BOTH_PAUSED,
        of_failed({"cause": "RemotingTimeoutException"}),
        {"error.other-cause/expected=none/seen=RemotingTimeoutException/first"},
    ),
    "retries-without-time": Defect(ASYNC_WITH_LATENCY, insist, {"attempts.went-on/retry"}),
    "gives-up-early": Defect(ASYNC, give_up, {"attempts.stopped-early/first"}, "4.2.0"),
    "never-tries": Defect(
        PLAIN, never_try, {"attempts.stopped-early/first", "outcomes.failed-without-cause/MQClientException"}
    ),
    "refused-in-calm": Defect(
        ASYNC,
        refuse_in_calm,
        {
            "outcomes.failed-without-cause/RemotingConnectException",
            "error.other-class/expected=none/seen=MQClientException/first",
        },
    ),
    "answered-by-a-stopped-broker": Defect(
        ASYNC,
        acknowledge_by_a_stopped_broker,
        {"outcomes.acknowledged-by-a-stopped-broker", "attempts.stopped-early/first"},
    ),
    "hides-a-status": Defect(
        CALM,
        hide_a_status,
        {f"error.other-status/expected={RESERVED}/seen=SEND_OK/first", UNASKED},
    ),
    "keeps-a-reserved-message": Defect(
        replace(CALM, settings=ELSEWHERE_IF_RESERVED),
        struck({"status": RESERVED}, 20, attempts=True),
        {"attempts.stopped-early/retry", UNASKED},
    ),
    "held-up-in-calm": Defect(SLOW_CALM, every_tenth(300), {f"{HELD_UP}/calm"}),
    "held-up-beside-a-slow-baseline": Defect(
        SLOW_CALM,
        later(lambda send: 400 * (send.send % 2 == 0)),
        {f"{HELD_UP}/calm"},
        change_baseline=every_tenth(300),
    ),
    "held-up-in-pauses": Defect(THREADS_BESIDE_PAUSES, wait_for_other_threads, {f"{HELD_UP}/faults"}),
    "sleeps-after-a-failure": Defect(
        FOUR_PAUSES,
        later(lambda send: 200 * (send.error is not None)),
        {"timing.blocked-send-duration-differs", "failover-time.failover-time-per-timeout-differs"},
    ),
    "one-way-held-up": Defect(
        replace(ONEWAY, pauses=(), every_ms=700, sends=100, checks=("attempts", "loss")),
        later(lambda send: 517 * (send.send % 2)),
        {"attempts.call-held-up/oneway"},
    ),
    "answers-twice": Defect(CALM, answer_twice, {"protocol.answered-twice"}),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_ends_in_exit_code_1(name: str, new_run: NewRun, ending_of: EndingOf) -> None:
    """Each defect diverges with its signature."""
    defect = DEFECTS[name]
    subjects = faithful(defect.release) | ({"candidate": defect.candidate} if defect.candidate else {})
    run = new_run([defect.story], **subjects, change=defect.change, change_baseline=defect.change_baseline)
    ended = ending_of(run)
    assert (ended.judgement.exit_code, found_in(ended)) == (ExitCode.DIVERGES, defect.found)


ONE_EACH = {"broker-a": 1, "broker-b": 1, "name-server-1": 1}
LEFT_OPEN = "outcomes.connections-left-open/broker"


def with_connections(run: RunDirectory, *candidate: Mapping[str, int]) -> RunDirectory:
    """Every case held one connection to each server before its first send; at rest the candidate holds these."""
    start = ConnectionSample(ORIGIN_NS - 200 * MS, ONE_EACH, {})

    def samples(*held: Mapping[str, int]) -> tuple[ConnectionSample, ...]:
        return (
            start,
            *(ConnectionSample(ORIGIN_NS + (60_000 + n) * MS, dict(one), {}, True) for n, one in enumerate(held)),
        )

    connections = {str(Arm.BASELINE): samples(ONE_EACH), str(Arm.CANDIDATE): samples(*candidate)}
    for number in range(1, len(run.manifest.cases) + 1):
        run.change(number, lambda entry: replace(entry, connections=connections))
    return RunDirectory.open(run.path)


@pytest.mark.parametrize(
    ("stories", "release", "held", "found"),
    [
        ([PLAIN], "5.3.3", {"broker-b": 2}, set()),
        ([PLAIN], "5.3.3", {"broker-b": 3}, {LEFT_OPEN}),
        ([PLAIN], "5.5.0", {"broker-b": 10}, set()),
        ([CALM], "5.5.0", {"broker-b": 10}, {LEFT_OPEN}),
        (
            [replace(CALM, name=f"calm-{number}") for number in range(11)],
            "5.3.3",
            {"broker-a": 2},
            {"outcomes.more-often/connections-left-open"},
        ),
    ],
    ids=["a spare", "two too many", "a release that leaks by rule", "that release in calm", "one in each of 11 cases"],
)
def test_connections_left_open(
    stories: Sequence[Story],
    release: str,
    held: Mapping[str, int],
    found: set[str],
    new_run: NewRun,
    ending_of: EndingOf,
) -> None:
    """Over one spare connection diverges; from 5.4.0 on each failed attempt may leave two, here three attempts at broker-b."""
    ended = ending_of(with_connections(new_run(stories, **faithful(release)), held, held))
    assert (ended.judgement.exit_code, found_in(ended)) == (
        ExitCode.DIVERGES if found else ExitCode.CONFORMS,
        found,
    )


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


@dataclass(frozen=True)
class Begins(Story):
    """A calm case whose candidate starts only at allowed queues; 5.3.2 decides as 5.3.3 in calm."""

    pauses: tuple[()] = ()
    sends: int = 40
    allowed: Callable[[tuple[str, int]], bool] = lambda _place: True

    def play(self, release: str, seed: int) -> ArmRecords:
        """Try seeds until the candidate does so."""
        while True:
            records = Story.play(self, release, seed)
            first = records.attempts[0]
            if release != "5.3.2" or self.allowed((first.broker, first.queue_id)):
                return records
            seed += 1


@pytest.mark.parametrize(
    ("cases", "allowed", "level"),
    [
        (14, lambda place: place[0] == "broker-b", "broker"),
        (8, lambda place: place[1] == 3, "number"),
        (16, lambda _place: True, None),
    ],
    ids=["one broker", "each broker's last queue", "any queue"],
)
def test_clients_that_begin_alike(
    cases: int,
    allowed: Callable[[tuple[str, int]], bool],
    level: str | None,
    new_run: NewRun,
    ending_of: EndingOf,
) -> None:
    """Threads that start at one broker, or at each broker's last queue, diverge; random starts conform."""
    stories = [Begins(name=f"calm-{number}", allowed=allowed) for number in range(cases)]
    ended = ending_of(new_run(stories, candidate="python:5.3.2"))
    assert ended.judgement.exit_code is (ExitCode.DIVERGES if level else ExitCode.CONFORMS)
    assert (f"queue.begins-alike/{level}" in found_in(ended)) is (level is not None)


def test_a_baseline_that_is_held_up_in_calm_is_inconclusive(new_run: NewRun, ending_of: EndingOf) -> None:
    """A baseline held up by a crowded machine is no divergence and no pass."""
    ended = ending_of(new_run([SLOW_CALM], change_baseline=every_tenth(300)))
    assert (ended.judgement.exit_code, found_in(ended)) == (ExitCode.INCONCLUSIVE, set())
    (reason,) = (result.reason for result in ended.judgement.results if result.check == "outcomes")
    assert reason == "no calm baseline: 30 of 300 sends of java:5.3.3 were held up"


def test_a_client_without_causes_is_not_compared_by_them(new_run: NewRun, ending_of: EndingOf) -> None:
    """The C++ client does not declare that it reports causes."""
    run = new_run([BOTH_PAUSED], baseline="java:4.2.0", candidate="cpp:4.2.0", change=of_failed({"cause": None}))
    assert ending_of(run).judgement.exit_code is ExitCode.CONFORMS


def renamed(run: RunDirectory, subject: str, name: str) -> RunDirectory:
    """Let ``run.json`` name another client."""
    file = run.path / "run.json"
    file.write_bytes(stamped(json.loads(file.read_text().replace(subject, name))))
    return RunDirectory.open(run.path)


BY_RULES = ("queue-choice", "attempts", "avoidance", "error-kind")


def test_a_baseline_that_its_rules_do_not_explain_blames_them(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """Here the baseline plays another release than ``run.json`` says."""
    run = new_run([replace(LATENCY, sends=1_000)], baseline="java:5.1.3", candidate="java:5.1.3")
    evidence = evidence_of(renamed(run, "java:5.1.3", "java:5.3.3"))
    found = evidence[LATENCY.name, "avoidance"].divergences
    assert {divergence.signature for divergence in found if divergence.subject == "java:5.3.3"} >= {
        "rules/avoidance.stayed-away-from-available-broker/first"
    }


def test_a_baseline_without_rules_is_indecisive(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """Without rules for the baseline the checks by the rules are indecisive."""
    evidence = evidence_of(renamed(new_run(), '"java:5.3.3"', '"cpp:2.1.0"'))
    assert {evidence[LATENCY.name, check].standing for check in BY_RULES} == {Standing.INDECISIVE}
    assert "no rules are known for the baseline cpp:2.1.0" in evidence[LATENCY.name, "attempts"].reason


def test_a_candidate_without_attempts_is_indecisive(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A client without a hook shows only results: ``loss`` decides, ``queue-choice`` and ``duplication`` do not."""
    evidence = evidence_of(new_run(change=lambda records: records.attempts.clear()))
    standings = {check: evidence[LATENCY.name, check].standing for check in ("queue-choice", "duplication", "loss")}
    assert standings == {
        "queue-choice": Standing.INDECISIVE,
        "duplication": Standing.INDECISIVE,
        "loss": Standing.DECISIVE,
    }
    assert evidence[LATENCY.name, "queue-choice"].reason == "no attempt of python:5.3.3 was witnessed"


def test_the_choice_of_callbacks_that_write_the_fault_table_is_unknowable(found: Found) -> None:
    """With fault latency, no witness sees when callbacks update the fault table; older runs could plan the check."""
    evidence = found(replace(ASYNC_WITH_LATENCY, checks=("queue-choice", "error-kind")))["queue-choice"]
    assert (evidence.standing, evidence.divergences) == (Standing.NOT_APPLICABLE, ())
    assert "callbacks write the fault table" in evidence.reason


def test_a_dead_client_lets_no_other_check_conform(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """If the candidate died, ``protocol`` diverges, and no other check conforms by what it did before."""

    def die(records: ArmRecords) -> None:
        records.sends, records.attempts = records.sends[:20], records.attempts[:21]

    run = new_run([CALM], change=die)
    run.case(1).lost(CANDIDATE, Breach("protocol.died", "a living subject", "exit code 137"))
    evidence = evidence_of(run)
    assert [divergence.signature for divergence in evidence["calm", "protocol"].divergences] == ["protocol.died"]
    for check in ("queue-choice", "loss", "duplication"):
        assert (evidence["calm", check].standing, evidence["calm", check].reason) == (
            Standing.INDECISIVE,
            "python:5.3.3 broke off",
        )


def test_a_difference_of_an_unplanned_check_is_reported(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """A lost message fails a run that planned only ``queue-choice``; unplanned checks without a finding stay absent."""
    run = new_run(
        [replace(CALM, checks=("queue-choice",))], change=lambda records: change_copies(records, 3, lambda _copy: None)
    )
    evidence = evidence_of(run)
    (divergence,) = evidence["calm", "loss"].divergences
    assert (divergence.signature, divergence.count) == ("loss.acknowledged-not-stored", 1)
    assert evidence["calm", "loss"].severity is Severity.MUST
    implicit = {"protocol", "validity", "outcomes", "resources"}
    assert {check for _, check in evidence} == {"queue-choice", "loss", *implicit}


def test_an_example_shows_the_attempts_of_both_arms(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """The example of a queue out of turn has both arms' attempts side by side."""
    evidence = evidence_of(new_run([CALM], change=out_of_turn))["calm", "queue-choice"]
    (example,) = (divergence.example for divergence in evidence.divergences)
    assert (example.where.number, example.phase) == (20, "calm")
    assert [(side.arm, attempt.send) for side in example.sides for attempt in side.attempts] == [
        ("baseline", 20),
        ("candidate", 20),
    ]
