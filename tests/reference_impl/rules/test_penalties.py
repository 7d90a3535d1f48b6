"""Avoidance by latency, in both generations (described-behaviours B1 and the rewrite of 5.1.4)."""

import pytest

from rocketmq_reference.rules.queue_choice.penalties import MINUTES, SECONDS, PenaltyTable


@pytest.mark.parametrize(
    ("latency", "avoided"),
    [
        (0, 0), (49, 0), (50, 0), (100, 0), (549, 0), (550, 30_000), (999, 30_000), (1_000, 60_000), (2_000, 120_000),
        (3_000, 180_000), (14_999, 180_000), (15_000, 600_000), (30_000, 600_000),
    ],
)  # fmt: skip
def test_minutes(latency: int, avoided: int) -> None:
    """To 5.1.3 the avoidance is 30 s to 10 min."""
    assert MINUTES.avoidance_ms(latency) == avoided


@pytest.mark.parametrize(
    ("latency", "avoided"),
    [
        (0, 0), (549, 0), (550, 2_000), (1_799, 2_000), (1_800, 5_000), (2_999, 5_000), (3_000, 6_000), (5_000, 10_000),
        (10_000, 10_000), (15_000, 30_000),
    ],
)  # fmt: skip
def test_seconds(latency: int, avoided: int) -> None:
    """From 5.1.4 the avoidance is 2 to 30 s."""
    assert SECONDS.avoidance_ms(latency) == avoided


def test_a_table_needs_a_penalty_for_each_threshold() -> None:
    """A table with fewer penalties than thresholds is rejected."""
    with pytest.raises(ValueError, match="as many"):
        PenaltyTable((50, 100), (0,))
