"""The analysis of each role, and the code of each check of ``core.tables.checks``: the only lists of both."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from rocketdiff.analysis.case_trace import BATCH_ROWS, CaseTrace
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.checks.protocol import protocol, validity
from rocketdiff.analysis.consuming.role import CONSUMING
from rocketdiff.analysis.facts import CaseFact
from rocketdiff.analysis.role_analysis import RoleAnalysis
from rocketdiff.analysis.sending.role import SENDING
from rocketdiff.core.tables.checks import CHECKS, REPORT_ORDER, CheckKind
from rocketdiff.core.tables.roles import ClientRole

ROLE_ANALYSES: Mapping[ClientRole, RoleAnalysis] = {ClientRole.PRODUCER: SENDING, ClientRole.CONSUMER: CONSUMING}

_CODES: tuple[CheckCode[Any, Any], ...] = (
    *(code for role in ROLE_ANALYSES.values() for code in role.codes),
    protocol.CODE,
    validity.CODE,
)

_BY_NAME = {code.name: code for code in _CODES}

CODES = {name: _BY_NAME[name] for name in CHECKS}
"""By name; a check without code fails at import."""


def _place(code: CheckCode[Any, Any]) -> tuple[bool, int]:
    return CHECKS[code.name].kind is CheckKind.EXACT, REPORT_ORDER.index(code.name)


POOLED = tuple(code.pooled for code in sorted(_CODES, key=_place) if code.pooled is not None)
"""Evaluations over all cases, in the order of a report: durations, then counts."""


def judge_case(
    trace: CaseTrace,
    *,
    batch_rows: int = BATCH_ROWS,
    wanted: Collection[str] | None = None,
    is_drawn: bool = True,
) -> Iterator[CaseFact]:
    """Yield the facts of one case, by the pass of its role; see ``CasePass``."""
    own = ROLE_ANALYSES[trace.entry.role].judge_case
    return own(trace, batch_rows=batch_rows, wanted=wanted, is_drawn=is_drawn)
