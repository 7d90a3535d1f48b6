"""
Verifies a run directory as before judging, and writes all of it into the record.

A damaged, incomplete or foreign folder goes to quarantine with the reason; the others are added.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pyarrow as pa

from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import EnvironmentMissing, HarnessError, TraceError, UsageError
from rocketdiff.core.files import regular_bytes
from rocketdiff.judging.run_info import describe
from rocketdiff.record.storage.batch import Batch
from rocketdiff.record.storage.files import PartWriter, RecordPlace
from rocketdiff.record.storage.tables import COLUMNS, TRACES, Kept, NewFile
from rocketdiff.traces.layout import JOURNAL, MANIFEST
from rocketdiff.traces.manifest import CaseEntry, CaseStatus
from rocketdiff.traces.reader import has_table, read_table, require_whole
from rocketdiff.traces.remote import is_url, name_of, run_at, runs_below, shown
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName
from rocketdiff.traces.sealed_file import state
from rocketdiff.traces.tables import TABLES

_DEEPEST = 3
"""Depth of folders below the named one in which runs are looked for: reports/CLIENT/SUITE/RUN."""

_NO_RUN = ""


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A folder that is or should be a run: its id and digest, or why it is not a run."""

    path: str
    run: str
    digest: str
    month: str
    expected: str = ""
    seen: str = ""
    hint: str = ""

    @property
    def is_run(self) -> bool:
        return not self.expected


def folders_of(paths: Sequence[Path]) -> list[Path]:
    """Return every run directory among these folders and below them, by name; UsageError if there is none."""
    return [Path(place) for place in places_of(list(map(str, paths)))]


def places_of(places: Sequence[str]) -> list[str]:
    """Return the path or URL of every run at these places and below them, by name, but no record; UsageError if there is none."""
    found: dict[str, None] = {}
    for place in places:
        some = list(_at_url(place) if is_url(place) else map(str, _below(Path(place).resolve(), _DEEPEST)))
        if not some:
            raise UsageError(
                "a run directory, or a folder of such",
                seen=shown(place) if is_url(place) else place,
                hint="name a folder that holds run.json",
            )
        found |= dict.fromkeys(some)
    return list(found)


def _at_url(url: str) -> Iterator[str]:
    return runs_below(url, _DEEPEST, apart=Kept.BATCHES)


def _below(path: Path, depth: int) -> Iterator[Path]:
    try:
        if (path / Kept.BATCHES).is_dir():
            return
        if (path / MANIFEST).exists() or any((path / name).is_dir() for name in (JOURNAL, *TableName)):
            yield path
        elif depth and path.is_dir():
            for folder in sorted(
                folder for folder in path.iterdir() if folder.is_dir() and not folder.name.startswith(".")
            ):
                yield from _below(folder, depth - 1)
    except OSError as problem:
        raise UsageError("a folder that can be read", seen=f"{path}: {problem.strerror}") from problem


def identify(place: str) -> FoundRun:
    """Return id and content digest of a run, from ``run.json``, which holds the digests of all tables."""
    try:
        with run_at(place, with_tables=False) as run:
            _require_sealed(run)
            if run.manifest.has_digests:
                return _found(place, run)
        with run_at(place) as run:
            return _found(place, run)
    except HarnessError as error:
        _require_reachable(place, error)
        return refused(place, error)


def _found(place: str, run: RunDirectory) -> FoundRun:
    return FoundRun(place, run.run, _digest(run), _month_of(run.manifest.created_wall_ms))


def _require_reachable(place: str, error: HarnessError) -> None:
    """Raise an error that says nothing about a run at a URL: its file system did not answer."""
    if is_url(place) and isinstance(error, EnvironmentMissing):
        raise error


def refused(place: str, error: HarnessError, run: str = _NO_RUN) -> FoundRun:
    """Return a folder with the reason for its quarantine; the reason contains no path of this machine."""
    here = shown(place) if is_url(place) else place
    expected, seen = (text.replace(here, name_of(place)) for text in (error.expected, error.seen))
    return FoundRun(place, run, "", "", expected, seen, error.hint)


def ingest(
    place: RecordPlace, batch: str, found: Sequence[FoundRun]
) -> tuple[tuple[NewFile, ...], tuple[FoundRun, ...]]:
    """Write these runs as one part of a batch; return its files, and the damaged runs."""
    writer, damaged = PartWriter(place, batch), []
    for folder in found:
        try:
            with run_at(folder.path) as run:
                rows = _verified(run) | {Kept.RUNS: _run_row(run, folder.digest, writer.part)}
        except HarnessError as error:
            _require_reachable(folder.path, error)
            damaged.append(refused(folder.path, error, folder.run))
            continue
        for table, some in rows.items():
            writer.add(table, folder.month, some, [folder.run], is_group=True)
    return writer.close(), tuple(damaged)


def quarantined(place: RecordPlace, batch: Batch, found: Sequence[FoundRun]) -> tuple[NewFile, ...]:
    """Write the rows of refused folders."""
    rows = [
        {
            "place": name_of(folder.path),
            "run": folder.run,
            "expected": folder.expected,
            "seen": folder.seen,
            "hint": folder.hint,
        }
        for folder in found
    ]
    writer = PartWriter(place, batch.batch)
    table = pa.Table.from_pylist(rows, schema=COLUMNS[Kept.QUARANTINE])
    writer.add(Kept.QUARANTINE, _month_of(batch.at_ms), table, [folder.run for folder in found])
    return writer.close()


def _require_sealed(run: RunDirectory) -> None:
    if not run.manifest.cases:
        raise TraceError(f"a run with cases ({run.run})", seen="none", hint="run it again")
    run.require_ended("rocketdiff analyze RUN seals what is there")


def _digest(run: RunDirectory) -> str:
    if run.manifest.has_digests:
        return run.manifest.digest
    digest = hashlib.sha256(regular_bytes(run.path / MANIFEST))
    for table in TableName:
        for path in sorted((run.path / table).glob("*.parquet")):
            digest.update(f"{table}/{path.name}".encode() + regular_bytes(path))
    return digest.hexdigest()


def _month_of(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1_000, UTC).strftime("%Y-%m")


def _verified(run: RunDirectory) -> dict[Kept, pa.Table]:
    """
    Every row of a run, verified as before judging; TraceError if it fails.

    A run is held in memory, because nothing may be written of a run that is damaged at its end.
    """
    require_whole(run)
    describe([run], took_s=0.0)
    parts: dict[Kept, list[pa.Table]] = {}
    cases = [_case_rows(run, entry, parts) for entry in run.manifest.cases]
    rows = {kept: pa.concat_tables(some) for kept, some in parts.items()}
    return {Kept.CASES: pa.Table.from_pylist(cases, schema=COLUMNS[Kept.CASES])} | rows


def _case_rows(run: RunDirectory, entry: CaseEntry, parts: dict[Kept, list[pa.Table]]) -> Mapping[str, object]:
    statements = []
    for table, kept in TRACES.items():
        for arm in TABLES[table].arms:
            if has_table(run, table, entry.number, arm) and entry.status is not CaseStatus.PLANNED:
                rows = read_table(run, table, entry.number, arm)
                subject = None if arm is None else run.subject(arm)
                statements.append(state(rows, run=run.run, name=table, case=entry.number, arm=arm, subject=subject))
                parts.setdefault(kept, []).append(_named(rows, kept, run.run))
    return _case_row(run, entry) | {"statements": msgspec.json.encode(statements).decode()}


def _named(rows: pa.Table, kept: Kept, run: str) -> pa.Table:
    named = rows.add_column(0, "run", pa.array([run] * rows.num_rows, type=pa.string()))
    return named.cast(COLUMNS[kept])


def _case_row(run: RunDirectory, entry: CaseEntry) -> dict[str, object]:
    return {
        "run": run.run,
        "case": entry.number,
        "name": entry.name,
        "scenario": entry.scenario,
        "plan_digest": entry.plan_digest,
        "topology": entry.topology,
        "settings": msgspec.json.encode(asdict(entry.settings), enc_hook=str).decode(),
        "checks": list(entry.checks),
        "broken_guards": [guard.name for guard in entry.broken_guards],
        "status": str(entry.status),
        "sends_planned": entry.sends_planned,
        "sends": sum(arm.sends for arm in entry.arms.values()),
        "attempts": sum(arm.attempts for arm in entry.arms.values()),
    }


def _run_row(run: RunDirectory, digest: str, part: str) -> pa.Table:
    manifest = run.manifest
    row = {
        "run": run.run,
        "digest": digest,
        "part": part,
        "baseline": manifest.subjects[Arm.BASELINE],
        "candidate": manifest.subjects[Arm.CANDIDATE],
        "server": manifest.server_release,
        "backend": manifest.backend,
        "suite": manifest.suite,
        "seed": manifest.seed,
        "created_ms": manifest.created_wall_ms,
        "ended_ms": manifest.ended_wall_ms,
        "machine": manifest.machine.processor,
        "cores": manifest.machine.cores,
        "rocketdiff": manifest.rocketdiff,
        "trace_schema": manifest.schema,
        "cases": len(manifest.cases),
        "sends": sum(entry.sends_planned for entry in manifest.cases),
        "manifest": regular_bytes(run.path / MANIFEST).decode(),
    }
    return pa.Table.from_pylist([row], schema=COLUMNS[Kept.RUNS])
