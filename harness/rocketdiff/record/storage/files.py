"""Files of a record as tasks write and read them, on any file system of Arrow, named by batch and part."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from rocketdiff.core.errors import EnvironmentMissing, TraceError, UsageError
from rocketdiff.core.text.quoted import words_of
from rocketdiff.record.storage.batch import RESTORE, StatedFile
from rocketdiff.record.storage.digests import Hashed, flaw, require_as_committed
from rocketdiff.record.storage.tables import COLUMNS, PARTITION, Kept, NewFile, partition_of, whole_schema
from rocketdiff.traces.remote import file_system_of, is_url

ROWS_A_GROUP = 131_072
"""Rows of small tables buffered before a write: some MB, which Spark reads at once."""


_GREATEST = "\U0010ffff"
"""Behind the names of all runs."""


@dataclass(frozen=True, slots=True)
class RecordPlace:
    """Location of a record: an absolute folder, or the URL of a file system (``s3://…``, ``hdfs://…``, ``file://…``)."""

    url: str

    @classmethod
    def named(cls, text: str) -> "RecordPlace":
        if not text or "\0" in text:
            raise UsageError("a folder or URL of a record", seen=repr(text), hint="--record FOLDER")
        return cls(text.rstrip("/") if is_url(text) else str(Path(text).absolute()))

    def folder(self, table: Kept) -> str:
        return f"{self.url}/{table}"

    def file_system(self) -> tuple[pafs.FileSystem, str]:
        """Return the file system, and the path of this place in it."""
        return file_system_of(self.url) if is_url(self.url) else (pafs.LocalFileSystem(), self.url)


def below_table(month: str, batch: str, part: str) -> str:
    """Return the path of a part within its table, as Delta names it."""
    return f"month={month}/batch={batch}/{part}.parquet"


class PartWriter:
    """
    Writes rows of any tables of one batch, one file per table and month; readers see them after the commit.

    ``add`` with ``is_group`` makes separate row groups, so that a run's rows can be read alone.
    """

    def __init__(self, place: RecordPlace, batch: str) -> None:
        self._system, self._root = place.file_system()
        self._batch = batch
        self.part = f"{batch}-{uuid.uuid4().hex[:12]}"
        self._writers: dict[tuple[Kept, str], pq.ParquetWriter] = {}
        self._sinks: dict[tuple[Kept, str], tuple[pa.NativeFile, Hashed]] = {}
        self._waiting: defaultdict[tuple[Kept, str], list[pa.Table]] = defaultdict(list)
        self._rows: defaultdict[tuple[Kept, str], int] = defaultdict(int)
        self._runs: defaultdict[tuple[Kept, str], set[str]] = defaultdict(set)

    def add(self, table: Kept, month: str, rows: pa.Table, runs: Iterable[str], *, is_group: bool = False) -> None:
        key = table, month
        self._runs[key].update(runs)
        self._waiting[key].append(rows.cast(COLUMNS[table]))
        if is_group or sum(waiting.num_rows for waiting in self._waiting[key]) >= ROWS_A_GROUP:
            self._flush(key)

    def close(self) -> tuple[NewFile, ...]:
        for key in list(self._waiting):
            self._flush(key)
        try:
            for writer in self._writers.values():
                writer.close()
            for sink, _ in self._sinks.values():
                sink.close()
        except OSError as problem:
            raise self._given_up(problem) from problem
        return tuple(self._described(table, month) for table, month in self._writers)

    def _flush(self, key: tuple[Kept, str]) -> None:
        waiting = self._waiting.pop(key, [])
        if not waiting:
            return
        rows = pa.concat_tables(waiting)
        try:
            self._writer(key).write_table(rows)
        except OSError as problem:
            raise self._given_up(problem) from problem
        self._rows[key] += rows.num_rows

    def _given_up(self, problem: OSError) -> EnvironmentMissing:
        for writer in self._writers.values():
            writer.is_open = False  # otherwise its destructor tries again and prints a traceback
        return cannot_write(problem)

    def _writer(self, key: tuple[Kept, str]) -> pq.ParquetWriter:
        if key not in self._writers:
            path = self._path(*key)
            self._system.create_dir(path.rpartition("/")[0], recursive=True)
            sink = self._system.open_output_stream(path)
            self._sinks[key] = sink, Hashed(sink)
            into = pa.PythonFile(self._sinks[key][1], mode="w")
            self._writers[key] = pq.ParquetWriter(into, COLUMNS[key[0]], compression="zstd")
        return self._writers[key]

    def _path(self, table: Kept, month: str) -> str:
        return f"{self._root}/{table}/{below_table(month, self._batch, self.part)}"

    def _described(self, table: Kept, month: str) -> NewFile:
        key = table, month
        (information,) = self._system.get_file_info([self._path(*key)])
        runs = self._runs[key] or {""}
        below = below_table(month, self._batch, self.part)
        size, digest = information.size or 0, self._sinks[key][1].digest
        return NewFile(str(table), below, month, self._batch, size, self._rows[key], min(runs), max(runs), digest)


def cannot_write(problem: OSError) -> EnvironmentMissing:
    """Return the error for a full disk or a folder without write permission."""
    return EnvironmentMissing(
        "a record that can be written to",
        seen=str(problem),
        hint="free some space, then repeat the command: nothing was added",
    )


def check_files(place: RecordPlace, files: Iterable[StatedFile]) -> list[str]:
    """Read every byte of these files; return what is wrong, one sentence each."""
    system, root = place.file_system()
    return [found for file in files if (found := flaw(system, root, file))]


def read_rows(
    place: RecordPlace, table: Kept, files: Sequence[StatedFile], columns: Sequence[str], **keep: Sequence[str]
) -> pa.Table:
    """Read some columns of some files of a table in this process; ``keep``: wanted values by column."""
    schema = whole_schema(table)
    if not files:
        return pa.schema([schema.field(name) for name in columns]).empty_table()
    system, root = place.file_system()
    require_as_committed(system, root, files)
    partitioning = ds.partitioning(pa.schema([(name, pa.string()) for name in PARTITION]), flavor="hive")
    wanted = None
    for name, values in keep.items():
        condition = ds.field(name).isin(list(values))
        wanted = condition if wanted is None else wanted & condition
    try:
        dataset = ds.dataset(
            [f"{root}/{table}/{file.path}" for file in files],
            schema=schema,
            format="parquet",
            partitioning=partitioning if partition_of(table) else None,
            filesystem=system,
        )
        return dataset.to_table(columns=list(columns), filter=wanted)
    except (OSError, pa.ArrowException) as problem:
        raise TraceError(
            f"the files of table {table} of the record",
            seen=words_of(problem),
            hint="rocketdiff record check says what is damaged",
        ) from problem


def read_run(place: RecordPlace, file: StatedFile, run: str) -> pa.Table:
    """Return the rows of one run in a file; reads only row groups whose statistics admit the run."""
    system, root = place.file_system()
    require_as_committed(system, root, [file])
    path, names = f"{root}/{file.table}/{file.path}", COLUMNS[Kept(file.table)].names
    try:
        footer = (_footer if file.digest else _footer.__wrapped__)(place, file)
        groups = [number for number, (least, most) in enumerate(footer.runs) if least <= run <= most]
        with pq.ParquetFile(system.open_input_file(path), metadata=footer.metadata) as opened:
            rows = opened.read_row_groups(groups, columns=names, use_threads=False)
    except FileNotFoundError as problem:
        # A worker that does not share the record's folder; not a defect of the run, which would be recorded.
        raise EnvironmentMissing(
            f"the files of table {file.table} of the record where tasks run",
            seen=words_of(problem),
            hint="rocketdiff record check",
        ) from problem
    except (OSError, ValueError, pa.ArrowException) as problem:
        raise TraceError(
            f"a readable file {file.table}/{file.path} of the record",
            seen=words_of(problem),
            hint="rocketdiff record check says what is damaged",
        ) from problem
    is_alone = all(footer.runs[number] == (run, run) for number in groups)
    return rows if is_alone else rows.filter(pc.equal(rows.column("run"), pa.scalar(run)))


@dataclass(frozen=True, slots=True)
class _Footer:
    """What the end of a file says. runs: between which names those of each row group are; any if it does not say."""

    metadata: pq.FileMetaData
    runs: tuple[tuple[str, str], ...]


@lru_cache(maxsize=24)
def _footer(place: RecordPlace, file: StatedFile) -> _Footer:
    """
    Kept for the next run of a file, for all tables of a part: where a file has many runs, its footer is longer than the rows of one.

    A file without digest may change, so it is read anew.
    """
    system, root = place.file_system()
    with pq.ParquetFile(system.open_input_file(f"{root}/{file.table}/{file.path}")) as opened:
        require_columns(opened.schema_arrow.names, COLUMNS[Kept(file.table)].names, file)
        metadata = opened.metadata
        return _Footer(metadata, tuple(_runs_of(metadata.row_group(each)) for each in range(metadata.num_row_groups)))


def require_columns(seen: Sequence[str], names: Sequence[str], file: StatedFile) -> None:
    """Raise TraceError for a file with other columns, which a reader would take for null; older ones have no digest."""
    if list(seen) != list(names):
        raise TraceError(f"columns {', '.join(names)} in {file.table}/{file.path}", seen=", ".join(seen), hint=RESTORE)


def _runs_of(group: pq.RowGroupMetaData) -> tuple[str, str]:
    statistics = group.column(0).statistics
    if statistics is None or not statistics.has_min_max or statistics.null_count:
        return "", _GREATEST
    return str(statistics.min), str(statistics.max)


def texts(rows: pa.Table, column: str) -> list[str]:
    """Return a column without nulls as strings."""
    return [str(value) for value in rows.column(column).to_pylist()]
