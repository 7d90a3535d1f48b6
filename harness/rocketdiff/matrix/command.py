"""The stages of `rocketdiff matrix`: check, resolve, run what is missing as a campaign does, and write the pages after every run."""

from functools import lru_cache
from pathlib import Path

from rocketdiff import __version__
from rocketdiff.campaign import measure
from rocketdiff.campaign.finished_runs import RUNS, FinishedRun, exclusive_lock
from rocketdiff.campaign.measure import CampaignState, PrintLine
from rocketdiff.campaign.plan import CampaignEntry, CampaignPlan
from rocketdiff.core.errors import ExitCode
from rocketdiff.matrix import badge, document, html, markdown
from rocketdiff.matrix.cells import ROWS, Extract, MatrixSource, alike, column_of, extract
from rocketdiff.matrix.document import CellState, Column, MatrixDocument
from rocketdiff.matrix.view import counts_of, machine_line
from rocketdiff.report.cleaning import cleaned
from rocketdiff.report.document import load as load_report

Files = tuple[tuple[str, Path], ...]
"""Format names and the file of each."""


def make(
    plan: CampaignPlan,
    out: Path,
    pages: Path | None,
    *,
    command: str,
    print_line: PrintLine,
    is_write_only: bool = False,
    at_most: int | None = None,
) -> ExitCode:
    """
    Make or resume a matrix; return the exit code.

    1: a client has an undeclared difference. 2: no such difference, but a cell is OPEN or a run is missing. 0: every answer
    is SAME or KNOWN.
    """

    def written(measured: CampaignState) -> tuple[MatrixDocument, Files]:
        page = document_of(measured, command=command)
        return page, write_all(page, out)

    with exclusive_lock(out):
        measured = (
            measure.find_finished(plan, out)
            if is_write_only
            else measure.run_missing(plan, out, print_line, on_change=written, at_most=at_most)
        )
        page, files = written(measured)
    for name, path in files:
        print_line(f"{name}: {path}")
    if pages is not None:
        write_all(document_of(measured, command=command, is_with_runs=False), pages)
        print_line(f"to publish: {pages}")
    print_line(machine_line(page, str(out)))
    return exit_code(page)


def exit_code(page: MatrixDocument) -> ExitCode:
    """Return the exit code that follows from the cells."""
    counts = [counts_of(column) for column in page.columns]
    if any(count[CellState.DIFFERS] for count in counts):
        return ExitCode.DIVERGES
    is_whole = all(column.is_measured and not column.missing for column in page.columns)
    return (
        ExitCode.CONFORMS if is_whole and not any(count[CellState.OPEN] for count in counts) else ExitCode.INCONCLUSIVE
    )


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


def write_all(matrix: MatrixDocument, folder: Path) -> Files:
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
            missing.append((work.name, measured.why_missing(column, work)))
        else:
            folder = f"{RUNS}/{run.terms.folder}/{run.run}" if is_with_runs else ""
            runs.append(_extract(measured.runs.directory(run), run, folder))
    return column_of(column.spec, column.baseline, runs, missing)


@lru_cache(maxsize=4_096)
def _extract(directory: Path, _run: FinishedRun, folder: str) -> Extract:
    """Cached: a report is read again only after its run was judged again."""
    return extract(MatrixSource(load_report(directory), folder))
