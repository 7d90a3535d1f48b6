"""
The commands that make the runs of a campaign file.

`rocketdiff campaign` adds them to the record, `matrix` writes clients × behaviours as a publishable table.
"""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from rocketdiff.cli.commands.record import DEFAULT, RecordOption
from rocketdiff.core.errors import ExitCode

AtMostOption = Annotated[
    int | None, typer.Option(min=1, help="Make at most this many of the missing runs; a later call continues.")
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Print which runs exist and which are missing, and do nothing.")
]


def campaign(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Campaign file: baseline, subjects, suites, seeds, settings, simulation."),
    ],
    out: Annotated[Path, typer.Option(help="Folder of the runs; a campaign that was stopped resumes there.")] = Path(
        "reports/campaign"
    ),
    record: RecordOption = DEFAULT,
    no_record: Annotated[bool, typer.Option("--no-record", help="Add the runs to no record.")] = False,
    at_most: AtMostOption = None,
    dry_run: DryRunOption = False,
) -> None:
    """Make every run of a file, live and in virtual time; resumable; each finished run goes into the record."""
    from rocketdiff.campaign.command import describe, make
    from rocketdiff.campaign.file_format import read
    from rocketdiff.core.files import require_folder, require_nameable

    require_nameable(out, "--out")
    require_folder(out, "--out")
    asked = read(file)
    if dry_run:
        for line in describe(asked, out):
            typer.echo(line)
        return
    code = make(asked, out.resolve(), None if no_record else record, print_line=typer.echo, at_most=at_most)
    if code != ExitCode.CONFORMS:
        raise typer.Exit(int(code))


def matrix(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Campaign file; its simulation is left out.")],
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
    at_most: AtMostOption = None,
    dry_run: DryRunOption = False,
) -> None:
    """Which client does what? Runs every subject of a file against its baseline and writes clients × behaviours; resumable."""
    from rocketdiff.campaign.file_format import read
    from rocketdiff.campaign.measure import describe, find_finished
    from rocketdiff.core.files import require_folder, require_nameable
    from rocketdiff.matrix.command import make

    for folder, option in ((out, "--out"), *(((pages, "--pages"),) if pages else ())):
        require_nameable(folder, option)
        require_folder(folder, option)
    plan = read(file).plan
    if dry_run:
        for line in describe(find_finished(plan, out)):
            typer.echo(line)
        return
    command = shlex.join(["rocketdiff", "matrix", str(file)])
    code = make(
        plan, out.resolve(), pages, command=command, print_line=typer.echo, is_write_only=write_only, at_most=at_most
    )
    if code != ExitCode.CONFORMS:
        raise typer.Exit(int(code))
