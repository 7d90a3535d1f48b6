"""The function that answers each check of ``core.checks``, and those that answer for all cases together."""

from collections.abc import Callable, Sequence

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.protocol import protocol, validity
from rocketdiff.analysis.checks.sending import (
    attempts,
    avoidance,
    callbacks,
    error_kind,
    failover_time,
    outcomes,
    outcomes_answer,
    queue_choice,
    start_positions,
    timing,
)
from rocketdiff.analysis.checks.storage import content, delay, duplication, loss, order
from rocketdiff.core.checks import CHECKS
from rocketdiff.core.evidence import Evidence

_FUNCTIONS: dict[str, Callable[[CaseFacts], Evidence]] = {
    queue_choice.NAME: queue_choice.answer,
    attempts.NAME: attempts.answer,
    avoidance.NAME: avoidance.answer,
    error_kind.NAME: error_kind.answer,
    timing.NAME: timing.answer,
    failover_time.NAME: failover_time.answer,
    loss.NAME: loss.answer,
    duplication.NAME: duplication.answer,
    content.NAME: content.answer,
    order.NAME: order.answer,
    callbacks.NAME: callbacks.answer,
    delay.NAME: delay.answer,
    outcomes.NAME: outcomes_answer.answer,
    protocol.NAME: protocol.answer,
    validity.NAME: validity.answer,
}

ANSWERS = {name: _FUNCTIONS[name] for name in CHECKS}
"""The answer to every check of the table; one without a function here fails when this is imported."""

POOLED: tuple[Callable[[Sequence[CaseFacts]], tuple[Evidence, ...]], ...] = (
    timing.pooled,
    failover_time.pooled,
    outcomes_answer.pooled,
    start_positions.pooled,
)
