"""
How soon members begin to work on queues that they have taken while messages waited in them.

A round that changes a member's share makes its subscription newer, and brokers refuse its pulls until they have a heartbeat with it. One
that finds another heartbeat under way is left out, so a member may wait for the next one: rarely, by chance, and with all its queues.
In order, up to 4.9.4, it also waits for the next renewal of the locks, nearly always.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rocketdiff.analysis.consuming.group_facts import ALPHA
from rocketdiff.analysis.consuming.membership import Membership
from rocketdiff.analysis.consuming.promptly import Promptly
from rocketdiff.analysis.consuming.story import CaseStory, GroupStory, Life, Tenure
from rocketdiff.core.consuming.watched import TopicKind
from rocketdiff.core.units import NS_PER_S
from rocketdiff.statistics.significance import exact_fisher

TOGETHER_NS = NS_PER_S
"""Queues that a member takes no further apart are of one round."""


@dataclass(frozen=True, slots=True)
class Takeover:
    """soon_ns: by when the work begins but for refused pulls; latest_ns: by when at the latest; begun_ns: when it did, or ended without."""

    tenure: Tenure
    soon_ns: int
    latest_ns: int
    begun_ns: int

    @property
    def is_late(self) -> bool:
        return self.begun_ns > self.soon_ns

    @property
    def is_too_late(self) -> bool:
        return self.begun_ns > self.latest_ns


def takeovers(story: CaseStory, group: GroupStory, membership: Membership) -> Iterator[Takeover]:
    """
    Yield those of the fed topic that no fault, pause of a process or want of threads delays.

    In order, a member owns a queue once it has the broker's lock.
    """
    promptly, origin_ns = Promptly(story, group), story.trace.origin_ns
    for tenure in group.tenures:
        life = group.life_of(tenure)
        if tenure.queue.kind is not TopicKind.FED or tenure.from_ns <= origin_ns or tenure.is_sought or life is None:
            continue
        stored_ns, begun_ns = _waiting_since(story, group, tenure), _begun_ns(group, tenure, life)
        if stored_ns is None or begun_ns is None:
            continue
        from_ns = max(tenure.from_ns, stored_ns) + membership.busy_ns
        soon_ns, latest_ns = (from_ns + membership.windows.first_message(is_refused=each) for each in (False, True))
        if (
            not membership.is_disturbed(tenure.from_ns, latest_ns)
            and not membership.is_frozen(life, tenure.from_ns, latest_ns)
            and promptly.calls_at(tenure.member, soon_ns) < promptly.threads
        ):
            yield Takeover(tenure, soon_ns, latest_ns, begun_ns)


def are_more_often_late(own: Sequence[Takeover], other: Sequence[Takeover]) -> bool:
    """True if the members of one group begin late after more of their rounds than those of the other (Fisher's exact test)."""
    (late, in_time), others = _rounds(own), _rounds(other)
    return late * sum(others) > others[0] * (late + in_time) and exact_fisher((late, in_time), others) < ALPHA


def _rounds(found: Sequence[Takeover]) -> tuple[int, int]:
    """Return after how many rounds a member began late, and after how many in time."""
    rounds: list[tuple[Tenure, bool]] = []
    for each in sorted(found, key=lambda one: (one.tenure.member, one.tenure.incarnation, one.tenure.from_ns)):
        tenure = each.tenure
        if rounds:
            last, was_late = rounds[-1]
            is_same = (last.member, last.incarnation) == (tenure.member, tenure.incarnation)
            if is_same and tenure.from_ns - last.from_ns <= TOGETHER_NS:
                rounds[-1] = last, was_late or each.is_late
                continue
        rounds.append((tenure, each.is_late))
    late = sum(is_late for _, is_late in rounds)
    return late, len(rounds) - late


def _waiting_since(story: CaseStory, group: GroupStory, tenure: Tenure) -> int | None:
    """Return when the message with which a member begins was stored, None if that is unknown."""
    deliveries = group.deliveries_in(tenure)
    send: int | None = None
    if deliveries:
        send = min(deliveries, key=lambda each: each.queue_offset).send
    elif tenure.first is not None and tenure.first >= 0:
        held = (story.held or {}).get(tenure.queue, ())
        send = next((each.send for each in held if each.queue_offset >= tenure.first), None)
    return None if send is None else story.stored_ns.get(send)


def _begun_ns(group: GroupStory, tenure: Tenure, life: Life) -> int | None:
    """Return when a tenure's work began, or when the tenure ended without any; None if neither was seen."""
    deliveries = group.deliveries_in(tenure)
    if deliveries:
        return min(each.start_ns for each in deliveries)
    ends = (tenure.until_ns, life.gone_ns, group.first_leave_ns)
    return None if life.is_cut_off else min(at_ns for at_ns in ends if at_ns is not None)
