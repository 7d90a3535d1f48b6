"""How much later than usual a group's messages may be because others had the cores: its threads could run, and had to wait."""

from itertools import pairwise

from rocketdiff.analysis.consuming.story import CaseStory, GroupStory
from rocketdiff.core.arm import Member
from rocketdiff.core.units import NS_PER_S
from rocketdiff.traces.manifest import ResourceSample

AT_WORK = 4
"""Of the waiting of all threads of a client a message meets up to a fourth: it passes some of them in turn (at a load of 40)."""

OWN_CORES = 0.5
"""A client that uses more of a core itself is not starved by others."""


class Starvation:
    """Of one group of a case, from the samples of its members' processes; without samples nothing is explained."""

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
            self._late_ns[second] = max(late_ns, self._late_ns.get(second, 0))
