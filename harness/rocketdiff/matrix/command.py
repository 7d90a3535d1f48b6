"""The stages of `rocketdiff matrix`: check, resolve, run what is missing, and write the pages after every run."""

from collections.abc import Iterator
from pathlib import Path

from rocketdiff.campaign.finished_runs import alone
from rocketdiff.campaign.measure import CampaignState, Say, described, found, made
from rocketdiff.campaign.plan import CampaignPlan
from rocketdiff.core.errors import ExitCode
from rocketdiff.matrix.document import CellState, MatrixDocument
from rocketdiff.matrix.view import counts_of, machine_line
from rocketdiff.matrix.write import document_of, write_all

Files = tuple[tuple[str, Path], ...]
"""Format names and the file of each."""


def make(
    plan: CampaignPlan,
    out: Path,
    pages: Path | None,
    *,
    command: str,
    say: Say,
    is_write_only: bool = False,
    at_most: int | None = None,
) -> ExitCode:
    """
    Make or resume a matrix; return the exit code.

    1: a client has an undeclared difference. 2: no such difference, but a cell is OPEN or a run is missing. 0: every answer
    is SAME or KNOWN.
    """

    def written(measured: CampaignState) -> tuple[MatrixDocument, Files]:
        document = document_of(measured, command=command)
        return document, write_all(document, out)

    with alone(out):
        measured = found(plan, out) if is_write_only else made(plan, out, say, on_change=written, at_most=at_most)
        document, files = written(measured)
    for name, path in files:
        say(f"{name}: {path}")
    if pages is not None:
        write_all(document_of(measured, command=command, is_with_runs=False), pages)
        say(f"to publish: {pages}")
    say(machine_line(document, str(out)))
    return exit_code(document)


def describe(plan: CampaignPlan, out: Path) -> Iterator[str]:
    """Yield a line per run of a plan: whether it is already there."""
    return described(found(plan, out))


def exit_code(document: MatrixDocument) -> ExitCode:
    """Return the exit code that follows from the cells."""
    counts = [counts_of(column) for column in document.columns]
    if any(count[CellState.DIFFERS] for count in counts):
        return ExitCode.DIVERGES
    is_whole = all(column.is_measured and not column.missing for column in document.columns)
    return (
        ExitCode.CONFORMS if is_whole and not any(count[CellState.OPEN] for count in counts) else ExitCode.INCONCLUSIVE
    )
