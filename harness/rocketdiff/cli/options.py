"""Arguments and options that several commands share, and what they mean."""

from pathlib import Path
from typing import Annotated

import typer

from rocketdiff.core.errors import ExitCode
from rocketdiff.core.suites import SUITES_IN_WORDS

SubjectOption = Annotated[
    list[str] | None,
    typer.Option(
        "--subject", help="client:release, given twice; the first is the baseline. One: against its own reference."
    ),
]
SuiteOption = Annotated[str | None, typer.Option(help=f"{SUITES_IN_WORDS}; quick unless scenarios are chosen.")]
ListedSuiteOption = Annotated[str | None, typer.Option("--suite", help=f"{SUITES_IN_WORDS}; all when not given.")]
ScenarioOption = Annotated[
    list[str] | None, typer.Option("--scenario", help="Only scenarios whose name matches this glob.")
]
ScenariosOption = Annotated[
    Path | None, typer.Option("--scenarios", help="Folder of scenario files instead of the shipped ones.")
]
OutOption = Annotated[Path, typer.Option(help="Folder that receives the run directory.")]
SeedOption = Annotated[
    int | None, typer.Option(help="Seed of plans and phases; drawn and printed when not given.", min=0)
]
ServerOption = Annotated[str, typer.Option("--server", help="Release of name servers and brokers that are started.")]
ClusterOption = Annotated[
    str,
    typer.Option(
        "--cluster", help="Where brokers run: processes, containers, containers:host, or external:FILE, your own."
    ),
]
OwnClusterOption = Annotated[
    str, typer.Option("--cluster", help="Where brokers are started: processes, containers or containers:host.")
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be done (cases, topics, faults, commands), and do nothing.")
]
MasterOption = Annotated[
    str | None, typer.Option("--master", help="Spark master, or none for this process alone; local[*] when not given.")
]
InconclusiveOption = Annotated[str, typer.Option(help="What an inconclusive gating check does: fail, warn or pass.")]
StrictOption = Annotated[bool, typer.Option("--strict", help="Checks of severity 'should' gate too.")]
LedgerOption = Annotated[
    list[Path] | None,
    typer.Option("--ledger", help="File of declared divergences besides the shipped ones; may be given again."),
]
NoLedgerOption = Annotated[
    bool, typer.Option("--no-ledger", help="Leave the shipped ledgers out: only what --ledger names is declared.")
]
WireOption = Annotated[
    bool,
    typer.Option(
        "--wire", help="A recording relay before both clients: the wire is a second witness of what each one tells."
    ),
]
ControlOption = Annotated[
    bool,
    typer.Option("--control", help="After each case run it again, baseline against itself; an alarm there is exit 2."),
]
BisectOption = Annotated[
    bool,
    typer.Option("--bisect", help="Exit as `git bisect run` wants it: 125 where this revision cannot be judged."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]


BISECT_SKIP = 125
"""`git bisect run` passes over this revision."""

BISECT_ABORT = 128
"""`git bisect run` gives up: what failed is not the revision."""

_FOR_BISECT = {
    ExitCode.INCONCLUSIVE: BISECT_SKIP,
    ExitCode.NOTHING_DECISIVE: BISECT_SKIP,
    ExitCode.ENVIRONMENT: BISECT_SKIP,
    ExitCode.USAGE: BISECT_ABORT,
    ExitCode.INTERNAL: BISECT_ABORT,
}


def for_bisect(code: int) -> int:
    """An exit code in the language of `git bisect run`: 0 good, 1 and 3 bad, 125 cannot be told, 128 and above give up."""
    return next((meant for known, meant in _FOR_BISECT.items() if known == code), code)
