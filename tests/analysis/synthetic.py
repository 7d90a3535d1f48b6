"""
Synthetic run directories: the reference's rules in virtual time, and brokers that pause.

A broker answers in 1 ms; a paused one answers when resumed, if the client still waits, and always stores the message.
Threads are played one after another, so they must not share state.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from random import Random

from rocketdiff.core.arm import Arm, Member
from rocketdiff.core.clock import ClockAnchor
from rocketdiff.core.records.sending import Attempt, CalledBackAgain, RouteSeen, Send
from rocketdiff.core.records.session import Done, Hello
from rocketdiff.core.run_info import Machine
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.protocol.records import encode_record
from rocketdiff.traces.manifest import CaseEntry, RunManifest
from rocketdiff.traces.recorder import plan_digest
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.client.publish import PublishInfo
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.producer.attempt import AttemptResult, Finish, Try
from rocketmq_reference.rules.producer.send_loop import SendLoop
from rocketmq_reference.rules.producer.settings import SendSettings
from rocketmq_reference.rules.queue_choice.fault_table import FaultTable
from rocketmq_reference.rules.queue_choice.index import ThreadIndex
from rocketmq_reference.rules.queue_choice.selection import Selector
from rocketmq_reference.rules.tape import RandomTape

MS = 1_000_000
ORIGIN_NS = 5_000_000_000_000
CHECKS = (
    "queue-choice",
    "attempts",
    "avoidance",
    "error-kind",
    "timing",
    "loss",
    "duplication",
    "failover-time",
)
MACHINE = Machine(system="Linux", processor="x", cores=2, memory_mib=4096, python="3.11", java="17")


@dataclass(frozen=True)
class Pause:
    """
    A pause of a broker, or another fault of a node; ms from the first due send, ``for_ms`` 0: never healed.

    refuses: meanwhile connections fail at once.
    """

    broker: str
    at_ms: int
    for_ms: int
    kind: FaultKind = FaultKind.PAUSE
    refuses: bool = False


@dataclass(frozen=True)
class Stored:
    """A message as read back from a broker."""

    broker: str
    queue_id: int
    queue_offset: int
    send: int | None
    store_timestamp_ms: int = 0
    born_timestamp_ms: int = 0
    body_ok: bool = True
    flag: int | None = None
    sys_flag: int | None = None
    properties: str | None = None
    body_digest: str | None = None


@dataclass
class ArmRecords:
    """One arm's records and stored messages; tests change them."""

    attempts: list[Attempt] = field(default_factory=list)
    sends: list[Send] = field(default_factory=list)
    stored: list[Stored] = field(default_factory=list)
    routes: list[RouteSeen] = field(default_factory=list)
    again: list[CalledBackAgain] = field(default_factory=list)
    scheduled: list[Stored] | None = None


@dataclass(frozen=True)
class Story:
    """One case to play; all times in ms."""

    name: str = "fault-latency/pause-one-of-two"
    settings: ClientSettings = field(
        default_factory=lambda: ClientSettings(send_latency_fault_enable=True, send_msg_timeout_ms=500)
    )
    brokers: tuple[str, ...] = ("broker-a", "broker-b")
    pauses: tuple[Pause, ...] = (Pause("broker-b", 1_000, 2_000),)
    sends: int = 200
    every_ms: int = 20
    threads: int = 1
    kind: SendKind = SendKind.PLAIN
    checks: tuple[str, ...] = CHECKS
    topology: str = "two-masters"

    @property
    def queues(self) -> tuple[tuple[str, int], ...]:
        """Publish list: four queues per broker."""
        return tuple((broker, queue) for broker in self.brokers for queue in range(4))

    def plan(self) -> Plan:
        """The threads send in turn."""
        sends = (PlannedSend(n, n % self.threads, n * self.every_ms * MS, self.kind, 0, 64) for n in range(self.sends))
        return Plan(seed=1, threads=self.threads, sends=tuple(sends))

    def play(self, release: str, seed: int) -> ArmRecords:
        return play(self, release, seed)


class Brokers:
    """Virtual brokers: their answer times and stored messages."""

    def __init__(self, story: Story) -> None:
        self._pauses = story.pauses
        self._ends: dict[tuple[str, int], int] = {}
        self.stored: list[Stored] = []

    def ask(self, broker: str, queue_id: int, now_ns: int, timeout_ms: int, send: int) -> tuple[int, int | None]:
        """Return when the client gets the answer, and the offset (None: timeout); the message is always stored."""
        answer_ns = now_ns + MS
        for pause in self._at(broker, now_ns):
            answer_ns = ORIGIN_NS + (pause.at_ms + pause.for_ms) * MS + MS
        offset = self._ends.get((broker, queue_id), 0)
        self._ends[broker, queue_id] = offset + 1
        self.stored.append(Stored(broker, queue_id, offset, send, answer_ns // MS, now_ns // MS, sys_flag=0))
        if answer_ns - now_ns > timeout_ms * MS:
            # A client notices a timeout a little late; exactly at the end of its budget it might retry with no time left.
            return now_ns + timeout_ms * MS + 3 * MS, None
        return answer_ns, offset

    def refuses(self, broker: str, now_ns: int) -> bool:
        """True if a connection to the broker fails at once."""
        return any(pause.refuses for pause in self._at(broker, now_ns))

    def _at(self, broker: str, now_ns: int) -> list[Pause]:
        at_ns = now_ns - ORIGIN_NS
        return [
            pause
            for pause in self._pauses
            if pause.broker == broker
            and pause.at_ms * MS <= at_ns
            and (at_ns < (pause.at_ms + pause.for_ms) * MS or (pause.refuses and not pause.for_ms))
        ]


def play(
    story: Story, release: str, seed: int, brokers: Brokers | None = None, dialect: Dialect | None = None
) -> ArmRecords:
    """The records of a client of a release, or with the rules of another dialect; ``seed`` sets the start of its counters."""
    dialect, brokers, records = dialect or dialect_of(release), brokers or Brokers(story), ArmRecords()
    settings = SendSettings(
        send_latency_fault_enable=story.settings.send_latency_fault_enable,
        send_msg_timeout_ms=story.settings.send_msg_timeout_ms,
        retry_times_when_send_failed=story.settings.retry_times_when_send_failed,
        send_msg_max_timeout_per_request_ms=story.settings.send_msg_max_timeout_per_request_ms,
    )
    for thread in range(story.threads):
        tape = RandomTape(seed * 100 + thread)
        index, worst = ThreadIndex(dialect.producer.index), ThreadIndex(dialect.producer.index)
        selector = Selector(PublishInfo.of(story.queues), index, FaultTable(dialect.producer.fault_table), worst, tape)
        now_ns = ORIGIN_NS
        for planned in story.plan().sends:
            if planned.thread == thread:
                now_ns = max(now_ns + 50_000, ORIGIN_NS + planned.due_ns)
                loop = SendLoop(dialect, settings, selector)
                now_ns = _one_send(planned, loop, brokers, now_ns, records)
    records.stored, records.routes = brokers.stored, [RouteSeen(1, ORIGIN_NS - MS, story.queues)]
    return records


def _one_send(planned: PlannedSend, loop: SendLoop, brokers: Brokers, start_ns: int, records: ArmRecords) -> int:
    now_ns, number, offsets = start_ns, 0, {}
    step = loop.begin(start_ns // MS, now_ns // MS)
    while isinstance(step, Try):
        began_ns, place = now_ns, (step.queue.broker, step.queue.queue_id)
        if brokers.refuses(place[0], now_ns):
            now_ns, offset, failure = now_ns + MS // 2, None, "RemotingConnectException"
        else:
            now_ns, offset = brokers.ask(*place, now_ns, step.timeout_ms, planned.send)
            failure = "RemotingTimeoutException"
        error = failure if offset is None else None
        status = None if offset is None else "SEND_OK"
        ended = Attempt(planned.send, planned.thread, number, *place, began_ns, now_ns, error, None, status)
        records.attempts.append(ended)
        offsets[number] = (*place, offset)
        number += 1
        result = AttemptResult.ok() if error is None else AttemptResult.failed(error)
        step = loop.attempt_ended(now_ns // MS, result)
    end_ns = now_ns + 20_000
    records.sends.append(_ended(planned, start_ns, end_ns, step, offsets))
    return end_ns


def _ended(
    planned: PlannedSend,
    start_ns: int,
    end_ns: int,
    finish: Finish,
    offsets: dict[int, tuple[str, int, int | None]],
) -> Send:
    ended = Send(planned.send, planned.thread, start_ns, end_ns, route=1, route_after=1)
    if finish.error is not None:
        return replace(ended, error=finish.error, code=finish.code, cause=finish.cause)
    broker, queue, offset = offsets[finish.attempt or 0]
    return replace(ended, status=finish.status, broker=broker, queue_id=queue, queue_offset=offset)


Change = Callable[[ArmRecords], None]


MANIFEST = RunManifest(
    run="",
    rocketdiff="0.1.0",
    created_wall_ms=1_790_000_000_000,
    seed=0,
    subjects={},
    server_release="5.3.3",
    backend="processes",
    suite="quick",
    machine=MACHINE,
    cases=(),
)
"""Fields of all synthetic runs."""


STEADY = ClockAnchor(ORIGIN_NS, ORIGIN_NS // MS)


@lru_cache(maxsize=32)
def _played(story: Story, release: str, seed: int) -> ArmRecords:
    return story.play(release, seed)


def played(story: Story, release: str, seed: int) -> ArmRecords:
    """A copy of a faithful client's records, cached for tests that change the same case."""
    records = _played(story, release, seed)
    scheduled = None if records.scheduled is None else [*records.scheduled]
    return ArmRecords(
        [*records.attempts], [*records.sends], [*records.stored], [*records.routes], [*records.again], scheduled
    )


def write_run(
    root: Path,
    stories: Sequence[Story] = (Story(),),
    *,
    baseline: str = "java:5.3.3",
    candidate: str = "python:5.3.3",
    change: Change | None = None,
    change_baseline: Change | None = None,
    run: str = "run-1",
    seed: int = 1,
    complete: bool = True,
    clock: ClockAnchor = STEADY,
    is_sampled: bool = True,
) -> RunDirectory:
    """
    A sealed run; ``change`` alters the candidate, ``change_baseline`` the baseline.

    clock: what brokers stored by; is_sampled: the run knows its offsets.
    """
    changes = {Arm.BASELINE: change_baseline, Arm.CANDIDATE: change}
    subjects = {Arm.BASELINE: baseline, Arm.CANDIDATE: candidate}
    entries = tuple(entry_of(number, story, subjects) for number, story in enumerate(stories, start=1))
    directory = RunDirectory.create(root, replace(MANIFEST, run=run, seed=seed, subjects=subjects, cases=entries))
    for number, story in enumerate(stories, start=1):
        case = directory.case(number)
        case.begin(story.plan(), clock=replace(clock, offsets=()), origin_ns=ORIGIN_NS)
        for arm in Arm:
            records = played(story, subjects[arm].split(":")[1], Random(f"{seed}/{number}/{arm}").randrange(10_000))
            if (spoil := changes[arm]) is not None:
                spoil(records)
            with case.recorder(Member(arm)) as recorder:
                for content in _lines(subjects[arm], records):
                    recorder.line(content)
            case.write_stored(arm, [_by_clock(clock, one) for one in records.stored])
            if records.scheduled is not None:
                scheduled = [_by_clock(clock, one) for one in records.scheduled]
                case.write_stored(arm, scheduled, table=TableName.SCHEDULED)
        for fault in faults_of(story):
            case.write_fault(fault)
        case.seal()
        if complete:
            case.complete(clock=clock if is_sampled else None)
    return directory


def _by_clock(clock: ClockAnchor, one: Stored) -> Stored:
    """A message with the times of a wall clock that took each sampled offset halfway since the sample before."""

    def wall_ms(at_ms: int) -> int:
        taken = [0]
        for before, after in zip(clock.offsets, clock.offsets[1:], strict=False):
            if at_ms * MS >= (before[0] + after[0]) // 2:
                taken.append(after[1])
        return at_ms + taken[-1] // MS

    return replace(
        one, store_timestamp_ms=wall_ms(one.store_timestamp_ms), born_timestamp_ms=wall_ms(one.born_timestamp_ms)
    )


def faults_of(story: Story) -> tuple[FaultRecord, ...]:
    """The faults as an injector records them, each uncertain for 0.1 ms."""
    return tuple(_fault(number, pause) for number, pause in enumerate(story.pauses, start=1))


def _fault(number: int, pause: Pause) -> FaultRecord:
    begun_ns = ORIGIN_NS + pause.at_ms * MS
    begun = FaultRecord(number, pause.kind, pause.broker, begun_ns - 100_000, begun_ns, begun_ns + 5 * MS)
    if not pause.for_ms:
        return begun
    ended_ns = begun_ns + pause.for_ms * MS
    return replace(begun, heal_ns=ended_ns, healed_ns=ended_ns + 100_000, heal_proven_ns=ended_ns + 5 * MS)


def entry_of(number: int, story: Story, subjects: dict[Arm, str]) -> CaseEntry:
    plan = story.plan()
    return CaseEntry(
        number=number,
        name=f"{story.name}/{subjects[Arm.BASELINE]}~{subjects[Arm.CANDIDATE]}",
        scenario=story.name,
        scenario_text="format: 1\n",
        topology=story.topology,
        queues_per_broker=4,
        settings=story.settings,
        threads=story.threads,
        sends_planned=story.sends,
        duration_s=story.sends * story.every_ms / 1000,
        plan_digest=plan_digest(plan),
        checks=story.checks,
        brokers=story.brokers,
    )


def _lines(subject: str, records: ArmRecords) -> Iterable[bytes]:
    client, version = subject.split(":")
    yield encode_record(Hello(1, client, version, ("attempts",), 1, ORIGIN_NS))
    for each in (records.routes, records.attempts, records.sends, records.again):
        yield from map(encode_record, each)
    yield encode_record(Done(len(records.sends)))
