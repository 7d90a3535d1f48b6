"""
Select the rules for both arms of a case: those of the baseline's release.

They hold for a C++ or Go candidate too, because a user notices where it deviates.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from rocketdiff.analysis.case_trace import CaseTrace
from rocketdiff.analysis.fault_windows import FaultReach
from rocketdiff.analysis.sending.steps.causes import Causes
from rocketdiff.analysis.sending.steps.excuses import Excuses, HeldConnections, latest_timeout_ms, slowest_in_calm_ms
from rocketdiff.analysis.sending.steps.torn_connections import TornConnections
from rocketdiff.core.arm import Arm
from rocketdiff.core.clock import STEADY
from rocketdiff.core.errors import UsageError
from rocketdiff.core.records.sending import CAUSES, Send
from rocketdiff.core.sends.knowable import Sending
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.fault import CLOSE_NO_CONNECTION
from rocketdiff.core.tables.topology import topology_named
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.oracle.producer.asynchronous.ends import Troubled
from rocketdiff.oracle.producer.asynchronous.habits import NO_HABITS, AsyncHabits
from rocketdiff.oracle.producer.asynchronous.sends import judge_asynchronous
from rocketdiff.oracle.producer.durations import Tearing
from rocketdiff.oracle.producer.judgement import SendJudgement
from rocketdiff.oracle.producer.replay import Replay, replay_for
from rocketdiff.traces.journal import CLIENT
from rocketdiff.traces.manifest import LONGEST_STALL
from rocketdiff.traces.schema import TableName

_CLIENTS_OWN_THREAD = -2
"""Matches no thread, as ``causes._BETWEEN_CLIENTS``."""


@dataclass(frozen=True, slots=True)
class ArmRules:
    """
    The rules for one arm.

    shared: its threads share a fault table. asynchronous: the client's own threads send. In both cases all sends must
    be judged together, otherwise thread by thread.
    """

    trace: CaseTrace
    arm: Arm
    release: str
    shared: bool
    asynchronous: bool = False

    def fresh(self) -> Replay:
        attempts = self.trace.tables.get((TableName.ATTEMPTS, self.arm))
        witnessed = attempts is not None and attempts.num_rows > 0
        settings, routes = self.trace.entry.settings, self.trace.routes(self.arm)
        return replay_for(
            self.release,
            settings,
            routes,
            witnessed=witnessed,
            causes_reported=self.causes_reported,
            clock=self.trace.entry.clock or STEADY,
        )

    @property
    def choosers_reported(self) -> bool:
        """True if the witness reports which thread of the client chose; the wire does not show it."""
        return reports_attempts(self.trace, self.arm)

    def sending(self) -> Sending | None:
        """What determines how much can be known of this arm; None if nothing was sent. Several calls are synchronous."""
        sends = self.trace.tables.get((TableName.SENDS, self.arm))
        if sends is None or not sends.num_rows:
            return None
        return Sending(
            SendMode(sends.column("mode")[0].as_py() or SendMode.SYNC),
            SendKind(sends.column("kind")[0].as_py()),
            self.trace.entry.settings.send_latency_fault_enable,
            is_chooser_unseen=not (self.choosers_reported or self.fresh().calls_itself),
        )

    @property
    def causes_reported(self) -> bool:
        return reports_causes(self.trace, self.arm)

    def torn_connections(self) -> TornConnections:
        attempts = self.trace.tables.get((TableName.ATTEMPTS, self.arm))
        return TornConnections(attempts, self.trace.faults, Tearing.of(self.fresh().dialect.client.remoting))

    def excuses(self) -> Excuses:
        attempts = {arm: self.trace.tables.get((TableName.ATTEMPTS, arm)) for arm in Arm}
        (other,) = (arm for arm in Arm if arm is not self.arm)
        timeout_ms = self.trace.entry.settings.send_msg_timeout_ms
        stall_ms = int(self.trace.entry.measured.get(LONGEST_STALL, 0)) // NS_PER_MS
        late_ms = max(latest_timeout_ms(attempts[other], timeout_ms), slowest_in_calm_ms(self.trace, other), stall_ms)
        return Excuses(HeldConnections(attempts[self.arm], self.trace.faults), late_ms)

    def judge_together(self, sends: Iterable[Send]) -> Iterator[SendJudgement]:
        """Judge all sends of the arm, in order of their start."""
        if self.asynchronous:
            return judge_asynchronous(self.fresh(), sends, self.troubled(), choosers_reported=self.choosers_reported)
        return self.fresh().judge_all(sends)

    def troubled(self) -> Troubled:
        """
        Predicate: the request's broker may have been faulty, or another request's end may have torn its connection.

        The broker is None for a request that no witness saw because it had no connection or address. A paused broker
        keeps both (the kernel accepts for it), so only faults that close connections count.
        """
        reach = FaultReach.of_attempts(self.trace.faults, self.trace.entry.settings)
        cutting = FaultReach.of_attempts(
            (fault for fault in self.trace.faults if fault.kind not in CLOSE_NO_CONNECTION), self.trace.entry.settings
        )
        torn = self.torn_connections()

        def is_troubled(broker: str | None, start_ns: int, end_ns: int) -> bool:
            if broker is None:
                return cutting.meets(start_ns, end_ns)
            return reach.meets(start_ns, end_ns, broker) or torn.may_have_torn(
                _CLIENTS_OWN_THREAD, broker, start_ns, end_ns
            )

        return is_troubled


@dataclass(frozen=True, slots=True)
class Rulebook:
    """
    Rules for both arms of a case.

    missing: why there are none; empty if there are. habits: of the baseline's release. may_leave_open: whether a
    request with this error may leave a connection open (``LateClose`` of the rules); None if unknown. rewrites: a thread
    may rewrite a queue between another thread's reads of it, so that its request goes to the queue's former broker, or
    has its later queue id (``oracle.producer.states.shared_list``). renames: likewise the broker of a result.
    """

    rules: dict[Arm, ArmRules]
    missing: str = ""
    habits: AsyncHabits = NO_HABITS
    timeouts_close: bool = True
    may_leave_open: Callable[[str | None], bool] | None = None
    rewrites: bool = False
    renames: bool = False

    def causes(self, trace: CaseTrace, arm: Arm) -> Causes:
        """Causes of an arm's failures; without rules, a timeout may close a connection."""
        attempts = trace.tables.get((TableName.ATTEMPTS, arm))
        return Causes(attempts, trace.faults, trace.entry, timeouts_close=self.timeouts_close)


def rulebook_for(trace: CaseTrace) -> Rulebook:
    """The rules of the baseline's release, or the reason why they are unknown."""
    baseline = SubjectId.parse(trace.subjects[Arm.BASELINE])
    if topology_named(trace.entry.topology).has_proxies:
        return Rulebook({}, timeouts_close=False)  # see oracle.grpc_attempts
    release = trace.rules_given or baseline.rules
    if release is None:
        return Rulebook(
            {}, f"no rules are known for the baseline {baseline}: name a Java client or the reference first"
        )
    settings = trace.entry.settings
    shared = trace.entry.threads > 1 and settings.send_latency_fault_enable
    asynchronous = is_asynchronous(trace)
    rules = {arm: ArmRules(trace, arm, release, shared, asynchronous) for arm in Arm}
    try:
        dialect = rules[Arm.BASELINE].fresh().dialect
    except UsageError as error:
        return Rulebook({}, str(error))
    habits = AsyncHabits.of(dialect, settings.retry_times_when_send_async_failed)
    closing, late_close = Tearing.of(dialect.client.remoting).timeouts_close, dialect.client.remoting.late_close
    rewrites = shared and dialect.producer.rewrites_list
    renames = rewrites and dialect.producer.reads_broker_again
    return Rulebook(rules, "", habits, closing, late_close.may_leave_open, rewrites, renames)


def reports_attempts(trace: CaseTrace, arm: Arm) -> bool:
    """True if an arm's client reports its attempts itself; else a relay saw them on the wire."""
    summary = trace.entry.arms.get(arm)
    return summary is None or summary.witness == CLIENT


def reports_causes(trace: CaseTrace, arm: Arm) -> bool:
    """
    True if an arm's client declares that it reports causes of exceptions; Java's driver and the reference always do.

    A client in a language without causes does not differ by that.
    """
    summary = trace.entry.arms.get(arm)
    is_said = summary is not None and CAUSES in summary.capabilities
    return is_said or SubjectId.parse(trace.subjects[arm]).rules is not None


def is_asynchronous(trace: CaseTrace) -> bool:
    """True if the sends of a case are asynchronous; a case has one mode."""
    tables = (trace.tables.get((TableName.SENDS, arm)) for arm in Arm)
    first = next((table.column("mode")[0].as_py() for table in tables if table is not None and table.num_rows), None)
    return first == SendMode.ASYNC
