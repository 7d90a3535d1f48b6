"""
How late a group's messages are, by the second, what others on the machine explain of it, and which of two groups is later.

Seconds count, not messages: a stall makes all messages of its second late. What a starved process may explain speaks for the group
that is accused, and never makes the other one faster. The unit of the test is the second, in both directions, as in a paired
comparison of two clients (McNemar).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from rocketdiff.analysis.consuming.group_facts import ALPHA
from rocketdiff.analysis.consuming.story import CaseStory, GroupStory
from rocketdiff.core.arm import Arm, Member
from rocketdiff.core.units import NS_PER_S
from rocketdiff.statistics.significance import exact_mcnemar
from rocketdiff.traces.manifest import ResourceSample

AT_WORK = 4
"""Of the waiting of all threads of a client a message meets up to a fourth: it passes some of them in turn (at a load of 40)."""

OWN_CORES = 0.5
"""A client that uses more of a core itself is not starved by others."""


class Starvation:
    """What others on the machine explain of the lateness of one group of a case, from the samples of its members' processes; without samples nothing is explained."""

    def __init__(self, story: CaseStory, group: GroupStory) -> None:
        self._late_ns: dict[int, int] = {}
        for member, samples in story.trace.entry.resources.items():
            if Member.parse(member).arm is group.arm:
                for before, after in pairwise(samples):
                    self._take(before, after)

    def explains_ns(self, from_ns: int, to_ns: int) -> int:
        """Return how late a message may be that is stored at one instant and delivered at another."""
        seconds = range(from_ns // NS_PER_S, to_ns // NS_PER_S + 1)
        return max((self._late_ns.get(second, 0) for second in seconds), default=0)

    def _take(self, before: ResourceSample, after: ResourceSample) -> None:
        if before.waited_ns is None or after.waited_ns is None or before.cpu_ns is None or after.cpu_ns is None:
            return
        passed_ns = max(1, after.at_ns - before.at_ns)
        if after.cpu_ns - before.cpu_ns > OWN_CORES * passed_ns:
            return
        late_ns = (after.waited_ns - before.waited_ns) * NS_PER_S // passed_ns // AT_WORK
        for second in range(before.at_ns // NS_PER_S, after.at_ns // NS_PER_S + 1):
            self._late_ns[second] = max(late_ns, self._late_ns.get(second, late_ns))


@dataclass(slots=True)
class LateSeconds:
    """Lateness of one group in ms, by second. seen_ms: as it was; own_ms: without what others on the machine may explain."""

    seen_ms: dict[int, float] = field(default_factory=dict)
    own_ms: dict[int, float] = field(default_factory=dict)

    def take_longest(self, second: int, seen_ms: float, explained_ms: float) -> None:
        """Note one of a second's messages."""
        self.seen_ms[second] = max(seen_ms, self.seen_ms.get(second, 0.0))
        self.own_ms[second] = max(seen_ms - explained_ms, self.own_ms.get(second, 0.0))


@dataclass(frozen=True, slots=True)
class Later:
    """A group that is later than the other. seconds: in which it is; against: in how many the other is; of: seconds that both have."""

    arm: Arm
    other: Arm
    seconds: Sequence[int]
    against: int
    of: int


def later_group(
    late: Mapping[Arm, LateSeconds],
    is_later: Callable[[float, float], bool],
    least_share: float = 0.0,
    seconds: Sequence[int] | None = None,
) -> Later | None:
    """
    Return the group that is later in more seconds than the other, and in more than a share of them; None if chance may explain it.

    is_later: of a lateness and the other group's, in ms. seconds: to compare; None for all that both groups have.
    """
    of = sorted(late[Arm.BASELINE].seen_ms.keys() & late[Arm.CANDIDATE].seen_ms.keys()) if seconds is None else seconds
    found = {
        arm: [second for second in of if is_later(late[arm].own_ms[second], late[other].seen_ms[second])]
        for arm, other in ((Arm.CANDIDATE, Arm.BASELINE), (Arm.BASELINE, Arm.CANDIDATE))
    }
    arm, other = sorted(found, key=lambda each: len(found[each]), reverse=True)
    slow, against = found[arm], len(found[other])
    if len(slow) > max(against, least_share * len(of)) and exact_mcnemar(len(slow), against) < ALPHA:
        return Later(arm, other, slow, against, len(of))
    return None
