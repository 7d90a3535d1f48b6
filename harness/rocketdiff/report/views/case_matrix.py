"""The matrix of a run: one row per case, one column per check, one sign per cell."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from rocketdiff.core.answers.verdict import CheckResult, Severity, dominant
from rocketdiff.core.tables.checks import REPORT_ORDER
from rocketdiff.report.document import Document
from rocketdiff.report.words.signs import Sign, sign_of


@dataclass(frozen=True, slots=True)
class CaseCell:
    """Answer to one check of one case; results of several runs are merged by dominance."""

    sign: Sign
    results: tuple[CheckResult, ...]


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One case; a cell is None if the check was not asked."""

    case: str
    cells: tuple[CaseCell | None, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Columns in REPORT_ORDER (others after it), rows in plan order, pooled cases last."""

    checks: tuple[str, ...]
    rows: tuple[CaseRow, ...]


def matrix_of(document: Document) -> Matrix:
    """Arrange all results of a document."""
    by_cell: defaultdict[tuple[str, str], list[CheckResult]] = defaultdict(list)
    for result in document.results:
        by_cell[result.case, result.check].append(result)
    asked = {result.check for result in document.results}
    checks = (*(c for c in REPORT_ORDER if c in asked), *sorted(asked.difference(REPORT_ORDER)))
    planned = dict.fromkeys(case.case for case in document.run.cases)
    cases = [*planned, *dict.fromkeys(r.case for r in document.results if r.case not in planned)]
    return Matrix(
        checks, tuple(CaseRow(case, tuple(_cell(by_cell.get((case, c), ())) for c in checks)) for case in cases)
    )


def _cell(results: Sequence[CheckResult]) -> CaseCell | None:
    if not results:
        return None
    order = list(Severity)
    severity = min((result.severity for result in results), key=order.index)
    return CaseCell(sign_of(dominant([result.verdict for result in results]), severity), tuple(results))
