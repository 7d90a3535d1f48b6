"""Runs and seals one case of any role."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.arm import Arm
from rocketdiff.core.events import CaseEnded, CaseStarted, HeldEvents, Listener, ReadBackStarted, emit
from rocketdiff.core.run_info import Guard
from rocketdiff.core.tables.checks import READS_WIRE
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.run.case.case_run import CaseRun
from rocketdiff.run.case.cast import Pair
from rocketdiff.run.case.consuming.consuming_run import ConsumingRun
from rocketdiff.run.case.guards import guards_of
from rocketdiff.run.case.role_run import NotClaimed, NotSettled, RoleRun
from rocketdiff.run.case.sending.sending_run import SendingRun
from rocketdiff.run.case.wire_faults import needs_relays
from rocketdiff.scenario import Case
from rocketdiff.traces.manifest import LONGEST_STALL
from rocketdiff.traces.run_directory import CaseDirectory

ROLE_RUNS: Mapping[ClientRole, Callable[[CaseRun], RoleRun]] = {
    ClientRole.PRODUCER: SendingRun,
    ClientRole.CONSUMER: ConsumingRun,
}


class StagedCase:
    """
    A case in stages, each called once and in order: ``start``, ``begin``, ``work``, ``end``, ``read_back``; ``play`` calls all.

    Nothing of the first and the last two is compared, so the end of one case may run beside the beginning of the next, on a thread
    of its own, and its queues may be read after later cases. A broken subject or an unproven fault is recorded in ``run.json`` and
    judged. A call that a client does not claim, and a group that does not settle, aborts only this case: later stages do nothing.
    Any other error aborts the case and is raised.

    cluster: starts it, if it does not run; called by ``begin``.
    is_wire_wanted: relays before both arms even if not needed, as a second witness. events: what it emits, for a caller that holds
    it back. began: monotonic time from which its duration counts, without what passes before ``read_back``. number: of the case in
    its run.
    """

    def __init__(
        self,
        cluster: Callable[[], Cluster],
        directory: CaseDirectory,
        case: Case,
        pair: Pair,
        listeners: Sequence[Listener],
        *,
        is_wire_wanted: bool = False,
    ) -> None:
        scenario = case.scenario
        is_wire_wanted |= needs_relays(case.faults) or not READS_WIRE.isdisjoint(scenario.checks)
        self.events = HeldEvents(listeners)
        self.began = time.monotonic()
        self.number = directory.number
        self._cluster, self._directory, self._case = cluster, directory, case
        self._run = CaseRun(directory, case, pair, (self.events,), is_wire_wanted)
        self._run.role = ROLE_RUNS[scenario.role](self._run)
        self._programs = ExitStack()
        self._not_started: Exception | None = None
        self._is_over = False
        self._ended = 0.0

    def play(self) -> None:
        self.start()
        self.begin()
        self.work()
        self.end()
        self.read_back()

    def start(self) -> None:
        """Start the programs, without the cluster and without waiting. What fails is raised by ``begin``, and recorded there."""
        try:
            self._run.start(self._programs)
        except Exception as error:  # noqa: BLE001 - begin raises it
            self._not_started = error

    def suspend(self) -> None:
        """Await the first lines of the started programs, and stop these while another case works."""
        for subject in self._run.programs.values():
            with suppress(Exception):  # begin raises it
                subject.await_hello()
            subject.suspend()

    def go_on(self) -> None:
        for subject in self._run.programs.values():
            subject.go_on()

    def begin(self) -> None:
        """
        Create the topics and let the started programs warm up.

        Raises the errors of ``cluster``, after the programs have ended; nothing is recorded then.
        """
        try:
            self._run.cluster = self._cluster()
        except BaseException:
            self._programs.close()
            raise
        scenario = self._case.scenario
        number, name, planned = self.number, str(self._case.id), len(self._case.plan.sends)
        emit((self.events,), CaseStarted(number, name, planned, scenario.episodes, scenario.duration_s))
        with self._recorded():
            if self._not_started is not None:
                raise self._not_started
            self._run.begin()

    def work(self) -> None:
        """Let both arms work under the faults. Nothing else may run on the machine."""
        if not self._is_over:
            with self._recorded():
                self._run.work()
            emit((self.events,), ReadBackStarted(self.number))

    def end(self) -> None:
        """End the programs."""
        if not self._is_over:
            with self._recorded():
                self._run.end()
                self._programs.close()
                self._run.role.report_wire()
            self._ended = time.monotonic()

    @property
    def is_due(self) -> bool:
        """False as long as ``read_back`` would only wait for messages that the brokers keep back."""
        return self._is_over or self._run.role.due_ns <= time.monotonic_ns()

    def read_back(self) -> None:
        """Read back and seal."""
        if not self._is_over:
            self.began += time.monotonic() - self._ended
            with self._recorded():
                self._run.role.read_back()
                self._directory.seal()
            self._complete()

    def withdraw(self) -> None:
        """End the programs of a case that has started or begun and will not work."""
        self.go_on()
        self._programs.close()

    def _complete(self) -> None:
        run = self._run
        facts = run.measurements()
        guards = (*run.role.guards(), *guards_of(facts))
        measured = run.role.measured() | run.ends | {LONGEST_STALL: facts.stalls.longest_gap_ns}
        connections, resources = run.connections.seen, run.resources.seen
        measured |= {"clock_slip_ms": run.clocks.slip_ms}
        self._directory.complete(
            guards=guards, measured=measured, connections=connections, resources=resources, clock=run.clocks.seen
        )
        self._emit_end(run.role.operations())

    def _emit_end(self, ended: Mapping[Arm, int]) -> None:
        took_s = time.monotonic() - self.began
        number, name, role = self.number, str(self._case.id), self._case.scenario.role
        emit((self.events,), CaseEnded(number, name, role, ended[Arm.BASELINE], ended[Arm.CANDIDATE], took_s))

    def _unsettled(self, error: Exception) -> tuple[Guard, ...]:
        expected, seen = "groups that settle", str(error)
        return (Guard("settled", False, expected, seen, str(self._case.id)),) if isinstance(error, NotSettled) else ()

    @contextmanager
    def _recorded(self) -> Iterator[None]:
        """Abort the case at an error, after the programs have ended."""
        try:
            yield
        except BaseException as error:
            self._programs.close()
            if isinstance(error, NotClaimed | NotSettled):
                self._is_over = True
                self._directory.abort(str(error), guards=self._unsettled(error))
                self._emit_end(dict.fromkeys(Arm, 0))
                return
            cause = self._run.cause_of(error)
            _abandon(self._directory, str(cause) or type(cause).__name__)
            if cause is not error:
                raise cause from error
            raise


def _abandon(directory: CaseDirectory, reason: str) -> None:
    """Seal what has been recorded, so that it stays readable."""
    try:
        if directory.started:
            directory.seal()
    finally:
        directory.abort(reason)
