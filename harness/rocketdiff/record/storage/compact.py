"""
Compaction: rewrites many batches into few large files, as a batch that replaces them.

A run remains row groups of one file. Replaced batches and leftovers of killed commands are deleted some hours later, because a
command with an older snapshot may still read them.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
import pyarrow as pa
import pyarrow.fs as pafs

from rocketdiff.record.storage.files import PartWriter, RecordPlace, open_part, path_in, read_run, texts
from rocketdiff.record.storage.store import Batch, FileOfTable, Snapshot, batch_of, forget
from rocketdiff.record.storage.tables import COLUMNS, TRACES, Kept, NewFile

BRONZE = (Kept.CASES, *TRACES.values())
"""Tables of raw rows, besides ``runs``, whose rows name the part that holds them."""

RUNS_A_PART = 256
"""With some 0.5 MB of Parquet per run, this gives files of about 128 MB."""

BYTES_A_PART = 128 << 20

_MS_AN_HOUR = 3_600_000


class Located(msgspec.Struct, frozen=True):
    """A run and the location of its rows."""

    run: str
    month: str
    batch: str
    part: str


class CompactionJob(msgspec.Struct, frozen=True):
    """What one task rewrites as one part: whole runs, or files of one table."""

    runs: tuple[Located, ...] = ()
    table: str = ""
    files: tuple[tuple[str, str], ...] = ()
    """Month and path."""


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """A batch that will replace others of its kind, and the jobs that write it."""

    like: Batch
    replaces: tuple[str, ...]
    jobs: tuple[bytes, ...]
    runs: int


def plans(snapshot: Snapshot) -> list[CompactionPlan]:
    """Return one plan per kind with several batches. Judgements are merged only if rules and checks are equal."""
    alike: defaultdict[object, list[Batch]] = defaultdict(list)
    for batch in snapshot.visible:
        kind = batch.kind.removeprefix("compact-")
        alike[kind, batch.scope, tuple(sorted(batch.rules.items())), batch.checks].append(batch)
    return [_plan(snapshot, some) for some in alike.values() if len(some) > 1]


def rewrite(place: RecordPlace, batch: str, job: bytes) -> tuple[NewFile, ...]:
    """Do one job."""
    wanted, writer = msgspec.json.decode(job, type=CompactionJob), PartWriter(place, batch)
    for run in wanted.runs:
        _copy_run(place, writer, run)
    for month, path in wanted.files:
        with open_part(place, path) as file:
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
    return sorted({batch_of(file.path) for table in tables for file in snapshot.files(table)} - known)


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
    by_month: defaultdict[str, list[Located]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: str(row["run"])):
        by_month[row["month"]].append(Located(**row))
    for _, some in sorted(by_month.items()):
        yield from (CompactionJob(runs=tuple(some[at : at + RUNS_A_PART])) for at in range(0, len(some), RUNS_A_PART))


def _files(snapshot: Snapshot, batches: Sequence[Batch]) -> Iterable[CompactionJob]:
    names, (_, root) = {batch.batch for batch in batches}, snapshot.place.file_system()
    tables = (table for table in Kept if table not in (Kept.BATCHES, Kept.RUNS, *BRONZE))
    for table in tables:
        waiting: list[tuple[str, str]] = []
        size = 0
        for file in snapshot.files(table):
            if batch_of(file.path) in names:
                waiting.append((file.path.partition("/")[0].removeprefix("month="), f"{root}/{table}/{file.path}"))
                size += file.size
            if size >= BYTES_A_PART:
                yield CompactionJob(table=table, files=tuple(waiting))
                waiting, size = [], 0
        if waiting:
            yield CompactionJob(table=table, files=tuple(waiting))


def _copy_run(place: RecordPlace, writer: PartWriter, one: Located) -> None:
    system, _ = place.file_system()
    for table in BRONZE:
        path = path_in(place, table, one.month, one.batch, one.part)
        (information,) = system.get_file_info([path])
        if information.type is not pafs.FileType.NotFound:
            rows = read_run(place, table, path, one.run)
            if rows.num_rows:
                writer.add(table, one.month, rows, [one.run], is_group=True)
    row = read_run(place, Kept.RUNS, path_in(place, Kept.RUNS, one.month, one.batch, one.part), one.run)
    column = row.column_names.index("part")
    moved = row.set_column(column, "part", pa.array([writer.part] * row.num_rows, type=pa.string()))
    writer.add(Kept.RUNS, one.month, moved, [one.run], is_group=True)
