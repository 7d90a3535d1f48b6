"""Random scripts for many releases: runs them, shrinks and reports what differs."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from rocketdiff.core.errors import ExitCode, HarnessError, UsageError
from rocketdiff.lab.fuzz.lockstep import Effort, FuzzOutcome, distinct, fuzz, script_of
from rocketdiff.lab.fuzz.shrunk_difference import ShrunkDifference, shrunk_difference
from rocketdiff.releases.catalogue import client_releases
from rocketdiff.releases.programs.builds import label_of
from rocketdiff.releases.programs.java_programs import fetch_simulation
from rocketdiff.simulation.java_host import JavaHost, require_release
from rocketdiff.simulation.script import Depth
from rocketdiff.simulation.script.depths import depth_named, depths_named

WORKERS = 2
"""Worker processes, each with a Java host and the reference; more would compete for two cores."""


@dataclass(frozen=True, slots=True)
class Report:
    """Text to print and exit code."""

    code: ExitCode
    text: str


def run_rounds(releases: tuple[str, ...], effort: Effort, seed: int, save: Path, *, as_json: bool) -> Report:
    """Fuzz the releases. Findings are printed, saved, and mean DIVERGES; the summary is the last line."""
    require_effort(effort)
    require_writable(save)
    fetch_simulation(releases)
    with shown_progress(effort) as progress, kept_findings(save, progress) as keeping:
        outcome = fuzz(releases, effort, seed, WORKERS, keeping)
    found = read_evidence(outcome)
    saved = [difference.save(save) for difference in found]
    code = ExitCode.CONFORMS if outcome.is_clean else ExitCode.DIVERGES
    if as_json:
        return Report(code, json.dumps(as_data(outcome, found), ensure_ascii=False, indent=1))
    sentences = [sentence for difference in found for sentence in difference.sentences()]
    return Report(code, "\n".join([*sentences, *(f"saved {file}" for file in saved), outcome.summary]))


@contextmanager
def kept_findings(save: Path, progress: Callable[[FuzzOutcome], None]) -> Iterator[Callable[[FuzzOutcome], None]]:
    """Save what has been found when the work breaks off: the scripts as they were drawn, since shrinking takes minutes."""
    last: list[FuzzOutcome] = []

    def update(outcome: FuzzOutcome) -> None:
        last[:] = [outcome]
        progress(outcome)

    try:
        yield update
    except (HarnessError, KeyboardInterrupt):
        files = [
            ShrunkDifference(each, script_of(each.script), ()).save(save)
            for outcome in last
            for each in distinct(outcome.found)
        ]
        for file in files:
            Console(stderr=True, emoji=False).print(
                f"saved {file}: a difference found before, not shrunk", soft_wrap=True
            )
        raise


def read_evidence(outcome: FuzzOutcome) -> list[ShrunkDifference]:
    """Return a shrunk difference for each dialect and depth that differs."""
    if outcome.is_clean:
        return []
    shown = distinct(outcome.found)
    with JavaHost() as host, Console(stderr=True, emoji=False).status(f"shrinking {len(shown)} scripts"):
        return [shrunk_difference(difference, host) for difference in shown]


def as_data(outcome: FuzzOutcome, found: list[ShrunkDifference]) -> dict[str, object]:
    """Return the result as JSON data; scripts: distinct ones; done: decisions or sends of each release."""
    return {
        "clean": outcome.is_clean,
        "summary": outcome.summary,
        "seed": outcome.seed,
        "releases": outcome.releases,
        "scripts": len(outcome.scripts),
        "done": {str(depth): done for depth, done in outcome.done.items()},
        "differences": [difference.as_data() for difference in found],
    }


def require_effort(effort: Effort) -> None:
    """Raise UsageError if there is nothing to do."""
    if not any(effort.of(depth) for depth in effort.depths):
        depths = ", ".join(effort.depths)
        raise UsageError(
            f"something to do at {depths}",
            seen="none",
            hint="--decisions 1e6 --sends 1e5 --allocations 1e5 --rounds 2e4",
        )


def require_writable(folder: Path) -> None:
    """Raise UsageError if findings cannot be saved there; checked before the work."""
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        seen = f"{existing}, which is {'not writable' if existing.is_dir() else 'a file'}"
        raise UsageError("a folder to save scripts in", seen=seen, hint="--save FOLDER")


def releases_named(text: str) -> tuple[str, ...]:
    """Parse ``all`` or comma-separated releases; UsageError with the nearest names for an unknown release."""
    if text == "all":
        return client_releases()
    releases = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not releases:
        raise UsageError("releases of the Java client, or all", seen=text or "nothing", hint="--release 4.9.8,5.3.3")
    releases = tuple(map(label_of, releases))
    for release in releases:
        require_release(release)
    return releases


def depths_asked(text: str, role: str) -> tuple[Depth, ...]:
    """Parse ``all`` or one depth, and a role that has it."""
    return depths_named(None, role) if text == "all" else depths_named(depth_named(text, "all"), role)[-1:]


@contextmanager
def shown_progress(effort: Effort) -> Iterator[Callable[[FuzzOutcome], None]]:
    """Show a progress bar of decisions and sends per release on standard error, if that is a terminal."""
    console = Console(stderr=True, emoji=False)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        tasks = {depth: bar.add_task(str(depth), total=effort.of(depth)) for depth in Depth if effort.of(depth)}

        def update(outcome: FuzzOutcome) -> None:
            for depth, task in tasks.items():
                bar.update(task, completed=outcome.done[depth])

        yield update
