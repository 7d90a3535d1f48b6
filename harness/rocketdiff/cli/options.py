"""Options that several commands share, parsers of their values, and the exit codes for `git bisect run`."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from rocketdiff.core.errors import ExitCode
from rocketdiff.core.subject import STANDARD, SubjectId, with_client
from rocketdiff.core.tables.run_options import RUN_OPTIONS, RunOption
from rocketdiff.core.tables.suites import SUITES_IN_WORDS


def of_run(name: str) -> Any:
    """The typer option for an option of a run."""
    option = RUN_OPTIONS[name]
    return typer.Option(f"--{name}", help=option.help, min=option.least)


SuiteOption = Annotated[str | None, of_run("suite")]
ListedSuiteOption = Annotated[str | None, typer.Option("--suite", help=f"{SUITES_IN_WORDS}; all when not given.")]
ScenarioOption = Annotated[list[str] | None, of_run("scenario")]
ScenariosOption = Annotated[Path | None, of_run("scenarios")]
ServerOption = Annotated[str, of_run("server")]
OwnClusterOption = Annotated[
    str, typer.Option("--cluster", help="Where brokers are started: processes, containers or containers:host.")
]
MadeSecurityOption = Annotated[
    Path | None,
    typer.Option(
        "--security", help="File that says what is made for the cluster: account: made, tls: made or made-mutual."
    ),
]
MasterOption = Annotated[str | None, of_run("master")]
InconclusiveOption = Annotated[str, of_run("inconclusive")]
StrictOption = Annotated[bool, of_run("strict")]
LedgerOption = Annotated[list[Path] | None, of_run("ledger")]
NoLedgerOption = Annotated[bool, of_run("no-ledger")]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print the verdict, what diverged, and the last line for programs alone.")
]
FirstOption = Annotated[bool, typer.Option("-x", help="The same as --max-failures 1.")]
VerboseOption = Annotated[
    bool, typer.Option("--verbose", "-v", help="Print the statistics too, which the report has in any case.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]


def takes(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add options of a run after a command's own parameters, passed as keywords."""

    def given(command: Callable[..., None]) -> Callable[..., None]:
        own = [
            parameter
            for parameter in inspect.signature(command).parameters.values()
            if parameter.kind is not parameter.VAR_KEYWORD
        ]
        shared = [_parameter(RUN_OPTIONS[name]) for name in names]
        command.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]  # typer reads it
        return command

    return given


def _parameter(option: RunOption) -> inspect.Parameter:
    kind: Any = list[option.type] if option.is_many else option.type  # type: ignore[name-defined]  # read by typer when running
    optional = kind if option.default is not None else kind | None
    annotation = Annotated[optional, of_run(option.name)]  # type: ignore[valid-type]  # a type when typer reads it
    return inspect.Parameter(option.key, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=annotation)


def subject_of(text: str) -> SubjectId:
    """A client that rocketdiff knows. A bare release (`5.3.3`) or a build means the Java client."""
    from rocketdiff.releases.programs.builds import is_build, kept
    from rocketdiff.subjects.registry import spelled_out

    named = spelled_out(text)
    release = named.removeprefix(f"{STANDARD}:")
    return SubjectId(STANDARD, kept(release)) if is_build(release) else SubjectId.parse(with_client(named))


def release_of(text: str) -> str:
    """A release of the Java client, from 5.3.3, java:5.3.3 or a wrapper; for a build (patched.jar@5.3.3, dist/lib/) its label."""
    from rocketdiff.releases.programs.builds import label_of
    from rocketdiff.subjects.registry import spelled_out

    return label_of(spelled_out(text).removeprefix(f"{STANDARD}:"))


BISECT_SKIP = 125
"""`git bisect run` skips this revision."""

BISECT_ABORT = 128
"""`git bisect run` aborts: the failure is not the revision's."""

_FOR_BISECT = {
    ExitCode.INCONCLUSIVE: BISECT_SKIP,
    ExitCode.NOTHING_DECISIVE: BISECT_SKIP,
    ExitCode.ENVIRONMENT: BISECT_SKIP,
    ExitCode.USAGE: BISECT_ABORT,
    ExitCode.INTERNAL: BISECT_ABORT,
}


def for_bisect(code: int) -> int:
    """The exit code for `git bisect run`: 0 good, 1 and 3 bad, 125 undecided, 128 and above abort."""
    return next((meant for known, meant in _FOR_BISECT.items() if known == code), code)
