"""
The fallback for runs in a foreign layout: one blob a (file, case, arm) is shuffled, never the raw rows.

blobs: (run, case, table, arm, blob), a blob being an Arrow stream of one file's rows of one case and arm. They are
brought together by (run, case); a case is judged as soon as the next one begins, whatever the edges of batches.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from harness.analysis.case_trace import BATCH_ROWS, TableKey
from harness.analysis.facts import ARROW_SCHEMA, SPARK_SCHEMA, CaseFact, Trouble, batches
from harness.analysis.judged_case import judge_case
from harness.analysis.layout import assembled, foreign_files, pieces
from harness.core.errors import TraceError
from harness.core.events import Arm
from harness.traces.run_directory import RunDirectory
from harness.traces.schema import TableName

FILES_SCHEMA = "run string, table string, path string"
BLOBS_SCHEMA = "run string, number bigint, table string, arm string, blob binary"
_BLOB_TYPES: dict[str, pa.DataType] = {
    "run": pa.string(),
    "number": pa.int64(),
    "table": pa.string(),
    "arm": pa.string(),
    "blob": pa.binary(),
}
_BLOBS = pa.schema(_BLOB_TYPES)

TROUBLE = "trouble"
"""Stands for the table of a blob that is no rows but the reason why a file could not be read."""

NO_CASE = 0
"""Number of the case of such a blob; cases count from 1."""

CaseKey = tuple[str, int]


def foreign_facts(spark: SparkSession, runs: Iterable[Path], *, batch_rows: int = BATCH_ROWS) -> DataFrame:
    """The table ``facts`` of runs whose groups are split over files."""
    files = [
        {"run": str(path), "table": str(table), "path": str(file)}
        for path in runs
        for table, file in foreign_files(RunDirectory.open(path))
    ]
    listed = spark.createDataFrame(pa.Table.from_pylist(files), FILES_SCHEMA).select("run", "table", "path")
    blobs = listed.repartition(len(files) or 1, "path").mapInArrow(blobs_of_files, BLOBS_SCHEMA)
    gathered = blobs.select("run", "number", "table", "arm", "blob").repartition("run", "number")
    ordered = gathered.sortWithinPartitions("run", "number")

    def judged(arriving: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return facts_of_blobs(arriving, batch_rows=batch_rows)

    return ordered.mapInArrow(judged, SPARK_SCHEMA).select(*ARROW_SCHEMA.names)


def blobs_of_files(listed: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """In: run, table, path. Out: one blob a file, case and arm."""
    for batch in listed:
        for row in batch.to_pylist():
            table, path = TableName(row["table"]), Path(row["path"])
            try:
                for number, arm, rows in pieces(table, path):
                    yield _blob(row["run"], number, str(table), arm, _packed(rows))
            except TraceError as error:
                yield _blob(row["run"], NO_CASE, TROUBLE, None, msgspec.json.encode(Trouble.of(error)))


def facts_of_blobs(arriving: Iterable[pa.RecordBatch], *, batch_rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
    """In: blobs ordered by run and case. Out: facts; the blobs of one case are held until the next case begins."""
    current: CaseKey | None = None
    parts: list[tuple[TableKey, pa.Table]] = []
    for batch in arriving:
        for row in batch.to_pylist():
            key = row["run"], row["number"]
            if row["table"] == TROUBLE:
                yield from batches([CaseFact(row["run"], NO_CASE, msgspec.json.decode(row["blob"], type=Trouble))])
                continue
            if current is not None and key != current:
                yield from batches(_judged(current, parts, batch_rows))
                parts.clear()
            current = key
            arm = Arm(row["arm"]) if row["arm"] is not None else None
            parts.append(((TableName(row["table"]), arm), _unpacked(row["blob"])))
    if current is not None:
        yield from batches(_judged(current, parts, batch_rows))


def _judged(key: CaseKey, parts: list[tuple[TableKey, pa.Table]], batch_rows: int) -> Iterator[CaseFact]:
    run = RunDirectory.open(Path(key[0]))
    try:
        yield from judge_case(assembled(run, key[1], parts), batch_rows=batch_rows)
    except TraceError as error:
        yield CaseFact(run.run, key[1], Trouble.of(error))


def _blob(run: str, number: int, table: str, arm: Arm | None, blob: bytes) -> pa.RecordBatch:
    row = {"run": run, "number": number, "table": table, "arm": arm, "blob": blob}
    return pa.RecordBatch.from_pylist([row], schema=_BLOBS)


def _packed(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    return bytes(sink.getvalue())


def _unpacked(blob: bytes) -> pa.Table:
    with pa.ipc.open_stream(blob) as reader:
        return reader.read_all()
