"""
The two clocks of a case: times are monotonic, brokers and Java's rules read the wall clock.

A wall clock may be stepped or slewed during a case. Its offset from the monotonic clock is sampled, so that an instant
converts to the wall times that it may have had: within a step, either side of it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from rocketdiff.core.units import NS_PER_MS

CLOCK_SLIP_MS = 5
"""
Java measures timeouts and avoidance on the wall clock, the oracle on the monotonic clock with a millisecond of padding.

A clock being disciplined slips at most 0.5 ms a second, over seconds well under this limit. A clock step exceeds it.
"""


@dataclass(frozen=True, slots=True)
class ClockAnchor:
    """
    One instant on both clocks: monotonic in ns, wall clock in ms since the epoch.

    offsets, since 1.10: instants (monotonic, ns), in order, and by how many ns the wall clock was then ahead of what this
    instant predicts; only samples between which the offset changed. Without any it is steady.
    """

    monotonic_ns: int
    wall_ms: int
    offsets: tuple[tuple[int, int], ...] = ()

    def range_ms(self, from_ns: int, to_ns: int) -> tuple[float, float]:
        """Return the lowest and the highest wall time, in ms, between two instants of the monotonic clock."""
        least, most = self.offset_range_ns(from_ns, to_ns)
        lowest, highest = from_ns - self.monotonic_ns + least, to_ns - self.monotonic_ns + most
        return self.wall_ms + lowest / NS_PER_MS, self.wall_ms + highest / NS_PER_MS

    def latest_ns(self, wall_ms: float) -> int:
        """Return the latest instant of the monotonic clock, in ns, at which the wall clock may have shown this time."""
        least = min((offset for _, offset in self.offsets), default=0)
        return self.monotonic_ns + int((wall_ms - self.wall_ms) * NS_PER_MS) - least

    def offset_range_ns(self, from_ns: int, to_ns: int) -> tuple[int, int]:
        """Return the lowest and the highest offset between two instants; between two samples it has that of either."""
        if not self.offsets:
            return 0, 0
        first = max(bisect_right(self.offsets, from_ns, key=_instant) - 1, 0)
        after = bisect_left(self.offsets, to_ns, key=_instant) + 1
        between = [offset for _, offset in self.offsets[first:after]] or [self.offsets[-1][1]]
        return min(between), max(between)

    def steps(self) -> Iterator[tuple[int, int]]:
        """Yield the intervals of the monotonic clock, in ns, within which the wall clock was stepped."""
        for (before_ns, before), (after_ns, after) in zip(self.offsets, self.offsets[1:], strict=False):
            if abs(after - before) > CLOCK_SLIP_MS * NS_PER_MS:
                yield before_ns, after_ns

    @property
    def slipped_since_ns(self) -> int | None:
        """Since when the wall clock may be off by more than a steady one is; None if it never was."""
        found = next((at for at, (_, ns) in enumerate(self.offsets) if abs(ns) > CLOCK_SLIP_MS * NS_PER_MS), None)
        return None if found is None else self.offsets[max(found - 1, 0)][0]


STEADY = ClockAnchor(0, 0)
"""A wall clock that is never stepped."""


def _instant(sample: tuple[int, int]) -> int:
    return sample[0]
