"""
The record on disk: Delta tables, and the one commit that makes a batch visible in all of them.

1. Tasks write files that no table contains.
2. The driver appends them to their tables, one Delta commit per table. Readers ignore rows whose batch is not in ``batches``.
3. The driver appends the batch's row to ``batches``, only if no other command has done so since the snapshot
   (``max_commit_retries=0``). Otherwise the command takes a new snapshot and works on what is still missing.

A killed command leaves the whole batch, or files that no reader uses and ``compact`` removes.
"""

import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.fs import FileSelector

from rocketdiff.core.errors import EnvironmentMissing, TraceError, UsageError
from rocketdiff.core.extras import RECORD
from rocketdiff.core.text.quoted import words_of
from rocketdiff.record.storage.batch import RESTORE, Batch, StatedFile, batch_from, row_of
from rocketdiff.record.storage.digests import require_files
from rocketdiff.record.storage.files import RecordPlace, cannot_write, read_rows, require_columns
from rocketdiff.record.storage.tables import COLUMNS, RECORD_VERSION, Kept, NewFile, partition_of, whole_schema

with RECORD.needed():
    from deltalake import DeltaTable, Field, Schema
    from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
    from deltalake.schema import PrimitiveType
    from deltalake.transaction import AddAction, CommitProperties

_NAME = "rocketdiff record"

ADDED = ("files", "digest")
"""Columns of ``batches`` that older releases do not write."""


MOST_BATCH_FILES = 64
"""Every command reads all files of ``batches``, a millisecond each; from so many on, they are merged."""


class OthersWereFaster(Exception):
    """Another command has committed a batch since the snapshot; take a new one."""


@dataclass(frozen=True, slots=True)
class FileOfTable:
    """A file that Delta lists in a table; path: relative to the table's folder. rows: None if the log does not say."""

    path: str
    size: int
    at_ms: int
    rows: int | None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """
    The record at one time: its batches, and the version of table ``batches``.

    A table is listed only once, because the files of these batches were in it before their rows were in ``batches``.
    """

    place: RecordPlace
    version: int
    batches: tuple[Batch, ...]
    _listed: dict[Kept, list[FileOfTable]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def visible(self) -> tuple[Batch, ...]:
        """Batches that no other batch replaces."""
        replaced = {name for batch in self.batches for name in batch.replaces}
        return tuple(batch for batch in self.batches if batch.batch not in replaced)

    @property
    def runs(self) -> int:
        """Number of runs."""
        return sum(batch.runs for batch in self.of("add"))

    def of(self, kind: str) -> tuple[Batch, ...]:
        """Visible batches of a kind, including compactions of that kind."""
        return tuple(batch for batch in self.visible if batch.kind in (kind, f"compact-{kind}"))

    def listed(self, table: Kept) -> list[FileOfTable]:
        """Files of any batch, as Delta lists them, by path."""
        if table not in self._listed:
            opened = _opened(self.place, table)
            self._listed[table] = [] if opened is None else _files_of(opened)
        return self._listed[table]

    def files(self, table: Kept, batches: Iterable[Batch] | None = None) -> list[StatedFile]:
        """Files of the given batches (default: all visible), by path: as the batches state them, if they do."""
        wanted = list(self.visible if batches is None else batches)
        older = {batch.batch for batch in wanted if batch.files is None}
        found = [file for batch in wanted for file in batch.files or () if file.table == table]
        if older:
            listed = (file for file in self.listed(table) if batch_of(file.path) in older)
            found += [StatedFile(table, file.path, file.size, "") for file in listed]
        return sorted(found, key=lambda file: file.path)

    def paths(self, table: Kept, batches: Iterable[Batch] | None = None) -> list[str]:
        """Paths of files in the place's file system."""
        root = f"{self.place.file_system()[1]}/{table}"
        return [f"{root}/{file.path}" for file in self.files(table, batches)]

    def parts(self, tables: Iterable[Kept]) -> dict[str, tuple[StatedFile, ...]]:
        """Return the files of each part of the visible batches, by the part's path below its tables."""
        found: defaultdict[str, list[StatedFile]] = defaultdict(list)
        for table in tables:
            for file in self.files(table):
                found[file.path].append(file)
        return {path: tuple(files) for path, files in found.items()}

    def rows(
        self, table: Kept, columns: Sequence[str], batches: Iterable[Batch] | None = None, **keep: Sequence[str]
    ) -> pa.Table:
        return read_rows(self.place, table, self.files(table, batches), columns, **keep)


def batch_of(path: str) -> str:
    """Return the batch that a file's path names."""
    return next((word.removeprefix("batch=") for word in path.split("/") if word.startswith("batch=")), "")


def look(place: RecordPlace) -> Snapshot:
    """Return a snapshot; UsageError if there is no record, TraceError if it has another version."""
    opened = _opened(place, Kept.BATCHES)
    if opened is None:
        raise UsageError("a record", seen=f"none at {place.url}", hint="rocketdiff record add RUN makes one")
    return _seen(place, opened)


def look_or_make(place: RecordPlace) -> Snapshot:
    """Return a snapshot; create an empty record if there is none."""
    opened = _opened(place, Kept.BATCHES)
    if opened is None:
        _made(place, Kept.BATCHES)
        return look(place)
    return _seen(place, opened)


def _seen(place: RecordPlace, opened: DeltaTable) -> Snapshot:
    _require_version(opened)
    batches = [batch for file in _files_of(opened) for batch in read_batches(place, file)]
    return Snapshot(place, opened.version(), tuple(sorted(batches, key=lambda one: (one.at_ms, one.batch))))


def read_batches(place: RecordPlace, file: FileOfTable) -> list[Batch]:
    """Read a file of table ``batches``, whose rows have digests, and whose number of rows is in the log."""
    system, root = place.file_system()
    where = f"file {Kept.BATCHES}/{file.path}"
    require_files(system, [f"{root}/{Kept.BATCHES}/{file.path}"])
    try:
        with pq.ParquetFile(system.open_input_file(f"{root}/{Kept.BATCHES}/{file.path}")) as opened:
            found, rows = opened.schema_arrow.names, opened.read().to_pylist()
    except (OSError, ValueError, pa.ArrowException) as problem:
        raise TraceError(f"a readable {where}", seen=words_of(problem), hint=RESTORE) from problem
    names = COLUMNS[Kept.BATCHES].names
    if found != names[: -len(ADDED)]:
        require_columns(found, names, StatedFile(Kept.BATCHES, file.path, file.size, ""))
    if file.rows not in (None, len(rows)):
        raise TraceError(f"{file.rows} rows in {where}", seen=f"{len(rows)}", hint=RESTORE)
    return [batch_from(row, where=where) for row in rows]


def commit(snapshot: Snapshot, batch: Batch, files: Sequence[NewFile]) -> None:
    """
    Make a batch visible in all tables at once.

    Raises OthersWereFaster if another batch was committed since the snapshot; these files then belong to no batch.
    """
    _require_seen(snapshot.place, files)
    snapshot = _with_columns(snapshot)
    by_table: defaultdict[Kept, list[NewFile]] = defaultdict(list)
    for file in files:
        by_table[Kept(file.table)].append(file)
    for table, some in by_table.items():
        _append(snapshot.place, table, [_action(file) for file in some])
    # Batches are ordered by commit, even if the clock was set back.
    last_ms = max((known.at_ms for known in snapshot.batches), default=0)
    stated = tuple(StatedFile(file.table, file.path, file.size, file.digest) for file in files)
    _append_batch(snapshot, replace(batch, at_ms=max(batch.at_ms, last_ms + 1), files=stated))
    gather_batches(snapshot.place, MOST_BATCH_FILES)


def _with_columns(snapshot: Snapshot) -> Snapshot:
    """Give table ``batches`` of a record of an older release the columns that were added since."""
    opened = _opened(snapshot.place, Kept.BATCHES, snapshot.version)
    assert opened is not None, "looked at before"
    has = {column.name for column in opened.schema().fields}
    added = [Field(name, PrimitiveType("string")) for name in ADDED if name not in has]
    if not added:
        return snapshot
    try:
        opened.alter.add_columns(added)
    except CommitFailedError as problem:
        raise OthersWereFaster from problem
    return replace(snapshot, version=opened.version())


def forget(place: RecordPlace, table: Kept, unwanted: Callable[[FileOfTable], bool], keep_hours: int) -> int:
    """
    Remove the batches of unwanted files from a table, then delete files that are in no table for ``keep_hours``.

    Returns the number of files deleted.
    """
    opened = _opened(place, table)
    if opened is None:
        return 0
    names = sorted({batch_of(file.path) for file in _files_of(opened) if unwanted(file)})
    if names:
        listed = ", ".join(f"'{name}'" for name in names)
        opened.delete(f"batch IN ({listed})")
    opened.update_incremental()
    return len(opened.vacuum(keep_hours, dry_run=False, enforce_retention_duration=False, full=True))


def gather_batches(place: RecordPlace, least: int = 2) -> None:
    """Merge the files of table ``batches``, to which each command adds one, if there are so many."""
    opened = _opened(place, Kept.BATCHES)
    if opened is not None and len(_files_of(opened)) >= least:
        with suppress(CommitFailedError):  # another command was faster
            opened.optimize.compact()


def _require_seen(place: RecordPlace, files: Sequence[NewFile]) -> None:
    """Tasks on other machines may have written to a local folder of the same name."""
    system, root = place.file_system()
    there = system.get_file_info([f"{root}/{file.table}/{file.path}" for file in files])
    lost = [file for file, seen in zip(files, there, strict=True) if seen.size != file.size]
    if lost:
        raise EnvironmentMissing(
            f"the {len(files)} files that tasks have written at {place.url}",
            seen=f"{len(lost)} of them not there, or cut short; nothing was added",
            hint="name the record by a folder that all workers share, or by a URL",
        )


def _append_batch(snapshot: Snapshot, batch: Batch) -> None:
    place = snapshot.place
    system, root = place.file_system()
    name = f"{batch.batch}.parquet"
    rows = pa.Table.from_pylist([row_of(batch)], schema=COLUMNS[Kept.BATCHES])
    path = f"{root}/{Kept.BATCHES}/{name}"
    try:
        with system.open_output_stream(path) as sink:
            pq.write_table(rows, sink)
    except OSError as problem:
        raise cannot_write(problem) from problem
    (information,) = system.get_file_info([path])
    file = NewFile(Kept.BATCHES, name, "", "", information.size or 0, 1, "", "", "")
    opened = _opened(place, Kept.BATCHES, snapshot.version)
    assert opened is not None, "looked at before"
    properties = CommitProperties(max_commit_retries=0)
    try:
        opened.create_write_transaction(
            [_action(file)], "append", Schema.from_arrow(whole_schema(Kept.BATCHES)), commit_properties=properties
        )
    except CommitFailedError as problem:
        system.delete_file(path)
        raise OthersWereFaster from problem
    except DeltaError as problem:
        # What follows a commit, such as a checkpoint, may fail alone.
        if not any(listed.path == name for listed in _files_of(DeltaTable(place.folder(Kept.BATCHES)))):
            system.delete_file(path)
            raise _not_taken(Kept.BATCHES, 1, problem) from problem


def _append(place: RecordPlace, table: Kept, actions: list[AddAction]) -> None:
    opened = _opened(place, table) or _made(place, table)
    try:
        opened.create_write_transaction(
            list(actions), "append", Schema.from_arrow(whole_schema(table)), list(partition_of(table))
        )
    except DeltaError as problem:
        raise _not_taken(table, len(actions), problem) from problem


def _not_taken(table: Kept, files: int, problem: Exception) -> EnvironmentMissing:
    return EnvironmentMissing(
        f"table {table} of the record to take {files} files",
        seen=words_of(problem),
        hint="repeat the command: nothing was added",
    )


def _action(file: NewFile) -> AddAction:
    stats: dict[str, object] = {"numRecords": file.rows}
    if file.first_run:
        stats |= {"minValues": {"run": file.first_run}, "maxValues": {"run": file.last_run}}
    partition: dict[str, str | None] = {}
    if partition_of(Kept(file.table)):
        partition = {"month": file.month, "batch": file.batch}
    return AddAction(file.path, file.size, partition, time.time_ns() // 1_000_000, True, json.dumps(stats))


def _opened(place: RecordPlace, table: Kept, version: int | None = None) -> DeltaTable | None:
    system, root = place.file_system()
    require_files(system, FileSelector(f"{root}/{table}/_delta_log", allow_not_found=True))
    try:
        return DeltaTable(place.folder(table), version=version)
    except TableNotFoundError:
        return None
    except (DeltaError, OSError) as problem:
        raise _damaged(f"table {table} of a record at {place.url}", problem) from problem


def _damaged(what: str, problem: Exception) -> TraceError:
    return TraceError(
        what, seen=words_of(problem), hint="restore the folder from a copy, or name another with --record"
    )


def _files_of(opened: DeltaTable) -> list[FileOfTable]:
    try:
        rows = pa.table(opened.get_add_actions(flatten=True)).to_pylist()
    except (DeltaError, OSError) as problem:
        raise _damaged(f"the log of {opened.table_uri}", problem) from problem
    files = (
        FileOfTable(unquote(row["path"]), row["size_bytes"], row["modification_time"], row.get("num_records"))
        for row in rows
    )
    return sorted(files, key=lambda one: one.path)


def _made(place: RecordPlace, table: Kept) -> DeltaTable:
    """Create an empty table, unless another command does so at the same time."""
    try:
        place.file_system()[0].create_dir(f"{place.file_system()[1]}/{table}", recursive=True)
        return DeltaTable.create(
            place.folder(table),
            schema=Schema.from_arrow(whole_schema(table)),
            mode="ignore",
            partition_by=list(partition_of(table)),
            name=_NAME,
            description=f"{_NAME} {RECORD_VERSION}",
        )
    except (DeltaError, OSError) as problem:
        opened = _opened(place, table)
        if opened is None:
            raise EnvironmentMissing(
                f"a folder for a record at {place.url}", seen=words_of(problem), hint="name another with --record"
            ) from problem
        return opened


def _require_version(opened: DeltaTable) -> None:
    version = opened.metadata().description or "no record of rocketdiff"
    if version != f"{_NAME} {RECORD_VERSION}":
        raise TraceError(
            f"a record of version {RECORD_VERSION}",
            seen=f"{version} at {opened.table_uri}",
            hint="use the rocketdiff that made it, or add the runs to a new record",
        )
