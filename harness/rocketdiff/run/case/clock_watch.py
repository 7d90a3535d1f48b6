"""Samples the offset of the wall clock from the monotonic clock while a case runs: two readings of a clock each time."""

import time
from dataclasses import replace

from rocketdiff.core.clock import ClockAnchor
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.run.case.sampling import Watch

CHANGE_NS = NS_PER_MS // 2
"""A change of the offset that is stored: a tenth of the slip at which a clock is no longer steady."""

BRIEF_NS = NS_PER_MS // 10
"""
Longest time between the readings of a good sample; they take 0.001 ms unless the thread is preempted between them.
"""


class ClockWatch(Watch):
    """
    ``seen`` has the samples where the offset changed, with the last one before the change.

    every_s: a step is known to a tenth of a second, a dozen sends of a shipped scenario.
    """

    every_s = 0.1

    def __init__(self, anchor: ClockAnchor) -> None:
        super().__init__("clock-watch")
        self._anchor = anchor
        at_ns, wall_ns, _ = _read()
        self._first_ns = self._ahead_ns(at_ns, wall_ns)  # the anchor has whole milliseconds
        self._last = (anchor.monotonic_ns, 0)
        self._kept = [self._last]

    @property
    def seen(self) -> ClockAnchor:
        """The anchor with the samples; without any if the offset never changed."""
        return replace(self._anchor, offsets=tuple(self._kept)) if len(self._kept) > 1 else self._anchor

    @property
    def slip_ms(self) -> int:
        """Change of the offset since the case began."""
        return round(self._last[1] / NS_PER_MS)

    def _look(self, *, is_at_rest: bool = False) -> None:  # noqa: ARG002 - clocks have no rest
        sample = self._sample()
        if sample is None:
            return
        if abs(sample[1] - self._kept[-1][1]) >= CHANGE_NS:
            if self._kept[-1] != self._last:
                self._kept.append(self._last)
            self._kept.append(sample)
        self._last = sample

    def _look_at_rest(self) -> None:
        self._look()

    def _sample(self) -> tuple[int, int] | None:
        """Read the clocks until nothing comes between; None if something always does, so that the next sample counts."""
        for _ in range(5):
            at_ns, wall_ns, took_ns = _read()
            if took_ns <= BRIEF_NS:
                return at_ns, self._ahead_ns(at_ns, wall_ns) - self._first_ns
        return None

    def _ahead_ns(self, at_ns: int, wall_ns: int) -> int:
        return wall_ns - self._anchor.wall_ms * NS_PER_MS - (at_ns - self._anchor.monotonic_ns)


def _read() -> tuple[int, int, int]:
    """Return one instant on both clocks, monotonic first, and how long reading them took, in ns."""
    before_ns, wall_ns = time.monotonic_ns(), time.time_ns()
    return before_ns, wall_ns, time.monotonic_ns() - before_ns
