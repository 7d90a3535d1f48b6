"""The evaluation of each check of ``core.tables.checks``, and the evaluations over all cases."""

from collections.abc import Callable, Sequence

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.protocol import protocol, validity
from rocketdiff.analysis.checks.sending.by_rules import (
    attempts,
    avoidance,
    callbacks,
    error_kind,
    queue_choice,
    start_positions,
)
from rocketdiff.analysis.checks.sending.durations import failover_time, timing
from rocketdiff.analysis.checks.sending.results import outcomes, outcomes_evaluation
from rocketdiff.analysis.checks.storage import content, delay, duplication, loss, order
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.tables.checks import CHECKS

_FUNCTIONS: dict[str, Callable[[CaseFacts], Evidence]] = {
    queue_choice.NAME: queue_choice.evaluate,
    attempts.NAME: attempts.evaluate,
    avoidance.NAME: avoidance.evaluate,
    error_kind.NAME: error_kind.evaluate,
    timing.NAME: timing.evaluate,
    failover_time.NAME: failover_time.evaluate,
    loss.NAME: loss.evaluate,
    duplication.NAME: duplication.evaluate,
    content.NAME: content.evaluate,
    order.NAME: order.evaluate,
    callbacks.NAME: callbacks.evaluate,
    delay.NAME: delay.evaluate,
    outcomes.NAME: outcomes_evaluation.evaluate,
    protocol.NAME: protocol.evaluate,
    validity.NAME: validity.evaluate,
}

EVALUATIONS = {name: _FUNCTIONS[name] for name in CHECKS}
"""Check name to evaluation; a check without one fails at import."""

POOLED: tuple[Callable[[Sequence[CaseFacts]], tuple[Evidence, ...]], ...] = (
    timing.pooled,
    failover_time.pooled,
    outcomes_evaluation.pooled,
    start_positions.pooled,
)
