"""
Compaction: rewrites many batches into few large files, as a batch that replaces them.

A run remains row groups of one file. Replaced batches and leftovers of killed commands are deleted some hours later, because a
command with an older snapshot may still read them.
"""

import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from rocketdiff.record.storage.batch import Batch, StatedFile
from rocketdiff.record.storage.digests import require_as_committed
from rocketdiff.record.storage.files import PartWriter, RecordPlace, below_table, read_run, texts
from rocketdiff.record.storage.store import FileOfTable, Snapshot, batch_of, forget
from rocketdiff.record.storage.tables import COLUMNS, TRACES, Kept, NewFile

BRONZE = (Kept.CASES, *TRACES.values(), Kept.RUNS)
"""Tables of raw rows; those of ``runs`` name the part that holds a run."""

RUNS_A_PART = 256
"""With some 0.5 MB of Parquet per run, this gives files of about 128 MB."""

BYTES_A_PART = 128 << 20

_MS_AN_HOUR = 3_600_000


class Located(msgspec.Struct, frozen=True):
    """A run, and the files of the part that holds its rows."""

    run: str
    month: str
    files: tuple[StatedFile, ...]


class CompactionJob(msgspec.Struct, frozen=True):
    """What one task rewrites as one part: whole runs, or files of one table."""

    runs: tuple[Located, ...] = ()
    table: str = ""
    files: tuple[tuple[str, StatedFile], ...] = ()
    """Month and file."""


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """A batch that will replace others of its kind, and the jobs that write it."""

    like: Batch
    replaces: tuple[str, ...]
    jobs: tuple[bytes, ...]
    runs: int


def plans(snapshot: Snapshot) -> list[CompactionPlan]:
    """
    Return one plan per kind with several batches, or with one that states no digests of its files.

    Judgements are merged only if rules and checks are equal.
    """
    return [_plan(snapshot, some) for some in _alike(snapshot) if len(some) > 1 or some[0].files is None]


def most_alike(snapshot: Snapshot) -> int:
    """Return how many batches the largest plan would replace."""
    return max(map(len, _alike(snapshot)), default=0)


def _alike(snapshot: Snapshot) -> Collection[list[Batch]]:
    alike: defaultdict[object, list[Batch]] = defaultdict(list)
    for batch in snapshot.visible:
        kind = batch.kind.removeprefix("compact-")
        alike[kind, batch.scope, tuple(sorted(batch.rules.items())), batch.checks].append(batch)
    return alike.values()


def rewrite(place: RecordPlace, batch: str, job: bytes) -> tuple[NewFile, ...]:
    """Do one job."""
    wanted, writer = msgspec.json.decode(job, type=CompactionJob), PartWriter(place, batch)
    for run in wanted.runs:
        _copy_run(place, writer, run)
    system, root = place.file_system()
    require_as_committed(system, root, [stated for _, stated in wanted.files])
    for month, stated in wanted.files:
        with pq.ParquetFile(system.open_input_file(f"{root}/{stated.table}/{stated.path}")) as file:
            for group in range(file.num_row_groups):
                rows = file.read_row_group(group, columns=COLUMNS[Kept(wanted.table)].names)
                writer.add(Kept(wanted.table), month, rows, set(texts(rows, "run")))
    return writer.close()


def tidy(snapshot: Snapshot, keep_hours: int) -> int:
    """Delete files that were replaced, or left by killed commands, ``keep_hours`` ago; return the number of files."""
    before_ms = time.time_ns() // 1_000_000 - keep_hours * _MS_AN_HOUR
    replaced = {name for batch in snapshot.batches if batch.at_ms <= before_ms for name in batch.replaces}
    known = {batch.batch for batch in snapshot.batches}

    def unwanted(file: FileOfTable) -> bool:
        batch = batch_of(file.path)
        return batch in replaced or (batch not in known and file.at_ms <= before_ms)

    tables = (table for table in Kept if table is not Kept.BATCHES)
    return sum(forget(snapshot.place, table, unwanted, keep_hours) for table in tables)


def left_behind(snapshot: Snapshot) -> list[str]:
    """Return batches without a commit: of commands that were killed, or are still at work."""
    known = {batch.batch for batch in snapshot.batches}
    tables = (table for table in Kept if table is not Kept.BATCHES)
    return sorted({batch_of(file.path) for table in tables for file in snapshot.listed(table)} - known)


def _plan(snapshot: Snapshot, batches: Sequence[Batch]) -> CompactionPlan:
    jobs = [*_runs(snapshot, batches), *_files(snapshot, batches)]
    replaces = tuple(batch.batch for batch in batches)
    return CompactionPlan(
        batches[0], replaces, tuple(map(msgspec.json.encode, jobs)), sum(batch.runs for batch in batches)
    )


def _runs(snapshot: Snapshot, batches: Sequence[Batch]) -> Iterable[CompactionJob]:
    if not batches[0].kind.endswith("add"):
        return
    rows = snapshot.rows(Kept.RUNS, ["run", "month", "batch", "part"], batches).to_pylist()
    parts = snapshot.parts(BRONZE)
    by_month: defaultdict[str, list[Located]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: str(row["run"])):
        files = parts[below_table(row["month"], row["batch"], row["part"])]
        by_month[row["month"]].append(Located(row["run"], row["month"], files))
    for _, some in sorted(by_month.items()):
        yield from (CompactionJob(runs=tuple(some[at : at + RUNS_A_PART])) for at in range(0, len(some), RUNS_A_PART))


def _files(snapshot: Snapshot, batches: Sequence[Batch]) -> Iterable[CompactionJob]:
    tables = (table for table in Kept if table not in (Kept.BATCHES, *BRONZE))
    for table in tables:
        waiting: list[tuple[str, StatedFile]] = []
        size = 0
        for file in snapshot.files(table, batches):
            waiting.append((file.path.partition("/")[0].removeprefix("month="), file))
            size += file.size
            if size >= BYTES_A_PART:
                yield CompactionJob(table=table, files=tuple(waiting))
                waiting, size = [], 0
        if waiting:
            yield CompactionJob(table=table, files=tuple(waiting))


def _copy_run(place: RecordPlace, writer: PartWriter, one: Located) -> None:
    for file in one.files:
        rows = read_run(place, file, one.run)
        if file.table == Kept.RUNS:
            column = rows.column_names.index("part")
            rows = rows.set_column(column, "part", pa.array([writer.part] * rows.num_rows, type=pa.string()))
        if rows.num_rows:
            writer.add(Kept(file.table), one.month, rows, [one.run], is_group=True)
