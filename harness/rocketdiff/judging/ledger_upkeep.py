"""Commands of `rocketdiff ledger`: lint files, propose entries from a judged run, prune entries that a run showed to be gone."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from hashlib import sha256
from pathlib import Path

from rocketdiff.core.errors import UsageError
from rocketdiff.core.files import regular_bytes
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
    """Return findings about all files, as of today; an unreadable file is a finding."""
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
    """Return YAML with a proposed entry per undeclared divergence of a judged run; empty if there is none."""
    document = load_document(path)
    return proposed_file(document.results, document.run, _confirmation(document.run, path), today())


def _confirmation(run: RunInfo, path: Path) -> Confirmation:
    folder = path if path.is_dir() else path.parent
    return Confirmation(run.seed, run.run, trace_digest(folder), run.reproduce)


def trace_digest(folder: Path) -> str:
    """Digest of all tables of a run directory, independent of its location; empty without tables."""
    tables = sorted(file for table in TableName for file in (folder / table).glob("*.parquet"))
    digest = sha256()
    for file in tables:
        digest.update(f"{file.parent.name}/{file.name}\n".encode())
        digest.update(sha256(regular_bytes(file)).digest())
    return f"sha256:{digest.hexdigest()}" if tables else ""


def today() -> date:
    """The day on which lint judges age; a run is judged on its own day."""
    return datetime.now(UTC).date()


@dataclass(frozen=True, slots=True)
class Pruned:
    """Outcome for one file; kept: stale entries that still occur somewhere and need an edit instead."""

    path: Path
    removed: tuple[str, ...]
    kept: tuple[str, ...]


def prune(runs: Sequence[Path], files: Sequence[Path], *, dry_run: bool) -> tuple[Pruned, ...]:
    """
    Remove the entries that were expected in the judged runs and seen in no check.

    The rest of a file, including comments, is unchanged. Raises UsageError for an unreadable file.
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
