"""
A case about consumers: one topic, fed once, and a group of each arm that consumes it.

The groups join and settle before the feed begins; after the feed and the healing of all faults they catch up and leave.
"""

import math
import time
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from itertools import chain

from rocketdiff.cluster.access import channels_to
from rocketdiff.cluster.interface import security_of
from rocketdiff.cluster.operations import admin
from rocketdiff.cluster.operations.drain import Drained, await_drained
from rocketdiff.cluster.operations.stored import read_stored
from rocketdiff.core.arm import FEEDER, Arm, Member
from rocketdiff.core.consuming.plan import Commits, GroupPlan, ListenerKind, MemberChange, MessageModel
from rocketdiff.core.errors import ClusterError, SubjectBroken, TraceError
from rocketdiff.core.events import OperationsEnded, emit
from rocketdiff.core.records.consuming import ALLOCATIONS, OFFSETS, OWNED
from rocketdiff.core.run_info import Guard
from rocketdiff.core.units import NS_PER_S
from rocketdiff.protocol.commands import SubjectSetup
from rocketdiff.protocol.consuming import MemberSetup
from rocketdiff.run.case.case_run import CaseRun
from rocketdiff.run.case.consuming.group_run import GroupRun
from rocketdiff.run.case.consuming.group_watch import GroupWatch
from rocketdiff.run.case.consuming.guards import (
    GroupMeasurements,
    apart_ns,
    consuming_guards_of,
    first_unserved,
    why_unproven,
)
from rocketdiff.run.case.consuming.joining import Joining
from rocketdiff.run.case.consuming.membership import AHEAD_NS, MembershipThread
from rocketdiff.run.case.consuming.names import CaseNames
from rocketdiff.run.case.consuming.read_back import returned_rows
from rocketdiff.run.case.consuming.wire_view import WireView
from rocketdiff.run.case.consuming.wire_witness import wire_report_of, without_route
from rocketdiff.run.case.role_run import NotClaimed
from rocketdiff.run.case.sending.guards import median_lateness_ns
from rocketdiff.subjects.consuming.claims import why_not_claimed
from rocketdiff.subjects.consuming.limits import MemberLimits, most_retries
from rocketdiff.subjects.consuming.talk import ConsumingTalk
from rocketdiff.subjects.sending.talk import SendingTalk
from rocketdiff.traces.layout import EXCHANGES_JOURNAL, GROUP_JOURNAL
from rocketdiff.traces.manifest import GroupEntry
from rocketdiff.traces.schema import TableName

WARM_MESSAGES = 8
"""A member's warm-up waits for this many, which load its classes."""

LEAVES_APART_S = 1.0
"""The rest of the group takes over before the next member leaves."""

PROVES_SETTLED = {ALLOCATIONS, OWNED}
"""What a member reports of its work; without one of them its relay shows whether its group is settled."""

PROVEN_BY_ITSELF = PROVES_SETTLED | {OFFSETS}
"""What a relay before the members has to show of a client that does not report it."""

_LOOK_S = 0.1


class ConsumingRun:
    """The consumer's part of a case; see ``RoleRun``."""

    is_leaving_work = True
    due_ns = 0

    def __init__(self, run: CaseRun) -> None:
        assert run.case.scenario.group is not None, "a scenario about consumers has a group"
        self._run = run
        self._plan: GroupPlan = run.case.scenario.group
        self.members: tuple[Member, ...] = (
            FEEDER,
            *(Member(arm, number) for arm in Arm for number in range(self._plan.processes)),
        )
        self._settled_s: dict[Arm, float | None] = dict.fromkeys(Arm)
        self._caught_up_s: dict[Arm, float | None] = dict.fromkeys(Arm)
        self._handed_ns: dict[Arm, dict[tuple[str, int], int]] = {}
        self._groups: dict[Arm, GroupRun] = {}
        self._drained: Drained | None = None

    @cached_property
    def names(self) -> CaseNames:
        run = self._run
        brokers = tuple(sorted(node.name for node in run.cluster.brokers))
        return CaseNames(run.prefix, brokers, run.case.scenario.queues_per_broker)

    def create_topics(self) -> None:
        """A new group would learn its retry topic after up to 50 s, so it is created before the first member joins."""
        cluster, names = self._run.cluster, self.names
        for topic in (names.fed, names.warm, names.feeder_warm):
            cluster.create_topic(topic, names.queues)
        for member in self.members:
            if member.arm is not None:
                cluster.announce_group(names.warm_group(member.arm, member.number or 0))
        for topics in names.groups.values():
            cluster.announce_group(topics.group)
            cluster.create_topic(topics.retry, 1)
        with channels_to(security_of(cluster)) as channels:
            for number in range(WARM_MESSAGES):
                broker = cluster.brokers[number % len(cluster.brokers)]
                queue_id = number // len(cluster.brokers) % names.queues
                admin.store_probe(channels, broker.address, queue_id, b"warm", names.warm)

    def require_claims(self) -> None:
        for member, subject in self._run.programs.items():
            hello = subject.transcript.hello
            if member is not FEEDER and hello is not None and (reason := why_not_claimed(self._plan, hello)):
                raise NotClaimed(reason)

    def silent_members(self) -> Collection[Member]:
        return self._without(PROVEN_BY_ITSELF)

    def _without(self, claims: Collection[str]) -> list[Member]:
        """Return the members whose hello does not claim all of these."""
        hellos = {member: subject.transcript.hello for member, subject in self._run.programs.items()}
        return [
            member
            for member, hello in hellos.items()
            if member is not FEEDER and hello is not None and not set(hello.capabilities) >= set(claims)
        ]

    def prepare(self) -> None:
        """Members and feeder warm up, then the members of both arms join, number by number, and settle."""
        run, names = self._run, self.names
        run.directory.form(dict.fromkeys(Arm, names.fed), self._entries())
        talks = {member: self._talk(member) for member in self.members if member is not FEEDER}
        run.each(
            lambda subject: subject.prepare(
                SendingTalk(run.case.plan, self._feeder_setup()) if subject.member is FEEDER else talks[subject.member]
            )
        )
        run.each(lambda subject: subject.await_ready())
        journal = run.stack.enter_context(run.directory.watched(GROUP_JOURNAL))
        for arm in Arm:
            subjects = {member.number or 0: run.programs[member] for member in talks if member.arm is arm}
            own = {member.number or 0: talk for member, talk in talks.items() if member.arm is arm}
            views = {
                member.number or 0: WireView(member, names.groups[arm], run.relays)
                for member in self._without(PROVES_SETTLED)
                if member.arm is arm
            }
            self._groups[arm] = GroupRun(arm, subjects, own, journal, views)
        self._watch = run.stack.enter_context(GroupWatch(run.cluster, names, run.directory))
        joining = Joining(run, names, self._groups, self._watch, self._limits)
        self._settled_s = joining.settled_s
        joining.join_all(self._plan.members)

    def _entries(self) -> dict[Arm, GroupEntry]:
        """Return what the run's manifest says of each group."""
        plan = self._plan
        mixed = {Arm.BASELINE: (), Arm.CANDIDATE: plan.mixed}
        return {
            arm: GroupEntry(
                topics.group,
                plan.processes,
                {**plan.settings, **plan.properties},
                plan.listener is ListenerKind.ORDERLY,
                plan.membership,
                mixed[arm],
                plan.model is MessageModel.BROADCASTING,
                plan.polls,
                plan.commits is Commits.SYNC,
                plan.tags,
                self._assigned,
            )
            for arm, topics in self.names.groups.items()
        }

    @property
    def _assigned(self) -> tuple[tuple[tuple[str, int], ...], ...]:
        """By member: broker and id of the queues that its application assigns to it; none if the members share them."""
        return self.names.assigned(self._plan.assign)

    def go(self) -> None:
        run = self._run
        assert run.clock is not None
        run.directory.begin(run.case.plan, clock=run.clock, origin_ns=run.origin_ns)
        feeder = run.programs[FEEDER]
        if feeder.broken is None:
            feeder.go(run.origin_ns)
        self._script = MembershipThread(self._plan, self.names, tuple(self._groups.values()), run.origin_ns)
        run.stack.callback(self._script.stop)

    def await_end(self) -> None:
        """Wait for the feeder, whose plan outlasts every fault."""
        run, feeder = self._run, self._run.programs[FEEDER]
        while not feeder.await_over(_LOOK_S):
            run.look_for_deaths()
            self._note_losses()
            for member, subject in run.programs.items():
                emit(run.listeners, OperationsEnded(run.directory.number, member, subject.ended))
        run.ended(FEEDER, feeder)
        self._script.join()

    def catch_up(self) -> None:
        """Both groups catch up, or the scenario's time is over."""
        began = time.monotonic()
        began_ns = time.monotonic_ns()
        while time.monotonic() - began < self._plan.drain_s and None in self._caught_up_s.values():
            for arm, group in self._groups.items():
                if self._caught_up_s[arm] is None and self._has_caught_up(arm, group, began_ns):
                    self._caught_up_s[arm] = time.monotonic() - began
            time.sleep(_LOOK_S)

    def drain_meanwhile(self) -> None:
        """The members leave, once they were sampled at rest."""
        self._drained = self._run.drain_at_rest(self._drained_topics)
        self._run.resources.await_rest()
        for place, number in enumerate(self._plan.remaining):
            if place:
                time.sleep(LEAVES_APART_S)
            self._leave(number)
        limits = self._limits
        self._run.each(lambda subject: subject.await_done(limits.leave_s + limits.call_s + limits.done_s))
        self._note_losses()
        self._watch.end()

    def report_wire(self) -> None:
        """Record what the relays saw of each group. Frames that they missed make the case invalid."""
        run, names = self._run, self.names
        if not run.relays.all:
            return
        is_clustering = self._plan.model is MessageModel.CLUSTERING
        with run.directory.watched(EXCHANGES_JOURNAL) as journal:
            for arm in Arm:
                members = {each: run.programs[each] for each in self.members if each.arm is arm}
                report, self._handed_ns[arm] = wire_report_of(
                    members,
                    names.groups[arm],
                    run.relays,
                    journal,
                    without_route=without_route(run.faults.values()),
                    commits_to_brokers=is_clustering,
                )
                run.wire[Member(arm)] = report
                if report.unseen:
                    seen = f"{len(report.unseen)} frames of {arm}'s members were not all seen: {report.unseen[0]}"
                    run.problems[f"wire {arm}"] = seen

    def read_back(self) -> None:
        """Wait until late writes have drained, then read the fed topic and the copies of both groups' failed messages."""
        run, names = self._run, self.names
        body_bytes = run.case.plan.body_bytes
        try:
            await_drained(run.cluster, self._drained_topics, before=self._drained)
            run.directory.write_read_back(TableName.HELD, None, read_stored(run.cluster, names.fed, body_bytes))
            for arm, topics in names.groups.items():
                rows = returned_rows(run.cluster, topics, body_bytes)
                run.directory.write_read_back(TableName.RETURNED, arm, rows)
        except (ClusterError, TraceError) as error:
            run.problems["read-back"] = str(error)
            return
        run.is_read_back = True

    @property
    def _drained_topics(self) -> tuple[str, ...]:
        return (self.names.fed, *(topics.retry for topics in self.names.groups.values()))

    def signs_of_life_ns(self) -> Iterable[int]:
        return chain.from_iterable(group.received_ns() for group in self._groups.values())

    def is_stop_wanted(self, member: Member, from_ns: int, to_ns: int) -> bool:
        group = None if member.arm is None else self._groups.get(member.arm)
        return group is not None and group.is_stop_wanted(member.number or 0, from_ns, to_ns)

    def guards(self) -> tuple[Guard, ...]:
        return consuming_guards_of(self._measurements)

    def measured(self) -> dict[str, int | float]:
        return self._measurements.measured()

    def operations(self) -> dict[Arm, int]:
        return {arm: group.calls for arm, group in self._groups.items()}

    @cached_property
    def _measurements(self) -> GroupMeasurements:
        run = self._run
        sends = run.programs[FEEDER].transcript.sends
        until_ns = run.origin_ns + round(run.case.scenario.duration_s * NS_PER_S)
        return GroupMeasurements(
            case_name=str(run.case.id),
            planned=len(run.case.plan.sends),
            answered=len(sends),
            late_ns=median_lateness_ns(run.case.plan, {Arm.BASELINE: sends}, run.origin_ns).get(Arm.BASELINE, 0),
            apart_ns=apart_ns([group.carried_out_ns(run.origin_ns, until_ns) for group in self._groups.values()]),
            settled_s=self._settled_s,
            unserved=self._unserved(),
            caught_up_s=self._caught_up_s,
            interrupted=dict(self._interrupted()),
        )

    def _interrupted(self) -> Iterator[tuple[Member, str]]:
        """Of the members that kept to the protocol."""
        events = [event for event in self._plan.membership if event.change in (MemberChange.KILL, MemberChange.PAUSE)]
        for member in self.members:
            own = [event for event in events if event.member == member.number]
            if member.arm is not None and own and self._run.programs[member].broken is None:
                orders = [order for order in self._groups[member.arm].orders if order.member == member.number]
                flaws = (why_unproven(event, orders, self._run.origin_ns) for event in own)
                yield member, "; ".join(filter(None, flaws))

    def _has_caught_up(self, arm: Arm, group: GroupRun, since_ns: int) -> bool:
        if self._plan.model is MessageModel.BROADCASTING:
            return group.has_each_worked_to(self._watch.fed_ends(arm, since_ns), self._plan.remaining)
        is_caught_up = self._watch.has_caught_up(arm, since_ns, self._own_ends)
        return is_caught_up and group.open_retries(most_retries(self._plan)) <= 0

    @cached_property
    def _own_ends(self) -> dict[tuple[str, int], int] | None:
        """After the feed; None for all ends: the group subscribes to everything, or a send with an unknown end may be stored."""
        tags, plan = self._plan.tags, self._run.case.plan.sends
        sends = self._run.programs[FEEDER].transcript.sends
        if not tags or len(sends) < len(plan) or any(send.queue_offset is None for send in sends):
            return None
        ends: dict[tuple[str, int], int] = {}
        for send in sends:
            if plan[send.send].tags in tags and send.queue_offset is not None:
                queue = (send.broker or "", send.queue_id or 0)
                ends[queue] = max(ends.get(queue, 0), send.queue_offset + 1)
        return ends

    def _note_losses(self) -> None:
        """A member that broke the protocol is noted when it is seen, also one that had left for good."""
        for member, subject in self._run.programs.items():
            if subject.broken is not None:
                self._run.ended(member, subject)

    def _unserved(self) -> dict[Arm, str]:
        """Of the groups that settled. What a relay saw handed to a member was served, whatever the member made of it."""
        run = self._run
        stored_ns: dict[tuple[str, int], int] = {}
        for send in run.programs[FEEDER].transcript.sends:
            if send.broker is not None and send.queue_id is not None:
                queue = (send.broker, send.queue_id)
                stored_ns[queue] = min(send.end_ns, stored_ns.get(queue, send.end_ns))
        plan = self._plan
        times_s = [*(fault.at_s for fault in run.case.faults), *(event.at_s for event in plan.membership)]
        times_s += [event.at_s for event in plan.application]
        first_s = min(times_s, default=math.inf)
        until_ns = run.origin_ns + round(min(first_s, run.case.scenario.duration_s) * NS_PER_S)
        return {
            arm: first_unserved(stored_ns, self._served_ns(arm, group), until_ns, self._plan.longest_work_ms)
            for arm, group in self._groups.items()
            if arm in self._settled_s
        }

    def _served_ns(self, arm: Arm, group: GroupRun) -> dict[tuple[str, int], int]:
        found = group.first_calls_ns(self.names.fed)
        for queue, at_ns in self._handed_ns.get(arm, {}).items():
            found[queue] = min(at_ns, found.get(queue, at_ns))
        return found

    def _leave(self, number: int) -> None:
        at_ns = time.monotonic_ns() + AHEAD_NS
        for group in self._groups.values():
            group.leave(number, at_ns, is_last=True)
        for arm, group in self._groups.items():
            try:
                group.await_left(number, self._limits.leave_s + 1)
            except SubjectBroken:
                self._run.ended(Member(arm, number), self._run.programs[Member(arm, number)])

    @cached_property
    def _limits(self) -> MemberLimits:
        return MemberLimits.of(self._plan, len(self._run.case.plan.sends), len(self.names.brokers))

    def _talk(self, member: Member) -> ConsumingTalk:
        run, names, plan = self._run, self.names, self._plan
        assert member.arm is not None
        number = member.number or 0
        setup = MemberSetup(
            member=number,
            instance=names.instance(member.arm, number),
            name_servers=run.relays.name_servers(member),
            topic=names.fed,
            warm_topic=names.warm,
            group=names.groups[member.arm].group,
            warm_group=names.warm_group(member.arm, number),
            run=run.directory.run,
            listener=plan.listener,
            model=plan.model,
            strategy=plan.allocation,
            work_ms=plan.work_ms,
            body_bytes=run.case.scenario.workload.body_bytes,
            settings=plan.settings,
            properties=plan.properties,
            brokers={node.address: node.name for node in run.cluster.brokers},
            expression=plan.expression,
            commits=plan.commits if plan.commits is Commits.SYNC else None,
            assign=self._assigned[number] if self._assigned else None,
            security=run.relays.security.setup(),
        )
        return ConsumingTalk(setup, plan.rules, self._limits)

    def _feeder_setup(self) -> SubjectSetup:
        run, names = self._run, self.names
        return SubjectSetup(
            name_servers=run.cluster.name_server_addresses,
            topic=names.fed,
            warm_topic=names.feeder_warm,
            group=f"{names.prefix}-feeder",
            run=run.directory.run,
            settings=run.case.scenario.settings,
            security=security_of(run.cluster).setup(),
        )
