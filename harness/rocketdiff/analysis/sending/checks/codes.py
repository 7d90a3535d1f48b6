"""The checks of sends, each registered by its ``CODE``."""

from typing import Any

from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.sending.checks.by_rules import attempts, avoidance, callbacks, error_kind, queue_choice
from rocketdiff.analysis.sending.checks.durations import failover_time, timing
from rocketdiff.analysis.sending.checks.results import outcomes_evaluation, pace, resources
from rocketdiff.analysis.sending.checks.storage import content, delay, duplication, loss, order

SENDING_CODES: tuple[CheckCode[Any, Any], ...] = (
    queue_choice.CODE,
    attempts.CODE,
    avoidance.CODE,
    error_kind.CODE,
    timing.CODE,
    failover_time.CODE,
    loss.CODE,
    duplication.CODE,
    content.CODE,
    order.CODE,
    callbacks.CODE,
    delay.CODE,
    outcomes_evaluation.CODE,
    pace.CODE,
    resources.CODE,
)
