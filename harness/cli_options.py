"""Arguments and options that several commands share, and what they mean."""

import re
from pathlib import Path
from typing import Annotated

import typer

from harness.core.errors import ExitCode, UsageError
from harness.core.subject import SubjectId
from harness.verdict.policy import Inconclusive, Policy

DEFAULT_RELEASE = "5.3.3"

SubjectOption = Annotated[
    list[str] | None,
    typer.Option(
        "--subject", help="client:release, given twice; the first is the baseline. One: against its own reference."
    ),
]
_SUITE_NAMES = "quick (about a minute), full, deployments, modes, wire, or all"
SuiteOption = Annotated[str | None, typer.Option(help=f"{_SUITE_NAMES}; quick unless scenarios are chosen.")]
ListedSuiteOption = Annotated[str | None, typer.Option("--suite", help=f"{_SUITE_NAMES}; all when not given.")]
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


_RELEASE = re.compile(r"[0-9][A-Za-z0-9.+-]*")

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


def pair_of(subjects: list[str]) -> tuple[SubjectId, SubjectId]:
    """Both subjects; one alone is compared with the reference of its release, none at all is java:5.3.3 with its reference."""
    if not subjects:
        subjects = [f"java:{DEFAULT_RELEASE}"]
    parsed = [subject_of(text) for text in subjects]
    if len(parsed) > 2:
        raise UsageError("two subjects", seen=f"{len(parsed)}", hint="--subject java:5.3.3 --subject python:5.3.3")
    return (parsed[0], _reference_for(parsed[0])) if len(parsed) == 1 else (parsed[0], parsed[1])


def subject_of(text: str) -> SubjectId:
    """A subject; a bare release, `5.3.3`, is the Java client's."""
    return SubjectId("java", text.strip()) if _RELEASE.fullmatch(text.strip()) else SubjectId.parse(text)


def release_of(text: str) -> str:
    """A release of the Java client, written 5.3.3 or java:5.3.3."""
    return text.strip().removeprefix("java:")


def _reference_for(subject: SubjectId) -> SubjectId:
    """The reference that a client is compared with when it is named alone; only a Java release has one."""
    from harness.subjects.registry import program_of  # help needs no subjects

    program_of(subject)
    if subject.client not in ("java", "python"):
        raise UsageError(
            "two subjects: only a Java client can be named alone, beside the reference of its release",
            seen=f"{subject} alone",
            hint=f"--subject java:{DEFAULT_RELEASE} --subject {subject}",
        )
    return SubjectId("python", subject.release)


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
