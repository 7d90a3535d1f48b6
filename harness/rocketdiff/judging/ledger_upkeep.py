"""What `rocketdiff ledger` does: lint files, propose entries from a judged run, prune those that a run showed to be gone."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from hashlib import sha256
from pathlib import Path

from rocketdiff.core.errors import UsageError
from rocketdiff.core.run_info import RunInfo
from rocketdiff.documents.files import replace_file
from rocketdiff.judging.ledgers import admitted, problems, read, require_unique, text_of
from rocketdiff.ledger.apply import EntryOutcome
from rocketdiff.ledger.lint import Finding, Level, lint
from rocketdiff.ledger.model import Confirmation, EntryState
from rocketdiff.ledger.proposal import proposed_file
from rocketdiff.ledger.pruning import without
from rocketdiff.report.document import load as load_document
from rocketdiff.scenario import load_all
from rocketdiff.subjects.registry import known_subjects
from rocketdiff.traces.schema import TableName


def lint_files(paths: Sequence[Path], scenario_root: Path | None, *, allow_growth: bool) -> tuple[Finding, ...]:
    """Findings about all files, on today's date; what keeps a file from being read is one of them."""
    files, findings = [], []
    for path in paths:
        try:
            files.append(read(path))
        except UsageError as problem:
            findings += [Finding(Level.ERROR, path.name, str(wrong)) for wrong in problems(path) or (problem,)]
    try:
        require_unique(files)
    except UsageError as problem:
        findings.append(Finding(Level.ERROR, "all files", str(problem)))
    scenarios = [*load_all(), *(load_all(scenario_root) if scenario_root else ())]
    known = admitted((entry for file in files for entry in file.entries), scenarios)
    checked = lint(files, known, known_subjects(), today(), allow_growth=allow_growth)
    return (*findings, *checked)


def propose(path: Path) -> str:
    """YAML with a proposed entry for each undeclared divergence of a judged run; empty when there is none."""
    document = load_document(path)
    return proposed_file(document.results, document.run, _confirmation(document.run, path), today())


def _confirmation(run: RunInfo, path: Path) -> Confirmation:
    folder = path if path.is_dir() else path.parent
    return Confirmation(run.seed, run.run, trace_digest(folder), run.reproduce)


def trace_digest(folder: Path) -> str:
    """Digest of all tables of a run directory, wherever it lies; empty for a folder without tables."""
    tables = sorted(file for table in TableName for file in (folder / table).glob("*.parquet"))
    digest = sha256()
    for file in tables:
        digest.update(f"{file.parent.name}/{file.name}\n".encode())
        digest.update(sha256(file.read_bytes()).digest())
    return f"sha256:{digest.hexdigest()}" if tables else ""


def today() -> date:
    """The day by which lint judges age; a run is judged by its own."""
    return datetime.now(UTC).date()


@dataclass(frozen=True, slots=True)
class Pruned:
    """What became of one file; kept: stale entries that still occur somewhere and want an edit instead."""

    path: Path
    removed: tuple[str, ...]
    kept: tuple[str, ...]


def prune(runs: Sequence[Path], files: Sequence[Path], *, dry_run: bool) -> tuple[Pruned, ...]:
    """
    Remove the entries that were looked for in the judged runs and seen in none of their checks.

    Everything else of a file stays as it was written, comments included. Raises UsageError for a file that cannot be read.
    """
    outcomes = [entry for run in runs for entry in load_document(run).ledger]
    stale = {entry.id for entry in outcomes if entry.state is EntryState.STALE}
    gone = {name for name in stale if not any(entry.seen for entry in _about(name, outcomes))}
    return tuple(_pruned(path, gone, stale - gone, dry_run=dry_run) for path in files)


def _about(name: str, outcomes: Sequence[EntryOutcome]) -> list[EntryOutcome]:
    return [entry for entry in outcomes if entry.id == name]


def _pruned(path: Path, gone: set[str], still_seen: set[str], *, dry_run: bool) -> Pruned:
    ids = [entry.id for entry in read(path).entries]
    removed = tuple(name for name in ids if name in gone)
    if removed and not dry_run:
        replace_file(path, without(text_of(path), str(path), removed).encode())
    return Pruned(path, removed, tuple(name for name in ids if name in still_seen))
