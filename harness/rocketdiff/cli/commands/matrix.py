"""`rocketdiff matrix`: many clients against one baseline, as a publishable table."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from rocketdiff.core.errors import ExitCode


def matrix(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Matrix file: baseline, subjects, suites, seeds.")],
    out: Annotated[
        Path, typer.Option(help="Folder of the runs and pages; a matrix that was stopped resumes there.")
    ] = Path("reports/matrix"),
    pages: Annotated[
        Path | None,
        typer.Option(help="Folder for pages to publish: without links to the runs, which stay where they are."),
    ] = None,
    write_only: Annotated[
        bool, typer.Option("--write-only", help="Write the pages from the runs that are there, and run nothing.")
    ] = False,
    at_most: Annotated[
        int | None, typer.Option(min=1, help="Make at most this many of the missing runs; a later call continues.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print which runs exist and which are missing, and do nothing.")
    ] = False,
) -> None:
    """Which client does what? Runs every subject of a file against its baseline and writes clients × behaviours; resumable."""
    from rocketdiff.core.files import require_folder, require_nameable
    from rocketdiff.matrix.command import describe, make
    from rocketdiff.matrix.file_format import read

    for folder, option in ((out, "--out"), *(((pages, "--pages"),) if pages else ())):
        require_nameable(folder, option)
        require_folder(folder, option)
    plan = read(file)
    if dry_run:
        for line in describe(plan, out):
            typer.echo(line)
        return
    command = shlex.join(["rocketdiff", "matrix", str(file)])
    code = make(plan, out.resolve(), pages, command=command, say=typer.echo, is_write_only=write_only, at_most=at_most)
    if code != ExitCode.CONFORMS:
        raise typer.Exit(int(code))
