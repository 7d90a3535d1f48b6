"""
One case: both subjects doing the same work at the same time, the faults, and the recording of everything.

The module is long because it follows one case from its first topic to its last guard.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Self

from rocketdiff.cluster.faults.schedule import ScheduleThread
from rocketdiff.cluster.interface import Cluster, NodeState, nodes_of
from rocketdiff.cluster.operations.drain import Drained, await_drained
from rocketdiff.cluster.operations.scheduled import await_delivered
from rocketdiff.cluster.operations.stored import read_stored
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ClusterError, EnvironmentMissing, SubjectBroken, TraceError, UsageError
from rocketdiff.core.events import (
    ArmLost,
    ArmsReady,
    ArmsStarted,
    CaseEnded,
    CaseStarted,
    FaultHealed,
    FaultInjected,
    Listener,
    ReadBackStarted,
    SendsAnswered,
    tell,
)
from rocketdiff.core.records.session import Hello
from rocketdiff.core.tables.fault import KILLS, FaultRecord
from rocketdiff.protocol.commands import SubjectSetup
from rocketdiff.run.case.guards import CaseMeasurements, guards_of, median_lateness_ns
from rocketdiff.run.case.open_connections import ConnectionWatch, endpoints_of
from rocketdiff.run.case.stall_watch import StallWatch
from rocketdiff.run.case.wire_faults import needs_relays, with_relays
from rocketdiff.run.case.wire_witness import ArmReport, WireStory, Witness
from rocketdiff.scenario import Case
from rocketdiff.subjects.claims import why_not_claimed
from rocketdiff.subjects.conversation import WRONG_SUBJECT
from rocketdiff.subjects.limits import longest_callback_s
from rocketdiff.subjects.own.own_program import OwnProgram
from rocketdiff.subjects.program import SubjectProgram
from rocketdiff.subjects.subject import Subject
from rocketdiff.subjects.subject_process import SubjectProcess
from rocketdiff.traces.manifest import Breach, ClockAnchor
from rocketdiff.traces.recorder import Recorder
from rocketdiff.traces.run_directory import CaseDirectory
from rocketdiff.traces.schema import TableName
from rocketmq_reference.dialects import dialect_of

GO_AHEAD_NS = 200_000_000
"""Time from go to the first due time: enough to wake every sender thread on a loaded machine."""

PROGRESS_EVERY_S = 0.25
"""Interval of progress events, enough for a progress bar."""

DRAIN_MEANWHILE_S = 1.0
"""Longer than sampling the connections at rest takes. Clients are not kept running for brokers that take longer to drain."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The two programs of a run. timeouts_ms: an arm's attempt timeout, if known before its hello."""

    programs: Mapping[Arm, SubjectProgram]
    timeouts_ms: Mapping[Arm, int | None] = field(default_factory=dict)

    @classmethod
    def of(cls, baseline: SubjectProgram, candidate: SubjectProgram) -> Self:
        return cls({Arm.BASELINE: baseline, Arm.CANDIDATE: candidate})

    @classmethod
    def of_subjects(cls, baseline: Subject, candidate: Subject) -> Self:
        arms = {Arm.BASELINE: baseline, Arm.CANDIDATE: candidate}
        timeouts_ms = {arm: subject.attempt_timeout_ms for arm, subject in arms.items()}
        return cls({arm: subject.program for arm, subject in arms.items()}, timeouts_ms)


class NotClaimed(Exception):
    """The plan contains sends that a client does not claim: the case is invalid, the run continues."""


def run_case(
    cluster: Cluster,
    directory: CaseDirectory,
    case: Case,
    pair: Pair,
    listeners: Sequence[Listener],
    *,
    is_wire_wanted: bool = False,
) -> None:
    """
    Run one case and seal it.

    A broken subject or an unproven fault is recorded in ``run.json`` and judged. A call that a client does not claim
    aborts only this case. Any other error aborts the case and is raised.

    is_wire_wanted: relays before both arms even if not needed, as a second witness.
    """
    began = time.monotonic()
    scenario = case.scenario
    name = str(case.id)
    tell(listeners, CaseStarted(directory.number, name, len(case.plan.sends), scenario.episodes, scenario.duration_s))
    stage = _Stage(cluster, directory, case, pair, listeners, is_wire_wanted or needs_relays(case.faults))
    try:
        with ExitStack() as stack:
            stage.play(stack)
        stage.testify()
        stage.read_back()
        directory.seal()
    except NotClaimed as reason:
        directory.abort(str(reason))
        tell(listeners, CaseEnded(directory.number, name, 0, 0, time.monotonic() - began))
        return
    except BaseException as error:
        cause = stage.cause_of(error)
        _abandon(directory, str(cause) or type(cause).__name__)
        if cause is not error:
            raise cause from error
        raise
    facts = stage.facts()
    directory.complete(guards=guards_of(facts), measured=facts.measured(), connections=stage.connections.seen)
    answered = facts.answered
    took_s = time.monotonic() - began
    tell(listeners, CaseEnded(directory.number, name, answered[Arm.BASELINE], answered[Arm.CANDIDATE], took_s))


def _may_confuse_answers(case: Case) -> bool:
    """True if an asynchronous send of one of the releases may get another send's response (up to 4.6.1)."""
    releases = (case.id.baseline.rules, case.id.candidate.rules)
    return any(release and dialect_of(release).client.remoting.retry_takes_next_number for release in releases)


def _abandon(directory: CaseDirectory, reason: str) -> None:
    """Seal what has been recorded, so that it stays readable."""
    try:
        if directory.started:
            directory.seal()
    finally:
        directory.abort(reason)


@dataclass(slots=True)
class _Stage:
    """State of a running case."""

    cluster: Cluster
    directory: CaseDirectory
    case: Case
    pair: Pair
    listeners: Sequence[Listener]
    is_wire_wanted: bool
    arms: dict[Arm, SubjectProcess] = field(default_factory=dict)
    faults: dict[tuple[int, str], FaultRecord] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    clock: ClockAnchor | None = None
    origin_ns: int = 0
    is_read_back: bool = False
    drained: Drained | None = None
    witness: Witness = field(init=False)
    stalls: StallWatch = field(init=False)
    connections: ConnectionWatch = field(init=False)
    wire: dict[Arm, WireStory] = field(default_factory=dict)

    def play(self, stack: ExitStack) -> None:
        """Start both subjects, let them go together, inject the faults, wait, heal."""
        if death := self._death():
            raise death
        self._create_topics()
        relays = stack.enter_context(ExitStack())  # must outlive the subjects; started after hello, if needed
        for arm in Arm:
            self.arms[arm] = stack.enter_context(self._subject(arm, stack))
        self._each(lambda subject: subject.await_hello())
        self._require_same_names()
        self._require_claims()
        witness = Witness(self.cluster, self.directory, self._silent_arms(), is_wanted=self.is_wire_wanted)
        self.witness = relays.enter_context(witness)
        self._each(lambda subject: subject.prepare(self.case.plan, self._setup(subject.arm), self._own_ms(subject.arm)))
        self._each(lambda subject: subject.await_ready())
        tell(self.listeners, ArmsReady(self.directory.number))
        self.stalls = stack.enter_context(StallWatch({arm: subject.pid for arm, subject in self.arms.items()}))
        self.connections = stack.enter_context(self._connection_watch())
        self._go()
        faults = with_relays(self.witness.relays, self.witness.security)
        schedule = ScheduleThread(self.cluster, self.case.faults, self.origin_ns, self._on_fault, faults)
        try:
            self._await_arms()
            self._look_for_deaths()
        finally:
            schedule.stop()
            outcome = schedule.join()
        self.problems |= {f"fault {n}": str(problem) for n, problem in enumerate(outcome.problems)}
        self.connections.rest()
        self._drain_meanwhile()

    def _drain_meanwhile(self) -> None:
        """
        Let late writes drain while connections at rest are sampled; ``read_back`` confirms it later.

        Skipped behind relays, which may still hold frames back.
        """
        if not self.witness.relays:
            with suppress(ClusterError):
                self.drained = await_drained(self.cluster, self._topics, DRAIN_MEANWHILE_S)

    def _own_ms(self, arm: Arm) -> int:
        """Attempt timeout of an arm that ignores the setting, else 0."""
        hello = self._hellos().get(arm)
        return self.pair.timeouts_ms.get(arm) or (hello and hello.attempt_timeout_ms) or 0

    def _hellos(self) -> dict[Arm, Hello]:
        hellos = {arm: subject.transcript.hello for arm, subject in self.arms.items()}
        return {arm: hello for arm, hello in hellos.items() if hello is not None}

    def _require_same_names(self) -> None:
        """UsageError if a program of the user now reports another name or version."""
        for arm, subject in self.arms.items():
            broken, program = subject.broken, self.pair.programs.get(arm)
            if broken is not None and broken.signature == WRONG_SUBJECT and isinstance(program, OwnProgram):
                raise UsageError(
                    "a program that reports the same name and version at every start",
                    seen=f"{subject.subject} at first, then {broken.seen}",
                    hint="its hello must report what is really loaded; do not rebuild it during a run",
                )

    def _require_claims(self) -> None:
        for hello in self._hellos().values():
            if reason := why_not_claimed(self.case.plan, hello):
                raise NotClaimed(reason)

    def _silent_arms(self) -> list[Arm]:
        return [arm for arm, hello in self._hellos().items() if not hello.reports_ends]

    def testify(self) -> None:
        """Add what the relays saw. Frames that they missed make the case invalid."""
        for arm, subject in self.arms.items():
            transcript = subject.transcript
            timeout_ms = self._own_ms(arm) or self.case.scenario.settings.send_msg_timeout_ms
            confuses = _may_confuse_answers(self.case)
            starts = transcript.hello is not None and transcript.hello.reports_starts
            work = ArmReport(
                self._topic(arm), self.case.plan, transcript.sends, transcript.attempts, timeout_ms, confuses, starts
            )
            self.wire[arm] = story = self.witness.testify(arm, work)
            if story.unseen:
                unseen = f"{len(story.unseen)} frames of {arm} were not all seen: {story.unseen[0]}"
                self.problems[f"wire {arm}"] = unseen

    def read_back(self) -> None:
        """Wait until late writes have drained, then read every queue of both topics to its end."""
        tell(self.listeners, ReadBackStarted(self.directory.number))
        try:
            await_drained(self.cluster, self._topics, before=self.drained)
            if any(send.delay_level for send in self.case.plan.sends):
                self._read_kept_back()
            for arm in Arm:
                topic = self._topic(arm)
                self.directory.write_stored(arm, read_stored(self.cluster, topic, self.case.plan.body_bytes))
        except (ClusterError, TraceError) as error:  # not EnvironmentMissing: a machine that has failed ends the run
            self.problems["read-back"] = str(error)
            return
        self.is_read_back = True

    def _read_kept_back(self) -> None:
        kept = await_delivered(self.cluster, self._topics, self.case.plan.body_bytes)
        for arm in Arm:
            self.directory.write_stored(arm, kept[self._topic(arm)], table=TableName.SCHEDULED)

    def facts(self) -> CaseMeasurements:
        sends = {arm: subject.transcript.sends for arm, subject in self.arms.items()}
        return CaseMeasurements(
            case=self.case,
            case_name=str(self.case.id),
            first_ns={arm: min(send.start_ns for send in reported) for arm, reported in sends.items() if reported},
            late_ns=median_lateness_ns(self.case.plan, sends, self.origin_ns),
            answered={arm: len(reported) for arm, reported in sends.items()},
            faults=tuple(self.faults.values()),
            problems=tuple(self.problems.values()),
            is_read_back=self.is_read_back,
            clock_slip_ms=self._clock_slip_ms(),
            lost={arm: subject.subject for arm, subject in self.arms.items() if subject.broken},
            wire=self.wire,
            stalls=self.stalls.seen.without(send.end_ns for reported in sends.values() for send in reported),
            origin_ns=self.origin_ns,
        )

    def _subject(self, arm: Arm, stack: ExitStack) -> SubjectProcess:
        recorder: Recorder = stack.enter_context(self.directory.recorder(arm))
        return SubjectProcess(self.pair.programs[arm], arm, self.directory.logs / arm.value, on_line=recorder.line)

    def _connection_watch(self) -> ConnectionWatch:
        endpoints = {arm: endpoints_of(self.cluster, self.witness.addresses(arm)) for arm in self.arms}
        return ConnectionWatch({arm: (subject.pid, endpoints[arm]) for arm, subject in self.arms.items()})

    def _setup(self, arm: Arm) -> SubjectSetup:
        name_servers, settings = self.witness.name_servers(arm), self.case.scenario.settings
        longest_ms = max(map(self._own_ms, Arm))
        return SubjectSetup(
            name_servers=name_servers,
            topic=self._topic(arm),
            warm_topic=self._warm_topic,
            group=f"{self.cluster.topic_prefix}-{self.directory.number}-{arm}",
            run=self.directory.run,
            settings=settings,
            callback_limit_ms=round(1_000 * longest_callback_s(settings, len(name_servers), longest_ms)),
            security=self.witness.security.setup(),
            endpoints=self.witness.endpoints(arm),
        )

    @property
    def _topics(self) -> tuple[str, ...]:
        return tuple(map(self._topic, Arm))

    def _topic(self, arm: Arm) -> str:
        return f"{self._case_prefix}-{arm}"

    @property
    def _warm_topic(self) -> str:
        return f"{self._case_prefix}-warm"

    @property
    def _case_prefix(self) -> str:
        return f"{self.cluster.topic_prefix}-{self.directory.run}-{self.directory.number:03d}"

    def _create_topics(self) -> None:
        scenario = self.case.scenario
        for topic in (*self._topics, self._warm_topic):
            self.cluster.create_topic(topic, scenario.queues_per_broker, ordered=scenario.ordered)

    def _each(self, step: Callable[[SubjectProcess], object]) -> None:
        """Run a step with every arm that is not broken."""
        for arm, subject in self.arms.items():
            if subject.broken is None:
                try:
                    step(subject)
                except SubjectBroken:
                    self._lost(arm, subject)

    def _go(self) -> None:
        clock = self.clock = ClockAnchor(time.monotonic_ns(), time.time_ns() // 1_000_000)
        self.origin_ns = clock.monotonic_ns + GO_AHEAD_NS
        self.directory.begin(self.case.plan, clock=clock, origin_ns=self.origin_ns)
        self._each(lambda subject: subject.go(self.origin_ns))
        told_ms = (time.monotonic_ns() - clock.monotonic_ns) / 1e6
        tell(self.listeners, ArmsStarted(self.directory.number, told_ms))

    def _await_arms(self) -> None:
        """Each arm has its own deadlines for silence."""
        waiting = dict(self.arms)
        while waiting:
            self._look_for_deaths()
            self.witness.require_alive()
            for arm, subject in list(waiting.items()):
                if subject.is_over:
                    del waiting[arm]
                    self._ended(arm, subject)
                tell(self.listeners, SendsAnswered(self.directory.number, arm, subject.answered))
            if waiting:
                next(iter(waiting.values())).await_over(PROGRESS_EVERY_S)

    def _look_for_deaths(self) -> None:
        """A server gone without a kill makes the case invalid. Checked before healing, which would hide it."""
        killed = {fault.node for fault in self.case.faults if fault.kind in KILLS}
        for node in nodes_of(self.cluster):
            if node.name not in killed and self.cluster.state(node.name) is NodeState.GONE:
                self.problems.setdefault(node.name, f"{node.name} died by itself: {self._last_words(node.name)}")

    def cause_of(self, error: BaseException) -> BaseException:
        """The root cause: if a server died, an error such as a missing route is a consequence."""
        if isinstance(error, ClusterError | EnvironmentMissing):
            with suppress(ClusterError, EnvironmentMissing):  # the engine that reports node states may be gone
                return self._death(f"; then: {error}") or error
        return error

    def _death(self, then: str = "") -> ClusterError | None:
        self._look_for_deaths()
        died = [self.problems[node.name] for node in nodes_of(self.cluster) if node.name in self.problems]
        if not died:
            return None
        hint = "find out who killed it: the system log (out of memory?), its own log in the run folder"
        return ClusterError("servers that keep running until the run ends", seen="; ".join(died) + then, hint=hint)

    def _last_words(self, node: str) -> str:
        lines = [line.strip() for line in self.cluster.log_tail(node, 3) if line.strip()]
        return lines[-1] if lines else "its log is empty"

    def _ended(self, arm: Arm, subject: SubjectProcess) -> None:
        if subject.broken is not None:
            self._lost(arm, subject)
        else:
            subject.await_done(0.0)

    def _lost(self, arm: Arm, subject: SubjectProcess) -> None:
        broken = subject.broken
        if broken is None or arm in self.directory.entry.breaches:
            return
        self.directory.lost(arm, Breach(broken.signature, broken.expected, broken.seen))
        tell(self.listeners, ArmLost(self.directory.number, arm, broken.signature, str(broken)))

    def _on_fault(self, record: FaultRecord) -> None:
        self.faults[record.episode, record.node] = record
        self.directory.write_fault(record)
        event = FaultInjected if record.heal_ns is None else FaultHealed
        tell(self.listeners, event(self.directory.number, record))

    def _clock_slip_ms(self) -> int:
        """Drift of the wall clock, which Java's rules read, from the monotonic clock since the start."""
        if self.clock is None:
            return 0
        passed_ms = (time.monotonic_ns() - self.clock.monotonic_ns) // 1_000_000
        return time.time_ns() // 1_000_000 - self.clock.wall_ms - passed_ms
