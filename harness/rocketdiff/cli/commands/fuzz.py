"""`rocketdiff fuzz`: random scripts through the real Java classes and the reference, in lock step."""

import secrets
from pathlib import Path
from typing import Annotated

import typer

from rocketdiff.cli.options import JsonOption, release_of
from rocketdiff.core.errors import UsageError

SAVED = Path("reports/fuzz")

_MOST = 10**9
_SEEDS = 10**6


def fuzz(
    release: Annotated[
        str,
        typer.Option(
            "--release",
            "--subject",
            help="Releases of the Java client, or patched.jar@release, with commas between them, or all.",
        ),
    ] = "all",
    depth: Annotated[
        str,
        typer.Option(help="selection, send-loop, remoting, allocation, process-queue, rebalance, consumer, or all."),
    ] = "all",
    role: Annotated[str, typer.Option(help="producer, consumer or both.")] = "both",
    decisions: Annotated[
        str,
        typer.Option(
            help="Selections and updates of each release at selection depth, at least; scripts are run whole."
        ),
    ] = "1e6",
    sends: Annotated[
        str, typer.Option(help="Sends of each release at the depths that send, at least; scripts are run whole.")
    ] = "1e5",
    allocations: Annotated[
        str, typer.Option(help="Allocations, and calls of queues, of each release, at least; scripts are run whole.")
    ] = "1e5",
    rounds: Annotated[
        str,
        typer.Option(help="Reports of rounds of each release at depth rebalance, at least, and a 20th at consumer."),
    ] = "2e4",
    seed: Annotated[int | None, typer.Option(help="Drawn and printed when not given.", min=0, max=_SEEDS)] = None,
    save: Annotated[Path, typer.Option(help="Folder that receives the scripts that show a difference.")] = SAVED,
    as_json: JsonOption = False,
) -> None:
    """Compare the reference with the Java classes of every release, step by step, on random scripts."""
    from rocketdiff.lab.fuzz.lockstep import Effort
    from rocketdiff.lab.fuzz.rounds import depths_asked, releases_named, run_rounds

    asked = depths_asked(depth, role)
    effort = Effort(
        _count(decisions, "--decisions"),
        _count(sends, "--sends"),
        asked,
        _count(allocations, "--allocations"),
        _count(rounds, "--rounds"),
    )
    chosen = secrets.randbelow(_SEEDS) if seed is None else seed
    named = ",".join(release_of(part) for part in release.split(",") if part.strip())
    report = run_rounds(releases_named(named), effort, chosen, save, as_json=as_json)
    typer.echo(report.text)
    raise typer.Exit(int(report.code))


def _count(text: str, option: str) -> int:
    """The number may be written as 1e6."""
    try:
        number = float(text)
    except ValueError:
        number = -1
    if not 0 <= number <= _MOST or number != int(number):
        raise UsageError(f"a whole number of at most 10^9 for {option}", seen=text, hint=f"{option} 1e6")
    return int(number)
