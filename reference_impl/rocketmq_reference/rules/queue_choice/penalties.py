"""
Time for which a broker is avoided after an attempt: a step function of latency, in whole ms (MQFaultStrategy, every release).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PenaltyTable:
    """A latency of at least ``slower_than_ms[i]`` earns ``avoid_for_ms[i]``; the highest threshold reached counts."""

    slower_than_ms: tuple[int, ...]
    avoid_for_ms: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.slower_than_ms) != len(self.avoid_for_ms):
            raise ValueError(f"as many thresholds as penalties: {self.slower_than_ms} against {self.avoid_for_ms}")

    def avoidance_ms(self, latency_ms: int) -> int:
        for i in range(len(self.slower_than_ms) - 1, -1, -1):
            if latency_ms >= self.slower_than_ms[i]:
                return self.avoid_for_ms[i]
        return 0


MINUTES = PenaltyTable(
    slower_than_ms=(50, 100, 550, 1_000, 2_000, 3_000, 15_000),
    avoid_for_ms=(0, 0, 30_000, 60_000, 120_000, 180_000, 600_000),
)
"""Up to 5.1.3: half a minute to ten minutes."""

SECONDS = PenaltyTable(
    slower_than_ms=(50, 100, 550, 1_800, 3_000, 5_000, 15_000),
    avoid_for_ms=(0, 0, 2_000, 5_000, 6_000, 10_000, 30_000),
)
"""From 5.1.4: two to thirty seconds."""
