"""
The steps of one case of any role: the programs of both arms at work at the same time, the faults, the recording.

``RoleRun`` is what depends on the role.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

from rocketdiff.cluster.faults.schedule import ScheduleThread
from rocketdiff.cluster.interface import Cluster, NodeState, nodes_of
from rocketdiff.cluster.operations.drain import DRAIN_MEANWHILE_S, Drained, await_drained
from rocketdiff.core.arm import Member
from rocketdiff.core.clock import ClockAnchor
from rocketdiff.core.errors import ClusterError, EnvironmentMissing, SubjectBroken, UsageError
from rocketdiff.core.events import (
    ArmsReady,
    ArmsStarted,
    FaultHealed,
    FaultInjected,
    Listener,
    MemberLost,
    emit,
)
from rocketdiff.core.tables.fault import KILLS, FaultKind, FaultRecord
from rocketdiff.run.case.cast import Pair
from rocketdiff.run.case.clock_watch import ClockWatch
from rocketdiff.run.case.ends import watch_ends
from rocketdiff.run.case.guards import CaseMeasurements, WireReport
from rocketdiff.run.case.open_connections import ConnectionWatch, Endpoint, endpoints_of
from rocketdiff.run.case.process_resources import ResourceWatch
from rocketdiff.run.case.relays import CaseRelays
from rocketdiff.run.case.role_run import RoleRun
from rocketdiff.run.case.stall_watch import StallWatch
from rocketdiff.run.case.wire_faults import with_relays
from rocketdiff.scenario import Case
from rocketdiff.subjects.conversation import WRONG_SUBJECT
from rocketdiff.subjects.own.own_program import OwnProgram
from rocketdiff.subjects.program import SubjectProgram
from rocketdiff.subjects.subject_process import SubjectProcess
from rocketdiff.traces.manifest import Breach
from rocketdiff.traces.recorder import Recorder
from rocketdiff.traces.run_directory import CaseDirectory

GO_AHEAD_NS = 200_000_000
"""Time from go to the first due time: enough to wake every sender thread on a loaded machine."""


@dataclass(slots=True)
class CaseRun:
    """
    State of a running case.

    programs: the running members. cluster: set before ``begin``. problems: unexpected events of the cluster, as sentences, by
    what they are about. origin_ns: monotonic time at which the first operation is due. ends: how the processes ended, if
    watched. wire: what the relay before a member saw. role: set once, before ``run``. stack: what it holds ends with the case,
    before the programs do.
    """

    directory: CaseDirectory
    case: Case
    pair: Pair
    listeners: Sequence[Listener]
    is_wire_wanted: bool
    programs: dict[Member, SubjectProcess] = field(default_factory=dict)
    faults: dict[tuple[int, str], FaultRecord] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    cluster: Cluster = field(init=False)
    clock: ClockAnchor | None = None
    clocks: ClockWatch = field(init=False)
    origin_ns: int = 0
    is_read_back: bool = False
    wire: dict[Member, WireReport] = field(default_factory=dict)
    role: RoleRun = field(init=False)
    stack: ExitStack = field(init=False)
    relays: CaseRelays = field(init=False)
    stalls: StallWatch = field(init=False)
    connections: ConnectionWatch = field(init=False)
    resources: ResourceWatch = field(init=False)
    _before_programs: ExitStack = field(init=False)  # relays, which must outlive the programs, are started after hello
    _samples: ExitStack = field(init=False)
    ends: dict[str, int | float] = field(default_factory=dict)

    def start(self, stack: ExitStack) -> None:
        """Start the program of every member, which does not touch the cluster yet."""
        self.stack = stack
        self._before_programs = stack.enter_context(ExitStack())
        for member, program in self._cast(self.role.members).items():
            self.programs[member] = stack.enter_context(self._subject(member, program, stack))

    def begin(self) -> None:
        """Bring every member that was started to where it awaits its go."""
        if death := self._death():
            raise death
        self.role.create_topics()
        self.each(lambda subject: subject.await_hello())
        self._require_same_names()
        self.role.require_claims()
        silent = self.role.silent_members()
        before = CaseRelays(self.cluster, self.directory, self.clients, silent, is_wanted=self.is_wire_wanted)
        self.relays = self._before_programs.enter_context(before)
        self.role.prepare()

    def work(self) -> None:
        """Let the members go together, inject the faults, wait, heal; nothing else may run on the machine."""
        emit(self.listeners, ArmsReady(self.directory.number))
        self._samples = self.stack.enter_context(ExitStack())
        with ExitStack() as watches:
            self._work(watches)
            if self.role.is_leaving_work:
                self._rest()

    def end(self) -> None:
        """Sample the members at rest, if they have not been, and end them."""
        if not self.role.is_leaving_work:
            self._rest()
        if self.directory.number == 1:
            self.ends = watch_ends({member: self.programs[member] for member in self.clients})

    def _work(self, watches: ExitStack) -> None:
        pids = {member: subject.pid for member, subject in self.programs.items()}
        self.stalls = watches.enter_context(StallWatch(pids, self.role.is_stop_wanted))
        self.connections = self._samples.enter_context(self._connection_watch())
        self.resources = self._samples.enter_context(ResourceWatch({member: pids[member] for member in self.clients}))
        self._go(watches)
        faults = with_relays(self.relays.all, self.relays.security)
        schedule = ScheduleThread(self.cluster, self.case.faults, self.origin_ns, self._on_fault, faults)
        try:
            self.role.await_end()
            self.look_for_deaths()
        finally:
            schedule.stop()
            outcome = schedule.join()
        self.problems |= {f"fault {n}": str(problem) for n, problem in enumerate(outcome.problems)}
        self.role.catch_up()

    def _rest(self) -> None:
        self.connections.rest()
        self.resources.rest()
        self.role.drain_meanwhile()
        self._samples.close()

    def drain_at_rest(self, topics: Iterable[str]) -> Drained | None:
        """Drain while the members are at rest; None if brokers take longer, or behind relays, which may hold frames back."""
        if not self.relays.all:
            with suppress(ClusterError):
                return await_drained(self.cluster, topics, DRAIN_MEANWHILE_S)
        return None

    @property
    def clients(self) -> tuple[Member, ...]:
        """The members under test, without the feeder."""
        return tuple(member for member in self.role.members if member.arm is not None)

    @property
    def prefix(self) -> str:
        """Beginning of the names of all topics and groups of the case."""
        return f"{self.cluster.topic_prefix}-{self.directory.run}-{self.directory.number:03d}"

    def each(self, step: Callable[[SubjectProcess], object]) -> None:
        """Run a step with every member that is not broken."""
        for member, subject in self.programs.items():
            if subject.broken is None:
                try:
                    step(subject)
                except SubjectBroken:
                    self._lost(member, subject)

    def ended(self, member: Member, subject: SubjectProcess) -> None:
        """Take the end of a member: done, or broken, which is recorded."""
        if subject.broken is not None:
            self._lost(member, subject)
        else:
            subject.await_done(0.0)

    def look_for_deaths(self) -> None:
        """A server gone without a kill makes the case invalid. Checked before healing, which would hide it."""
        killed = {fault.node for fault in self.case.faults if fault.kind in KILLS}
        for node in nodes_of(self.cluster):
            if node.name not in killed and self.cluster.state(node.name) is NodeState.GONE:
                self.problems.setdefault(node.name, f"{node.name} died by itself: {self._last_words(node.name)}")

    def cause_of(self, error: BaseException) -> BaseException:
        """Return the root cause: if a server died, an error such as a missing route is a consequence."""
        if isinstance(error, ClusterError | EnvironmentMissing):
            with suppress(ClusterError, EnvironmentMissing):  # the engine that reports node states may be gone
                return self._death(f"; then: {error}") or error
        return error

    def measurements(self) -> CaseMeasurements:
        return CaseMeasurements(
            case=self.case,
            case_name=str(self.case.id),
            faults=tuple(self.faults.values()),
            problems=tuple(self.problems.values()),
            is_read_back=self.is_read_back,
            wire=self.wire,
            stalls=self.stalls.seen.without(self.role.signs_of_life_ns()),
            origin_ns=self.origin_ns,
        )

    def _cast(self, members: Iterable[Member]) -> dict[Member, SubjectProgram]:
        group = self.case.scenario.group
        return self.pair.cast(members, () if group is None else group.mixed)

    def _require_same_names(self) -> None:
        """UsageError if a program of the user now reports another name or version."""
        programs = self._cast(self.programs)
        for member, subject in self.programs.items():
            broken, program = subject.broken, programs.get(member)
            if broken is not None and broken.signature == WRONG_SUBJECT and isinstance(program, OwnProgram):
                raise UsageError(
                    "a program that reports the same name and version at every start",
                    seen=f"{subject.subject} at first, then {broken.seen}",
                    hint="its hello must report what is really loaded; do not rebuild it during a run",
                )

    def _subject(self, member: Member, program: SubjectProgram, stack: ExitStack) -> SubjectProcess:
        recorder: Recorder = stack.enter_context(self.directory.recorder(member))
        return SubjectProcess(program, member, self.directory.logs / str(member), on_line=recorder.line)

    def _connection_watch(self) -> ConnectionWatch:
        return ConnectionWatch(
            {member: (self.programs[member].pid, self._endpoints(member)) for member in self.clients}
        )

    def _endpoints(self, member: Member) -> dict[Endpoint, str]:
        return endpoints_of(self.cluster, self.relays.addresses(member))

    def _go(self, stack: ExitStack) -> None:
        clock = self.clock = ClockAnchor(time.monotonic_ns(), time.time_ns() // 1_000_000)
        self.clocks = stack.enter_context(ClockWatch(clock))
        self.origin_ns = clock.monotonic_ns + GO_AHEAD_NS
        self.role.go()
        spread_ms = (time.monotonic_ns() - clock.monotonic_ns) / 1e6
        emit(self.listeners, ArmsStarted(self.directory.number, spread_ms))

    def _death(self, then: str = "") -> ClusterError | None:
        self.look_for_deaths()
        died = [self.problems[node.name] for node in nodes_of(self.cluster) if node.name in self.problems]
        if not died:
            return None
        hint = "find out who killed it: the system log (out of memory?), its own log in the run folder"
        return ClusterError("servers that keep running until the run ends", seen="; ".join(died) + then, hint=hint)

    def _last_words(self, node: str) -> str:
        lines = [line.strip() for line in self.cluster.log_tail(node, 3) if line.strip()]
        return lines[-1] if lines else "its log is empty"

    def _lost(self, member: Member, subject: SubjectProcess) -> None:
        broken = subject.broken
        if broken is None or str(member) in self.directory.entry.breaches:
            return
        self.directory.lost(member, Breach(broken.signature, broken.expected, broken.seen))
        emit(self.listeners, MemberLost(self.directory.number, member, broken.signature, str(broken)))

    def _on_fault(self, record: FaultRecord) -> None:
        self.faults[record.episode, record.node] = record
        self.directory.write_fault(record)
        if record.kind is FaultKind.MOVE:
            for member in self.clients:
                self.connections.learn(member, self._endpoints(member))
        event = FaultInjected if record.heal_ns is None else FaultHealed
        emit(self.listeners, event(self.directory.number, record))
