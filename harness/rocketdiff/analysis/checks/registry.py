"""The code of each check of ``core.tables.checks``: the only list of checks to run."""

from typing import Any

from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.checks.protocol import protocol, validity
from rocketdiff.analysis.checks.sending.by_rules import attempts, avoidance, callbacks, error_kind, queue_choice
from rocketdiff.analysis.checks.sending.durations import failover_time, timing
from rocketdiff.analysis.checks.sending.results import outcomes_evaluation
from rocketdiff.analysis.checks.storage import content, delay, duplication, loss, order
from rocketdiff.core.tables.checks import CHECKS, REPORT_ORDER, CheckKind

_CODES: tuple[CheckCode[Any, Any], ...] = (
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
    protocol.CODE,
    validity.CODE,
)

CODES = {name: {code.name: code for code in _CODES}[name] for name in CHECKS}
"""By name; a check without code fails at import."""


def _place(code: CheckCode[Any, Any]) -> tuple[bool, int]:
    return CHECKS[code.name].kind is CheckKind.EXACT, REPORT_ORDER.index(code.name)


POOLED = tuple(code.pooled for code in sorted(_CODES, key=_place) if code.pooled is not None)
"""Evaluations over all cases, in the order of a report: durations, then counts."""
