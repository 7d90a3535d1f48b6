"""The group that a scenario file states, as a value, and what it asks of a client."""

from dataclasses import dataclass

from rocketdiff.core.consuming.plan import (
    Allocation,
    ApplicationEvent,
    Commits,
    ConsumerCall,
    GroupPlan,
    ListenerKind,
    ListenerOutcome,
    ListenerRule,
    MemberChange,
    MemberEvent,
    MessageModel,
    Mix,
    PlannedQueue,
)
from rocketdiff.core.demand import GroupDemand
from rocketdiff.documents.part import Part
from rocketdiff.scenario.consuming.file_format import ApplicationPart, ConsumersPart, MembershipPart


@dataclass(frozen=True, slots=True)
class GroupWork:
    """The work of consumers in a scenario."""

    plan: GroupPlan

    def demands(self, queue_counts: tuple[int, ...]) -> tuple[GroupDemand, ...]:  # noqa: ARG002 - any number will do
        """What a client must have to take part."""
        return (GroupDemand.of(self.plan),)

    def figures(self) -> dict[str, object]:
        plan = self.plan
        figures = {
            "members": plan.members,
            "listener": plan.listener.value,
            "model": plan.model.value,
            "allocation": plan.allocation.value,
            "work_ms": plan.work_ms,
            "rules": len(plan.rules),
        }
        stated = {
            "commits": plan.commits.value if plan.commits is Commits.SYNC else "",
            "mix": plan.mix.value if plan.mixed else "",
            "tags": list(plan.tags),
            "assign": [" ".join(map(str, queues)) for queues in plan.assign],
            "membership": list(map(str, plan.membership)),
            "application": list(map(str, plan.application)),
            "settings": {**plan.settings, **plan.properties},
        }
        return figures | {name: value for name, value in stated.items() if value}


def group_of(part: ConsumersPart) -> GroupPlan:
    """Return the group that a file states."""
    return GroupPlan(
        members=part.members,
        listener=ListenerKind(part.listener),
        model=MessageModel(part.model),
        allocation=Allocation(part.allocation),
        rules=tuple(
            ListenerRule(
                rule=number,
                every=rule.every,
                tries=rule.tries,
                outcome=ListenerOutcome(rule.outcome),
                offset=rule.offset,
                delay_level=rule.delay_level,
                suspend_ms=rule.suspend_ms,
                work_ms=rule.work_ms,
            )
            for number, rule in enumerate(part.rules)
        ),
        work_ms=part.work_ms,
        settings=_stated(part.settings),
        properties={name: int(value) for name, value in _stated(part.properties).items()},
        drain_s=part.drain_s,
        membership=tuple(sorted(map(event_of, part.membership), key=lambda event: event.at_s)),
        mix=Mix(part.mix),
        commits=Commits(part.commits),
        tags=tuple(part.tags),
        assign=tuple(tuple(map(queue_of, queues)) for queues in part.assign),
        application=tuple(sorted(map(call_of, part.application), key=lambda event: event.at_s)),
    )


def queue_of(text: str) -> PlannedQueue:
    """Return the queue that a file names as ``a/0``."""
    broker, _, number = text.partition("/")
    return PlannedQueue(broker, int(number))


def call_of(part: ApplicationPart) -> ApplicationEvent:
    """Return one entry of the application's script, which names one call."""
    calls = {call: getattr(part, call.value) for call in ConsumerCall}
    call, queue = next((call, queue) for call, queue in calls.items() if queue is not None)
    return ApplicationEvent(part.at_s, part.member, call, queue_of(queue), part.offset)


def event_of(part: MembershipPart) -> MemberEvent:
    """Return one entry of the membership script, which names one event."""
    changes = {change: getattr(part, change.value) for change in MemberChange}
    change, member = next((change, member) for change, member in changes.items() if member is not None)
    return MemberEvent(part.at_s, member, change, part.for_s)


def _stated(part: Part) -> dict[str, int | str]:
    return {name: value for name, value in part.model_dump().items() if value is not None}
