"""Every check by name, and the three that are asked of every case whether its scenario names them or not."""

from collections.abc import Callable, Sequence

from harness.analysis.checks import (
    attempts,
    avoidance,
    callbacks,
    content,
    delay,
    duplication,
    error_kind,
    failover_time,
    loss,
    order,
    outcomes,
    outcomes_answer,
    protocol,
    queue_choice,
    start_positions,
    timing,
    validity,
)
from harness.analysis.checks.case_facts import CaseFacts
from harness.core.evidence import Evidence

ANSWERS: dict[str, Callable[[CaseFacts], Evidence]] = {
    queue_choice.NAME: queue_choice.answer,
    attempts.NAME: attempts.answer,
    avoidance.NAME: avoidance.answer,
    error_kind.NAME: error_kind.answer,
    timing.NAME: timing.answer,
    loss.NAME: loss.answer,
    duplication.NAME: duplication.answer,
    failover_time.NAME: failover_time.answer,
    callbacks.NAME: callbacks.answer,
    content.NAME: content.answer,
    order.NAME: order.answer,
    delay.NAME: delay.answer,
    outcomes.NAME: outcomes_answer.answer,
    protocol.NAME: protocol.answer,
    validity.NAME: validity.answer,
}

IMPLICIT = (outcomes.NAME, protocol.NAME, validity.NAME)

POOLED: tuple[Callable[[Sequence[CaseFacts]], tuple[Evidence, ...]], ...] = (
    timing.pooled,
    failover_time.pooled,
    outcomes_answer.pooled,
    start_positions.pooled,
)
