"""Avoidance by latency, in both generations (described-behaviours B1 and the rewrite of 5.1.4)."""

import pytest

from rocketmq_reference.rules.queue_choice.penalties import PenaltyTable


def test_a_table_needs_a_penalty_for_each_threshold() -> None:
    """A table with fewer penalties than thresholds is rejected."""
    with pytest.raises(ValueError, match="as many"):
        PenaltyTable((50, 100), (0,))
