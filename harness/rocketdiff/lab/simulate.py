"""`rocketdiff simulate`: runs scripts and scenarios in virtual time."""

import json
import os
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import typer

from rocketdiff.core.errors import ExitCode, UsageError
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.suites import EVERY_SUITE
from rocketdiff.lab.scenario_scripts import SimulatedScenario, simulated_scenarios
from rocketdiff.lab.script_comparison import ScriptComparison, answers, compared, require_simulated
from rocketdiff.simulation.comparison import difference_data, difference_lines
from rocketdiff.simulation.java_host import JavaHost
from rocketdiff.simulation.script import NamedScript
from rocketdiff.simulation.script.depths import BOTH, depth_named, require_deep_enough, require_role, roles_named
from rocketdiff.simulation.script.files import load_scripts


@dataclass(frozen=True, slots=True)
class SimulateRequest:
    """
    The user's request.

    suite None: all suites. depth None: each script's own. role: that of all scripts; of scenarios, others are left out.
    """

    subjects: tuple[SubjectId, ...]
    files: tuple[str, ...]
    has_scenarios: bool
    patterns: tuple[str, ...] = ()
    suite: str | None = None
    scenario_root: Path | None = None
    depth: str | None = None
    role: str = BOTH
    trace: bool = False
    visible: bool = False
    seed: int = 0
    out: Path | None = None
    as_json: bool = False


def execute(request: SimulateRequest) -> int:
    """
    Run everything, print, and return the exit code.

    Raises UsageError for an invalid request. A scenario that needs a cluster is named on standard error.
    """
    _require_sense(request)
    scenarios = _scenarios(request)
    scripts = [*load_scripts(request.files)]
    for script in scripts:
        require_role(script.script, script.name, request.role)
    scripts += [NamedScript(scenario.name, scenario.script) for scenario in scenarios if scenario.script is not None]
    scripts = [_at_depth(script, request.depth) for script in scripts]
    with JavaHost() as host, _until_the_pipe_closes():
        if len(request.subjects) == 1:
            for _, (lines,) in answers(request.subjects, scripts, host, trace=request.trace):
                sys.stdout.write("".join(f"{line}\n" for line in lines))
            return ExitCode.CONFORMS if scripts else ExitCode.NOTHING_DECISIVE
        return _compare(request, scenarios, scripts, host)
    return ExitCode.CONFORMS


def _compare(
    request: SimulateRequest, scenarios: Sequence[SimulatedScenario], scripts: Sequence[NamedScript], host: JavaHost
) -> int:
    began, clock = datetime.now(UTC), time.monotonic()
    left, right = request.subjects
    notes = {scenario.name: scenario.notes for scenario in scenarios}
    results: list[ScriptComparison] = []
    for result in compared((left, right), scripts, host, states=not request.visible):
        _show(result, (left, right), notes.get(result.script.name, ()), as_json=request.as_json)
        results.append(result)
    if request.out is not None:
        # Imported here because the report renderers take a second to import.
        from rocketdiff.lab.report import SimulatedRun, report  # noqa: PLC0415

        took_s = time.monotonic() - clock
        words = command_line(request)
        run = SimulatedRun(
            (left, right), scenarios, results, request.suite or EVERY_SUITE, request.seed, words, began, took_s
        )
        return report(run, request.out, quiet=request.as_json).exit_code
    if any(result.difference for result in results):
        return ExitCode.DIVERGES
    return ExitCode.CONFORMS if any(result.answers for result in results) else ExitCode.NOTHING_DECISIVE


def _require_sense(request: SimulateRequest) -> None:
    """Raise UsageError for a subject that cannot be simulated and for an option without effect."""
    for subject in request.subjects:
        require_simulated(subject)
    two = len(request.subjects) == 2
    if request.out is not None and (not two or request.files):
        raise UsageError("--out with two subjects and scenarios only", seen="one subject, or --script")
    if two and request.trace:
        raise UsageError("--trace with one subject only", seen="two", hint="two are compared with their states anyway")
    for option, is_given in (("--visible", request.visible), ("--json", request.as_json)):
        if is_given and not two:
            raise UsageError(f"{option} with two subjects only", seen="one", hint="one prints its answers, in JSON")


def command_line(request: SimulateRequest) -> str:
    """Return the command that repeats the comparison."""
    words = ["rocketdiff", "simulate", *(word for subject in request.subjects for word in ("--subject", str(subject)))]
    words += [word for file in request.files for word in ("--script", file)]
    if request.has_scenarios:
        words += ["--suite", request.suite or EVERY_SUITE, "--seed", str(request.seed)]
        words += [word for pattern in request.patterns for word in ("--scenario", pattern)]
    words += [] if request.scenario_root is None else ["--scenarios", str(request.scenario_root)]
    words += [] if request.depth is None else ["--depth", request.depth]
    words += [] if request.role == BOTH else ["--role", request.role]
    return shlex.join(words + ["--visible"] * request.visible)


def _scenarios(request: SimulateRequest) -> tuple[SimulatedScenario, ...]:
    if not request.has_scenarios:
        return ()
    every = simulated_scenarios(request.patterns, request.suite, request.scenario_root, request.seed)
    roles = roles_named(request.role)
    found = tuple(each for each in every if each.scenario.role in roles)
    if not found:
        other = every[0].scenario
        raise UsageError(
            f"a scenario about a {request.role}",
            seen=f"{other.name}, about a {other.role}",
            hint=f"--role {other.role}",
        )
    for scenario in found:
        if scenario.script is None:
            typer.echo(f"{scenario.name}: only on a cluster: {scenario.live_only}", err=True)
    return found


def _at_depth(script: NamedScript, depth: str | None) -> NamedScript:
    if depth is None:
        return script
    changed = replace(script, script=replace(script.script, depth=depth_named(depth)))
    require_deep_enough(changed.script, script.name)
    return changed


def _show(result: ScriptComparison, subjects: Sequence[SubjectId], notes: Sequence[str], *, as_json: bool) -> None:
    difference, name = result.difference, result.script.name
    left, right = map(str, subjects)
    if as_json:
        shown = None if difference is None else difference_data(difference)
        data = {
            "script": name,
            "subjects": [left, right],
            "answers": result.answers,
            "difference": shown,
            "outcome": result.outcome.words if result.outcome else None,
            "notes": notes,
        }
        typer.echo(json.dumps(data, ensure_ascii=False))
    elif difference is None and not result.answers:
        typer.echo(f"{name}: nothing was compared: no step of it has an answer")
    elif difference is None:
        left_out = f" ({'; '.join(notes)})" if notes else ""
        typer.echo(f"{name}: no difference in {result.answers:,} answers{left_out}")
    else:
        outcome = result.outcome.words if result.outcome else ""
        typer.echo("\n".join(difference_lines(difference, left, right, outcome)))


@contextmanager
def _until_the_pipe_closes() -> Iterator[None]:
    """Stop silently when the reader closes the pipe (`| head`)."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
