"""A case about producers: one topic an arm with equal queues, the same sends in both arms, every queue read to its end."""

from collections.abc import Collection, Iterable
from functools import cached_property

from rocketdiff.cluster.operations.drain import Drained, await_drained
from rocketdiff.cluster.operations.scheduled import await_delivered
from rocketdiff.cluster.operations.stored import read_stored
from rocketdiff.core.arm import BASELINE, CANDIDATE, Arm, Member
from rocketdiff.core.errors import ClusterError, TraceError
from rocketdiff.core.events import OperationsEnded, emit
from rocketdiff.core.records.sending import reports_ends, reports_starts
from rocketdiff.core.records.session import Hello
from rocketdiff.core.run_info import Guard
from rocketdiff.core.sends.message import delay_s, is_awaited
from rocketdiff.core.units import NS_PER_S
from rocketdiff.protocol.commands import SubjectSetup
from rocketdiff.run.case.case_run import CaseRun
from rocketdiff.run.case.role_run import NotClaimed
from rocketdiff.run.case.sending.guards import (
    SendMeasurements,
    lateness_limit_ns,
    median_lateness_ns,
    sending_guards_of,
)
from rocketdiff.run.case.sending.wire_witness import ClientReport, WireWitness
from rocketdiff.scenario import Case
from rocketdiff.subjects.sending.claims import why_not_claimed
from rocketdiff.subjects.sending.limits import longest_callback_s
from rocketdiff.subjects.sending.talk import SendingTalk
from rocketdiff.subjects.subject_process import SubjectProcess
from rocketdiff.traces.schema import TableName
from rocketmq_reference.dialects import dialect_of

PROGRESS_EVERY_S = 0.25
"""Interval of progress events, enough for a progress bar."""


class SendingRun:
    """The producer's part of a case; see ``RoleRun``."""

    is_leaving_work = False

    members: tuple[Member, ...] = (BASELINE, CANDIDATE)

    def __init__(self, run: CaseRun) -> None:
        self._run = run
        self.drained: Drained | None = None

    def create_topics(self) -> None:
        run, scenario = self._run, self._run.case.scenario
        for topic in (*self._topics, self._warm_topic):
            run.cluster.create_topic(topic, scenario.queues_per_broker, ordered=scenario.ordered)

    def require_claims(self) -> None:
        for hello in self._hellos().values():
            if reason := why_not_claimed(self._run.case.plan, hello):
                raise NotClaimed(reason)

    def silent_members(self) -> Collection[Member]:
        return [member for member, hello in self._hellos().items() if not reports_ends(hello)]

    def prepare(self) -> None:
        run = self._run
        run.each(
            lambda subject: subject.prepare(
                SendingTalk(run.case.plan, self._setup(subject.member), self._own_ms(subject.member))
            )
        )
        run.each(lambda subject: subject.await_ready())

    def go(self) -> None:
        run = self._run
        assert run.clock is not None
        run.directory.begin(run.case.plan, clock=run.clock, origin_ns=run.origin_ns)
        run.each(lambda subject: subject.go(run.origin_ns))

    def await_end(self) -> None:
        """Each arm has its own deadlines for silence."""
        run = self._run
        waiting = dict(run.programs)
        while waiting:
            run.look_for_deaths()
            run.relays.require_alive()
            for member, subject in list(waiting.items()):
                if subject.is_over:
                    del waiting[member]
                    run.ended(member, subject)
                emit(run.listeners, OperationsEnded(run.directory.number, member, subject.ended))
            if waiting:
                next(iter(waiting.values())).await_over(PROGRESS_EVERY_S)

    def catch_up(self) -> None:
        """Nothing is left: its last call has ended."""

    def drain_meanwhile(self) -> None:
        self.drained = self._run.drain_at_rest(self._topics)

    def report_wire(self) -> None:
        """Frames that a relay missed make the case invalid."""
        run = self._run
        witness = WireWitness(run.cluster, run.directory, run.relays)
        for member, subject in run.programs.items():
            run.wire[member] = report = witness.report_of(member, self._client_report(member, subject))
            if report.unseen:
                unseen = f"{len(report.unseen)} frames of {member} were not all seen: {report.unseen[0]}"
                run.problems[f"wire {member}"] = unseen

    @property
    def due_ns(self) -> int:
        """Time at which the last of the delayed messages that are awaited is due."""
        run = self._run
        awaited = (send for send in run.case.plan.sends if is_awaited(send.delay_level))
        return max((run.origin_ns + send.due_ns + delay_s(send.delay_level) * NS_PER_S for send in awaited), default=0)

    def read_back(self) -> None:
        """Wait until late writes have drained, then read every queue of both topics to its end."""
        run = self._run
        try:
            await_drained(run.cluster, self._topics, before=self.drained)
            if any(send.delay_level for send in run.case.plan.sends):
                self._read_kept_back()
            for arm in Arm:
                stored = read_stored(run.cluster, self._topic(arm), run.case.plan.body_bytes)
                run.directory.write_stored(arm, stored)
        except (ClusterError, TraceError) as error:  # not EnvironmentMissing: a machine that has failed ends the run
            run.problems["read-back"] = str(error)
            return
        run.is_read_back = True

    def is_stop_wanted(self, member: Member, from_ns: int, to_ns: int) -> bool:  # noqa: ARG002 - RoleRun's
        return False

    def signs_of_life_ns(self) -> Iterable[int]:
        return (send.end_ns for subject in self._run.programs.values() for send in subject.transcript.sends)

    def guards(self) -> tuple[Guard, ...]:
        return sending_guards_of(self._measurements)

    def measured(self) -> dict[str, int | float]:
        return self._measurements.measured()

    def operations(self) -> dict[Arm, int]:
        return {arm: len(subject.transcript.sends) for arm, subject in self._by_arm().items()}

    @cached_property
    def _measurements(self) -> SendMeasurements:
        """Taken once, when the case has ended."""
        run, programs = self._run, self._by_arm()
        sends = {arm: subject.transcript.sends for arm, subject in programs.items()}
        return SendMeasurements(
            case_name=str(run.case.id),
            planned=len(run.case.plan.sends),
            first_ns={arm: min(send.start_ns for send in reported) for arm, reported in sends.items() if reported},
            late_ns=median_lateness_ns(run.case.plan, sends, run.origin_ns),
            answered={arm: len(reported) for arm, reported in sends.items()},
            lost=frozenset(arm for arm, subject in programs.items() if subject.broken),
            lateness_limit_ns=lateness_limit_ns(run.case.faults),
        )

    def _by_arm(self) -> dict[Arm, SubjectProcess]:
        return {member.arm: subject for member, subject in self._run.programs.items() if member.arm is not None}

    def _read_kept_back(self) -> None:
        run = self._run
        kept = await_delivered(run.cluster, self._topics, run.case.plan.body_bytes)
        for arm in Arm:
            run.directory.write_stored(arm, kept[self._topic(arm)], table=TableName.SCHEDULED)

    def _client_report(self, member: Member, subject: SubjectProcess) -> ClientReport:
        case, transcript = self._run.case, subject.transcript
        return ClientReport(
            topic=self._topic_of(member),
            plan=case.plan,
            sends=transcript.sends,
            attempts=transcript.attempts,
            timeout_ms=self._own_ms(member) or case.scenario.settings.send_msg_timeout_ms,
            confuses_answers=_may_confuse_answers(case),
            are_beginnings=reports_starts(transcript.hello),
        )

    def _own_ms(self, member: Member) -> int:
        """Attempt timeout of a client that ignores the setting, else 0."""
        hello = self._hellos().get(member)
        return self._run.pair.timeout_ms(member) or (hello and hello.attempt_timeout_ms) or 0

    def _hellos(self) -> dict[Member, Hello]:
        hellos = {member: subject.transcript.hello for member, subject in self._run.programs.items()}
        return {member: hello for member, hello in hellos.items() if hello is not None}

    def _setup(self, member: Member) -> SubjectSetup:
        run = self._run
        relays, settings = run.relays, run.case.scenario.settings
        name_servers = relays.name_servers(member)
        longest_ms = max(map(self._own_ms, self.members))
        return SubjectSetup(
            name_servers=name_servers,
            topic=self._topic_of(member),
            warm_topic=self._warm_topic,
            group=f"{run.cluster.topic_prefix}-{run.directory.number}-{member}",
            run=run.directory.run,
            settings=settings,
            callback_limit_ms=round(1_000 * longest_callback_s(settings, len(name_servers), longest_ms)),
            security=relays.security.setup(),
            endpoints=relays.endpoints(member),
        )

    @property
    def _topics(self) -> tuple[str, ...]:
        return tuple(map(self._topic, Arm))

    def _topic_of(self, member: Member) -> str:
        assert member.arm is not None
        return self._topic(member.arm)

    def _topic(self, arm: Arm) -> str:
        return f"{self._run.prefix}-{arm}"

    @property
    def _warm_topic(self) -> str:
        return f"{self._run.prefix}-warm"


def _may_confuse_answers(case: Case) -> bool:
    """True if an asynchronous send of one of the releases may get another send's response (up to 4.6.1)."""
    releases = (case.id.baseline.rules, case.id.candidate.rules)
    return any(release and dialect_of(release).client.remoting.retry_takes_next_number for release in releases)
