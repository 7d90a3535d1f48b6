"""`rocketdiff calibrate`: the gate's error rates, measured on this machine."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocketdiff.cli.options import OwnClusterOption, ServerOption
from rocketdiff.core.errors import UsageError
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.tables.run_options import DEFAULT_RELEASE

if TYPE_CHECKING:
    from rocketdiff.calibration.journal import CalibrationJournal

CASES = {ClientRole.PRODUCER: 320, ClientRole.CONSUMER: 160}
"""
299 cases without an alarm show a false alarm rate under 1 % at 95 % confidence (README of `statistics`).

Some more, because some come out invalid, and for whole gate runs. Cases about consumers last half a minute: half as many.
"""

FOLDERS = {ClientRole.PRODUCER: "calibration", ClientRole.CONSUMER: "calibration-consumers"}
"""Of the journals, in reports."""

REPEATS = 5
SEED = 20_261_121


def calibrate(
    cases: Annotated[
        int | None,
        typer.Option(min=0, help="Control cases in all, those of earlier calls included; 320, about consumers 160."),
    ] = None,
    role: Annotated[ClientRole, typer.Option(help="Role of the clients that are compared with themselves.")] = (
        ClientRole.PRODUCER
    ),
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the journal, where a stopped calibration resumes; reports/calibration or"
            " reports/calibration-consumers when not given."
        ),
    ] = None,
    write: Annotated[
        Path | None,
        typer.Option(help="Folder that receives the file with the rates; the journal's when not given."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Draws scenarios and plans.")] = SEED,
    server: ServerOption = DEFAULT_RELEASE,
    cluster: OwnClusterOption = "processes",
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="Look for every divergence of the shipped ledgers too.")
    ] = False,
    repeats: Annotated[int, typer.Option(min=1, help="How often each of those is looked for.")] = REPEATS,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Throw away what the folder holds and count from zero.")
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep every run (about a megabyte a case), for `--again`.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Run nothing: judge the kept runs of the folder with the present program.")
    ] = False,
    only: Annotated[
        int | None, typer.Option(min=1, help="Run the control case of this number again; it is not counted.")
    ] = None,
) -> None:
    """How often does the gate alarm where nothing differs? Each client against itself, some hundred times; resumable."""
    from rocketdiff.calibration.again import judge_again
    from rocketdiff.calibration.controls import (
        CalibrationRequest,
        journal_of,
        require_possible,
        run_controls,
        run_single,
    )
    from rocketdiff.calibration.journal import begin_anew
    from rocketdiff.calibration.sensitivity import run_known
    from rocketdiff.judging.gate_rates import FILES

    if sensitivity and role is not ClientRole.PRODUCER:
        raise UsageError(
            "--sensitivity with control cases of producers", seen=f"--role {role.value}", hint="leave one out"
        )
    out = out or Path("reports") / FOLDERS[role]
    request = CalibrationRequest(CASES[role] if cases is None else cases, out, seed, server, cluster, keep, role)
    require_possible(request)
    print_line = typer.echo
    if only is not None:
        typer.echo(f"run: {run_single(request, only, print_line)}")
        return
    if fresh:
        begin_anew(out)
    journal = journal_of(request)
    try:
        if again:
            judge_again(request, journal, print_line)
            return
        run_controls(request, journal, print_line)
        if sensitivity:
            run_known(request, journal, repeats, print_line)
    finally:
        if journal.lines:
            _write_and_print(journal, (write or out) / Path(FILES[role]).name)


def _write_and_print(journal: "CalibrationJournal", path: Path) -> None:
    from rocketdiff.calibration.controls import write_calibration
    from rocketdiff.report.words.gate_rates import calibration_lines

    for line in calibration_lines(write_calibration(journal, path)):
        typer.echo(line)
    typer.echo(f"written to {path}")
