"""`rocketdiff simulate`: scripts and scenarios in virtual time, without a network."""

from pathlib import Path
from typing import Annotated

import typer

from rocketdiff.cli.options import JsonOption, ScenarioOption, ScenariosOption, SuiteOption, subject_of
from rocketdiff.core.errors import UsageError
from rocketdiff.core.subject import REFERENCE, STANDARD, SubjectId
from rocketdiff.core.tables.run_options import DEFAULT_RELEASE
from rocketdiff.core.tables.suites import suite_of

SubjectsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--subject",
        help="java:RELEASE or python:RELEASE. One: its answers. Two: their differences. "
        f"None: java:{DEFAULT_RELEASE} against its reference.",
    ),
]
ScriptOption = Annotated[
    list[str] | None, typer.Option("--script", help="Script file (JSON), or - for standard input; may be repeated.")
]
DepthOption = Annotated[
    str | None,
    typer.Option(help="selection, send-loop, remoting, allocation or rebalance, instead of the script's own depth."),
]
RoleOption = Annotated[str, typer.Option(help="Only scripts and scenarios about a producer or a consumer, or both.")]
TraceOption = Annotated[bool, typer.Option("--trace", help="One subject: add the client's state to every answer.")]
VisibleOption = Annotated[
    bool, typer.Option("--visible", help="Two subjects: compare only what an application can see, not their states.")
]
SeedOption = Annotated[int, typer.Option(help="Seed of the plans and random draws of scenarios.", min=0)]
ReportOption = Annotated[
    Path | None, typer.Option("--out", help="Two subjects and scenarios: folder for a report as `run` writes it.")
]


def simulate(
    subject: SubjectsOption = None,
    script: ScriptOption = None,
    scenario: ScenarioOption = None,
    suite: SuiteOption = None,
    scenarios: ScenariosOption = None,
    depth: DepthOption = None,
    role: RoleOption = "both",
    trace: TraceOption = False,
    visible: VisibleOption = False,
    seed: SeedOption = 0,
    out: ReportOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run scripts in virtual time: the real Java classes, the reference, or both against each other."""
    from rocketdiff.lab.simulate import SimulateRequest, execute

    request = SimulateRequest(
        subjects=_subjects(subject or [f"{client}:{DEFAULT_RELEASE}" for client in (STANDARD, REFERENCE)]),
        files=tuple(script or ()),
        # Without script or scenario: the quick suite, as with `run`.
        has_scenarios=bool(scenario or suite or scenarios or not script),
        patterns=tuple(scenario or ()),
        suite=suite_of(suite, is_chosen=bool(scenario)),
        scenario_root=scenarios,
        depth=depth,
        role=role,
        trace=trace,
        visible=visible,
        seed=seed,
        out=out,
        as_json=as_json,
    )
    raise typer.Exit(int(execute(request)))


def _subjects(texts: list[str]) -> tuple[SubjectId, ...]:
    if len(texts) > 2:
        raise UsageError("one or two subjects", seen=str(len(texts)))
    return tuple(subject_of(text) for text in texts)
