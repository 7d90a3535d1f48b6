"""Output of the commands that only list."""

import json
import sys
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding

from rocketdiff.core.errors import EnvironmentMissing, ExitCode
from rocketdiff.core.extras import CONTAINERS
from rocketdiff.releases.doctor import Requirement, examine
from rocketdiff.scenario import Scenario, file_text, load_all, select


def print_scenarios(suite: str | None, folder: Path | None, *, as_json: bool) -> None:
    """Print the scenarios of a suite (None: all)."""
    chosen = select(load_all(folder), suite=suite)
    if as_json:
        print(json.dumps([_as_data(scenario) for scenario in chosen], indent=1))
        return
    console = Console(highlight=False, emoji=False)
    for scenario in chosen:
        pauses = f", {scenario.episodes} pauses" if scenario.episodes else ""
        console.print(f"[bold]{scenario.name}[/]  {scenario.duration_s:g} s{pauses}  {' '.join(scenario.suites)}")
        console.print(
            Padding(f"{escape(' '.join(scenario.establishes.split()))} ({' '.join(scenario.covers)})", (0, 0, 0, 4))
        )


def print_files(pattern: str, folder: Path | None) -> None:
    """Print the files of the scenarios whose name matches a glob. Raises UsageError if none does."""
    for chosen in select(load_all(folder), patterns=(pattern,)):
        suites = ", ".join(chosen.suites) or "in no suite"
        print(f"# {chosen.name}: {chosen.duration_s:g} s, {chosen.sends:,} sends, {suites}")
        print(file_text(chosen.name, folder))


def _as_data(scenario: Scenario) -> dict[str, object]:
    return {
        "name": scenario.name,
        "suites": scenario.suites,
        "covers": scenario.covers,
        "duration_s": scenario.duration_s,
        "episodes": scenario.episodes,
        "sends": scenario.sends,
        "establishes": scenario.establishes,
    }


def print_findings(*, as_json: bool) -> int:
    """Print the findings of `doctor`. The exit code shows whether anything needed is missing."""
    findings = [*examine(), _image_base()]
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=1))
    else:
        console = Console(highlight=False, soft_wrap=True, emoji=False)
        for finding in findings:
            mark = "[green]ok[/]     " if finding.ok else "[red]missing[/]" if finding.needed else "[yellow]absent[/] "
            console.print(f"{mark} {finding.name}: {escape(finding.seen)}")
            if not finding.ok:
                console.print(f"        → {escape(finding.remedy)}")
    is_fit = all(finding.ok for finding in findings if finding.needed)
    return int(ExitCode.CONFORMS if is_fit else ExitCode.ENVIRONMENT)


def sweep_containers() -> None:
    """Remove containers whose runner is gone, and report them on standard error."""
    try:
        with CONTAINERS.needed():  # half a second that a list need not wait for
            from rocketdiff.cluster.containers.cleanup import sweep
            from rocketdiff.cluster.containers.engine import Engine
        with closing(Engine.connect()) as engine:
            swept = sweep(engine)
    except EnvironmentMissing as error:
        print(f"no containers removed: {error.seen}", file=sys.stderr)
        return
    print(f"containers removed: {', '.join(swept.removed) or 'none was left'}", file=sys.stderr)
    if swept.left:
        kept = ", ".join(swept.left)
        print(f"left alone, because their runner is not visible from here: {kept}", file=sys.stderr)


def remove_secrets() -> None:
    """Remove secrets from files of programs whose runner was killed, and report the folders on standard error."""
    from rocketdiff.subjects.secret_removal import remove_left_secrets

    cleaned = ", ".join(map(str, remove_left_secrets(forgets=True)))
    print(f"secrets removed: {cleaned or 'none was left'}", file=sys.stderr)


def _image_base() -> Requirement:
    """The base of server images."""
    name = "container image base"
    try:
        with CONTAINERS.needed():  # as above
            from rocketdiff.cluster.containers.engine import Engine
            from rocketdiff.cluster.containers.images import look_for_base
        with closing(Engine.connect()) as engine:
            seen, is_there = look_for_base(engine)
    except EnvironmentMissing as error:
        seen, is_there = f"not available: {error.seen}", False
    remedy = "" if is_there else "only for --cluster containers: make image"
    return Requirement(name, is_there, seen, remedy, needed=False)
