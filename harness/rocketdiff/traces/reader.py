"""Reads a sealed run: verified tables of a case, and the check that no file and no group is missing or split."""

import re
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import TraceError
from rocketdiff.traces.layout import case_and_arm, table_file
from rocketdiff.traces.manifest import CaseEntry, CaseStatus
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import DIGESTS_SINCE, TableName
from rocketdiff.traces.sealed_file import REPAIR, FileStatement, read_file_statement, read_sealed
from rocketdiff.traces.tables import TABLES

FAULT_GUARD = re.compile(r"fault-(\d+)")
"""Guard that holds if the fault of that episode took effect."""


@dataclass(frozen=True, slots=True)
class SealedFile:
    """One file of a run with its statement."""

    path: Path
    statement: FileStatement


def require_whole(run: RunDirectory) -> None:
    """
    Raise TraceError unless every table of the run exists as sealed, with the number of rows in ``run.json``.

    Missing data would look like something that never happened: a lost row like a send that was not made, a lost fault like calm.
    """
    for table in TableName:
        for file in sealed_files(run, table):
            _require_counted(run, table, file.statement)
    for entry in run.manifest.kept:
        if lost := [file for file in entry.files if not (run.path / file).is_file()]:
            raise TraceError(
                f"every sealed table of case {entry.number}",
                seen=f"no {', '.join(lost)}",
                hint="copy the whole run directory again",
            )
        if entry.status is CaseStatus.COMPLETE:
            _require_faults(run, entry)


def _require_counted(run: RunDirectory, table: TableName, statement: FileStatement) -> None:
    if statement.case not in {entry.number for entry in run.manifest.kept}:
        if run.is_part:
            return
        raise TraceError(
            f"case {statement.case} of {table} in run.json", seen="no such case", hint="restore the run's own run.json"
        )
    entry = run.entry(statement.case)
    summary = entry.arms.get(statement.arm) if statement.arm is not None else None
    if summary is None:
        return
    rows = summary.rows_of(table)
    if rows is not None and statement.rows != rows:
        raise TraceError(
            f"{rows} rows of {table} of {statement.arm} in case {entry.number}, as run.json counts",
            seen=f"{statement.rows}",
            hint="rows were lost or added: copy the whole run directory again",
        )


def _require_faults(run: RunDirectory, entry: CaseEntry) -> None:
    """Raise TraceError unless every episode with a held guard is in the table."""
    guards = ((FAULT_GUARD.fullmatch(guard.name), guard.held) for guard in entry.guards)
    proven = {int(match[1]) for match, held in guards if match is not None and held}
    if not proven:
        return
    found = set(read_table(run, TableName.FAULTS, entry.number).column("episode").to_pylist())
    if lost := sorted(proven - found):
        raise TraceError(
            f"the faults of case {entry.number} that were proven",
            seen=f"no episode {', '.join(map(str, lost))}",
            hint="copy the whole run directory again",
        )


def sealed_files(run: RunDirectory, table: TableName) -> tuple[SealedFile, ...]:
    """
    Return every file of a table, ordered by case and arm.

    Raises TraceError if a file belongs to another run or contradicts its name, or if a complete case lacks one. Optional are
    files of aborted cases, and ``stored`` if the guard ``read-back`` is broken.
    """
    paths = sorted((run.path / table).glob("*.parquet"))
    for path in paths:
        case_and_arm(path)
    files = tuple(_sealed_file(run, path) for path in paths)
    for file in files:
        _require_own(run, table, file)
    present = {(file.statement.case, file.statement.arm) for file in files}
    arms = TABLES[table].arms
    for entry in run.manifest.kept:
        lacking = [table_file(table, entry.number, arm) for arm in arms if (entry.number, arm) not in present]
        if lacking and _is_required(table, entry):
            raise TraceError(
                f"all files of the complete case {entry.number} in run {run.run}",
                seen=f"no {', '.join(map(str, lacking))}",
                hint=REPAIR,
            )
    return tuple(sorted(files, key=lambda file: (file.statement.case, file.statement.arm or "")))


def _sealed_file(run: RunDirectory, path: Path) -> SealedFile:
    statement, minor = read_file_statement(path)
    if minor >= DIGESTS_SINCE and not run.manifest.has_digests:
        raise TraceError(
            f"run.json of the program that sealed {path.parent.name}/{path.name}, with its digests",
            seen=f"schema version {run.manifest.schema}",
            hint="restore run.json",
        )
    return SealedFile(path, statement)


def _is_required(table: TableName, entry: CaseEntry) -> bool:
    spec = TABLES[table]
    if entry.status is not CaseStatus.COMPLETE or spec.is_optional or spec.role not in (None, entry.role):
        return False
    return all(guard.held for guard in entry.guards if guard.name == spec.guard)


def _require_own(run: RunDirectory, table: TableName, file: SealedFile) -> None:
    stated = (file.statement.run, file.statement.table, file.statement.case, file.statement.arm)
    named = (run.run, table, *case_and_arm(file.path))
    if stated != named:
        raise TraceError(
            f"run, table, case and arm {named} in {table}/{file.path.name}",
            seen=str(stated),
            hint="the file was renamed or copied from another run",
        )


def has_table(run: RunDirectory, table: TableName, case: int, arm: Arm | None = None) -> bool:
    """Return whether a table was sealed for a case; after a crash ``stored`` may be missing."""
    return (run.path / table_file(table, case, arm)).is_file()


def read_table(run: RunDirectory, table: TableName, case: int, arm: Arm | None = None) -> pa.Table:
    """
    Read and verify one table of a case; ``arm`` is required except for ``faults``.

    Raises TraceError if it is missing or invalid.
    """
    file = table_file(table, case, arm)
    content, statement = read_sealed(run.path / file, _digest(run, run.entry(case), str(file)))
    _require_own(run, table, SealedFile(run.path / file, statement))
    return content


def _digest(run: RunDirectory, entry: CaseEntry, file: str) -> str | None:
    """Return a file's digest in ``run.json``; it may be missing in earlier schema versions and after a crash."""
    digest = entry.files.get(file)
    if digest is None and entry.status is CaseStatus.COMPLETE and run.manifest.has_digests:
        raise TraceError(f"a digest of {file} in run.json", seen="none", hint="the file was added after the run")
    return digest
