"""The use cases of bisect, changelog, upgrade and groups, with their hosts and progress display."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import TextColumn

from rocketdiff.core.errors import EnvironmentMissing, UsageError
from rocketdiff.core.subject import STANDARD
from rocketdiff.lab.history.changelog import Corpus, EdgeChanges, changelog
from rocketdiff.lab.history.digest_store import DigestStore
from rocketdiff.lab.history.execution_cache import Executions, ReferenceRunner
from rocketdiff.lab.history.groups import GroupsReport, corpus_of, groups_report
from rocketdiff.lab.history.lineage import Way, require_client, way
from rocketdiff.lab.history.rule_table import RuleRow, rule_rows
from rocketdiff.lab.identify_build import IdentifiedBuild, identify_build
from rocketdiff.lab.scenario_scripts import simulated_scenarios
from rocketdiff.lab.upgrade import Upgrade, upgrade
from rocketdiff.releases.catalogue import client_releases
from rocketdiff.report.document import Document
from rocketdiff.report.terminal import progress_bar
from rocketdiff.simulation.golden.files import golden_lines, load_golden
from rocketdiff.simulation.golden.fingerprints import java_fingerprint, python_fingerprint
from rocketdiff.simulation.golden.standard import load_standard
from rocketdiff.simulation.java_host import JavaHost
from rocketdiff.simulation.script import Depth, NamedScript
from rocketdiff.simulation.script.files import load_scripts
from rocketdiff.subjects.kind import LabHost
from rocketdiff.subjects.registry import KINDS


@contextmanager
def executions(kind: str = STANDARD, *, fresh: bool = False) -> Iterator[Executions]:
    """Provide `Executions` on the Java host or the reference. fresh: ignore the digest cache."""
    store = DigestStore(fresh=fresh)
    with _progress() as on_progress:
        host_of_kind = KINDS[kind].lab_host if kind in KINDS else None
        if host_of_kind is LabHost.RULES:
            yield Executions(ReferenceRunner(), store, python_fingerprint, on_progress=on_progress)
            return
        if host_of_kind is not LabHost.CLASSES:
            known = (name for name, kind_of_client in KINDS.items() if kind_of_client.lab_host is not None)
            raise UsageError(f"--subject-kind {' or '.join(known)}", seen=kind)
        with JavaHost() as host:
            yield Executions(host, store, java_fingerprint, golden_lines(), on_progress)


def corpus(depths: Sequence[Depth]) -> Corpus:
    """Return all scripts of the depths."""
    return corpus_of(depths, load_standard(), load_golden())


def changes_between(
    before: str, after: str, depths: Sequence[Depth], *, fresh: bool
) -> tuple[Way, tuple[EdgeChanges, ...]]:
    """Return the way between two releases and the changes on it."""
    path = way(before, after)
    if before == after:
        raise UsageError("two releases", seen=f"the same release, {before}")
    with executions(fresh=fresh) as executed:
        return path, changelog(executed, corpus(depths), path)


def differences_between(
    before: str, after: str, documents: Sequence[Document], depths: Sequence[Depth], *, fresh: bool
) -> Upgrade:
    """Return the differences of an upgrade, in virtual time and in judged runs of both releases."""
    if before == after:
        raise UsageError("two releases", seen=f"the same release, {before}")
    for release in (before, after):
        require_client(release)
    with executions(fresh=fresh) as executed:
        return upgrade(executed, corpus(depths), before, after, documents)


def all_groups(
    depths: Sequence[Depth], builds: Sequence[str] = (), *, fresh: bool
) -> tuple[GroupsReport, tuple[RuleRow, ...]]:
    """
    Return the groups at every requested depth, the changes between them, and the table of retry and avoidance rules.

    builds: labels of builds to place among the published releases; UsageError for an unknown label.
    """
    releases = tuple(dict.fromkeys((*client_releases(), *map(require_client, builds))))
    asked = corpus(depths)
    with executions(fresh=fresh) as executed:
        report = groups_report(executed, asked, depths, releases)
        return report, rule_rows(executed, load_standard(), asked.golden, client_releases())


def build_identified(client: str, depths: Sequence[Depth]) -> IdentifiedBuild:
    """Return the releases that answer the standard scripts of the depths like a release or a build."""
    standard = tuple(script for script in load_standard() if script.depth in depths)
    with executions() as executed:
        return identify_build(executed, require_client(client), standard, load_golden())


def one_script(file: str | None, scenario: str | None, folder: Path | None, seed: int) -> NamedScript:
    """Load the script of a file, with its words if it is a standard one, or of a scenario; UsageError unless exactly one is given."""
    if (file is None) == (scenario is None):
        raise UsageError("--script FILE or --scenario NAME", seen="both" if file else "neither")
    if file is not None and folder is not None:
        raise UsageError("--scenarios with --scenario only", seen="--script")
    if file is not None:
        (loaded,) = load_scripts([file])
        return next(
            (each for each in load_standard() if (each.name, each.script) == (loaded.name, loaded.script)), loaded
        )
    found = simulated_scenarios([scenario or ""], None, folder, seed)
    if len(found) != 1:
        raise UsageError("one scenario", seen=f"{len(found)}", hint=" ".join(scenario.name for scenario in found[:5]))
    if found[0].script is None:
        raise UsageError(f"a scenario that needs no cluster ({found[0].name})", seen=found[0].live_only)
    return NamedScript(found[0].name, found[0].script)


def require_writable(path: Path) -> None:
    """Raise EnvironmentMissing if a page cannot be written there; checked before minutes of work."""
    if path.is_dir():
        raise EnvironmentMissing(f"to be able to write {path}", seen="a folder")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        seen = "a folder that is not writable" if path.parent.is_dir() else "no such folder"
        raise EnvironmentMissing(f"to be able to write {path}", seen=seen)


def write_page(path: Path, text: str) -> None:
    """Write the page; raise EnvironmentMissing if that fails."""
    try:
        path.write_text(text, "utf-8")
    except OSError as problem:
        raise EnvironmentMissing(f"to be able to write {path}", seen=str(problem)) from problem


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    bar = progress_bar(Console(stderr=True, emoji=False), TextColumn("executing scripts"))
    with bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
