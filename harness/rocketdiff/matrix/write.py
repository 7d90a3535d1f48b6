"""Writes all formats of a matrix: one document from what was measured, and the files from that document."""

from functools import lru_cache
from pathlib import Path

from rocketdiff import __version__
from rocketdiff.campaign.finished_runs import RUNS, FinishedRun
from rocketdiff.campaign.measure import CampaignState
from rocketdiff.campaign.plan import CampaignEntry
from rocketdiff.matrix import badge, document, html, markdown
from rocketdiff.matrix.cells import ROWS, Extract, MatrixSource, alike, column_of, extract
from rocketdiff.matrix.document import Column, MatrixDocument
from rocketdiff.report.cleaning import cleaned
from rocketdiff.report.document import load as load_report

NOT_RUN = "not run yet"


def document_of(measured: CampaignState, *, command: str, is_with_runs: bool = True) -> MatrixDocument:
    """
    Return the document of what was measured so far.

    is_with_runs: the document lies in the matrix's folder and can link to the runs; otherwise it names the commands that
    repeat them.
    """
    plan = measured.plan
    columns = tuple(_column(measured, column, is_with_runs=is_with_runs) for column in plan.entries)
    return cleaned(
        MatrixDocument(
            schema_version=document.SCHEMA_VERSION,
            title=plan.title,
            rocketdiff=__version__,
            command=command,
            rows=ROWS,
            columns=columns,
            groups=alike(columns),
        )
    )


def write_all(matrix: MatrixDocument, folder: Path) -> tuple[tuple[str, Path], ...]:
    """Write every format into one folder; return name and path of each."""
    return (
        ("json", document.write(matrix, folder)),
        ("html", html.write(matrix, folder)),
        ("markdown", markdown.write(matrix, folder)),
        ("badge", badge.write(matrix, folder)),
    )


def _column(measured: CampaignState, column: CampaignEntry, *, is_with_runs: bool) -> Column:
    runs, missing = [], []
    for work in column.work:
        run = measured.finished.get((column, work))
        if run is None:
            missing.append((work.name, measured.reasons.get((column, work), NOT_RUN)))
        else:
            folder = f"{RUNS}/{run.terms.folder}/{run.run}" if is_with_runs else ""
            runs.append(_extract(measured.runs.directory(run), run, folder))
    return column_of(column.spec, column.baseline, runs, missing)


@lru_cache(maxsize=4_096)
def _extract(directory: Path, _run: FinishedRun, folder: str) -> Extract:
    """Cached: a report is read again only after its run was judged again."""
    return extract(MatrixSource(load_report(directory), folder))
