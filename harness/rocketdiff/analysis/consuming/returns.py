"""
How soon a group works again on the queues of a broker that was killed and has restarted: at once, or with a member's next heartbeat.

The broker has forgotten the members, and refuses their pulls until it has a heartbeat. From 5.2.0 on each new connection brings one; before,
the members' own period does, whenever it comes round. A restart beside which a heartbeat was due anyway shows nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rocketdiff.analysis.consuming.group_facts import ALPHA
from rocketdiff.analysis.consuming.membership import Membership
from rocketdiff.analysis.consuming.story import CaseStory, GroupStory, Life
from rocketdiff.core.consuming.watched import TopicKind
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.core.units import NS_PER_S
from rocketdiff.oracle.consumer.windows import RECONNECT_NS
from rocketdiff.statistics.significance import exact_fisher

FIRST_HEARTBEAT_NS = NS_PER_S
"""From a member's start to its first heartbeat by the timer (MQClientInstance.startScheduledTask)."""


@dataclass(frozen=True, slots=True)
class Return:
    """
    heal_ns: when the restart of a broker began; soon_ns: until when it has a heartbeat of a new connection.

    begun_ns: when the work on a queue of it began, None for not yet.
    """

    heal_ns: int
    soon_ns: int
    begun_ns: int | None

    @property
    def is_soon(self) -> bool:
        return self.begun_ns is not None and self.begun_ns <= self.soon_ns


def returns(story: CaseStory, group: GroupStory, membership: Membership) -> Iterator[Return]:
    """Yield those of brokers for which messages waited, while nothing else was wrong and no member came or went."""
    windows = membership.windows
    for fault in story.trace.faults:
        if fault.kind is not FaultKind.KILL or fault.heal_ns is None or fault.healed_ns is None:
            continue
        soon_ns = fault.healed_ns + RECONNECT_NS + membership.busy_ns
        if (
            not _is_disturbed(story, group, fault, soon_ns)
            and _waits(story, fault, soon_ns)
            and not any(_is_heartbeat_due(life, windows.heartbeat_ns, fault.heal_ns, soon_ns) for life in group.lives)
        ):
            yield Return(fault.heal_ns, soon_ns, min(group.starts_after(fault), default=None))


def are_unlike(one: Sequence[Return], other: Sequence[Return]) -> bool:
    """True if one group is back soon after more restarts than the other, and chance does not explain it (Fisher's exact test)."""
    return bool(one and other) and exact_fisher(counts(one), counts(other)) < ALPHA


def counts(found: Sequence[Return]) -> tuple[int, int]:
    """Return after how many restarts a group was back soon, and after how many it was not."""
    soon = sum(each.is_soon for each in found)
    return soon, len(found) - soon


def _is_disturbed(story: CaseStory, group: GroupStory, fault: FaultRecord, until_ns: int) -> bool:
    others = (each for each in story.trace.faults if each is not fault)
    return any(
        each.inject_ns < until_ns and (each.healed_ns is None or each.healed_ns > fault.inject_ns) for each in others
    ) or any(fault.inject_ns <= at_ns <= until_ns for at_ns in (*group.changes_ns, group.first_leave_ns))


def _waits(story: CaseStory, fault: FaultRecord, until_ns: int) -> bool:
    """True if a message was stored between the restart and an instant, a second before it at the latest."""
    return any(
        fault.heal_ns is not None and fault.heal_ns <= stored_ns <= until_ns - NS_PER_S
        for queue, held in (story.held or {}).items()
        if queue.broker == fault.node and queue.kind is TopicKind.FED
        for each in held
        if each.send is not None and (stored_ns := story.stored_ns.get(each.send)) is not None
    )


def _is_heartbeat_due(life: Life, period_ns: int, from_ns: int, until_ns: int) -> bool:
    """True if a member's timer may send one in an interval."""
    if life.join_ns is None or life.joined_ns is None:
        return True
    first_ns, last_ns = life.join_ns + FIRST_HEARTBEAT_NS, life.joined_ns + FIRST_HEARTBEAT_NS
    periods = max(0, -((last_ns - from_ns) // period_ns))
    return first_ns + periods * period_ns <= until_ns
