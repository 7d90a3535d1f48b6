"""`rocketdiff campaign`: makes the runs of subjects × suites × seeds × settings and adds them to the record."""

from pathlib import Path
from typing import Annotated

import typer

from rocketdiff.cli.commands.record import DEFAULT, RecordOption
from rocketdiff.core.errors import ExitCode


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
    at_most: Annotated[
        int | None, typer.Option(min=1, help="Make at most this many of the missing runs; a later call continues.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print which runs exist and which are missing, and do nothing.")
    ] = False,
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
    code = make(asked, out.resolve(), None if no_record else record, say=typer.echo, at_most=at_most)
    if code != ExitCode.CONFORMS:
        raise typer.Exit(int(code))
