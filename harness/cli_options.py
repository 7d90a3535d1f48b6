"""Arguments and options that several commands share, and what they mean."""

from pathlib import Path
from typing import Annotated

import typer

from harness.core.errors import UsageError
from harness.core.subject import SubjectId
from harness.verdict.policy import Inconclusive, Policy

DEFAULT_RELEASE = "5.3.3"

SubjectOption = Annotated[
    list[str] | None,
    typer.Option(
        "--subject", help="client:release, given twice; the first is the baseline. One: against its own reference."
    ),
]
SuiteOption = Annotated[
    str | None, typer.Option(help="quick (about a minute), full, or all; quick unless scenarios are chosen.")
]
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
ServerOption = Annotated[str, typer.Option("--server", help="Release of name servers and brokers.")]
ClusterOption = Annotated[str, typer.Option("--cluster", help="Where brokers run: processes.")]
MasterOption = Annotated[
    str | None, typer.Option("--master", help="Spark master, or none for this process alone; local[*] when not given.")
]
InconclusiveOption = Annotated[str, typer.Option(help="What an inconclusive gating check does: fail, warn or pass.")]
StrictOption = Annotated[bool, typer.Option("--strict", help="Checks of severity 'should' gate too.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]


def pair_of(subjects: list[str]) -> tuple[SubjectId, SubjectId]:
    """Both subjects; one alone is compared with the reference of its release, none at all is java:5.3.3 with its reference."""
    if not subjects:
        subjects = [f"java:{DEFAULT_RELEASE}"]
    parsed = [SubjectId.parse(text) for text in subjects]
    if len(parsed) == 1:
        return parsed[0], SubjectId("python", parsed[0].release)
    if len(parsed) > 2:
        raise UsageError("two subjects", seen=f"{len(parsed)}", hint="--subject java:5.3.3 --subject python:5.3.3")
    return parsed[0], parsed[1]


def suite_of(asked: str | None, *, is_chosen: bool) -> str | None:
    """None is every suite: what `all` says, and what choosing scenarios by name or folder means."""
    if asked is None:
        return None if is_chosen else "quick"
    return None if asked == "all" else asked


def policy_of(inconclusive: str, *, strict: bool) -> Policy:
    """What gates, from the options."""
    try:
        return Policy(inconclusive=Inconclusive(inconclusive), strict=strict)
    except ValueError as error:
        raise UsageError("--inconclusive fail, warn or pass", seen=inconclusive) from error
