"""
The heavy steps of the record on Spark: tasks read, judge, conclude and write files; the driver receives only file metadata.

A task that runs twice writes two files; the driver commits those of the attempt that Spark counts.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the usual name in Spark code

from rocketdiff.analysis.spark.session import session
from rocketdiff.core.errors import EnvironmentMissing, UsageError
from rocketdiff.core.spark_master import is_local
from rocketdiff.record.conclude import Concluding, conclude
from rocketdiff.record.facts import CONCLUDED_FROM
from rocketdiff.record.ingest import FoundRun, identify, ingest
from rocketdiff.record.judge import CaseUnit, check_units, judge_units
from rocketdiff.record.spark import frames
from rocketdiff.record.storage.batch import StatedFile, files_from_json, files_in_json
from rocketdiff.record.storage.digests import DamagedFile, damaged
from rocketdiff.record.storage.files import PartWriter, RecordPlace, check_files
from rocketdiff.record.storage.store import Snapshot
from rocketdiff.record.storage.tables import COLUMNS, NEW_FILES, Kept, NewFile
from rocketdiff.releases.jdk import find_java
from rocketdiff.traces.manifest import decode_manifest

MANY_RUNS = 1_000
"""From a million attempts on, code generation for a query pays off: 1.5 times as fast (2026-11-22)."""

_FEW = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "4",
}
_MANY = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.shuffle.partitions": "64",
}
"""64 partitions of the facts of 1,000 runs have some MB each; Spark merges them."""

_SHORT_LIVED = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""For JVMs that live for seconds: the optimising compiler would cost more than it saves."""


def settings_for(master: str | None, runs: int) -> dict[str, str]:
    """Return settings by the number of runs; a remote master gets JVM options for few runs."""
    if runs >= MANY_RUNS:
        return dict(_MANY)
    if master is None or is_local(master):
        return dict(_FEW)
    return _FEW | {f"spark.{who}.extraJavaOptions": _SHORT_LIVED for who in ("driver", "executor")}


TASKS_A_CORE = 4
"""More than one, to balance the cores."""

_FOUND = pa.schema(
    [pa.field(name, pa.string()) for name in ("path", "run", "digest", "month", "expected", "seen", "hint")]
)
_INGESTED = NEW_FILES.append(pa.field("damaged", pa.struct(list(_FOUND))))
_RESULT_COLUMNS: dict[str, pa.DataType] = {
    "run": pa.string(),
    "month": pa.string(),
    "verdict": pa.binary(),
    "answers": pa.binary(),
}
_RESULT = pa.schema(_RESULT_COLUMNS)

Batches = Iterator[pa.RecordBatch]


@contextmanager
def on_spark(master: str | None, conf: Sequence[str] = (), *, runs: int = 0) -> Iterator["OnSpark"]:
    """Open a session for one command about this many runs; conf: ``KEY=VALUE``, which override our settings."""
    chosen = settings_for(master, runs) | pairs(conf)
    with session(master, java_home=find_java().home, conf=chosen) as spark, in_words():
        yield OnSpark(spark)


@contextmanager
def in_words() -> Iterator[None]:
    """Convert a failure of Spark to EnvironmentMissing."""
    try:
        yield
    except PySparkException as problem:
        raise EnvironmentMissing(
            "Spark's tasks to complete",
            seen=_last_line(str(problem)),
            hint="rocketdiff record check says which files are damaged or missing; each executor needs the record and the runs under the"
            " same path or URL, and the Python packages that rocketdiff uses",
        ) from problem


@dataclass(frozen=True, slots=True)
class OnSpark:
    """``work.Here``, with Spark tasks."""

    spark: SparkSession

    def identify(self, places: Sequence[str]) -> list[FoundRun]:
        def identified(batches: Batches) -> Batches:
            for batch in batches:
                found = [asdict(identify(str(place))) for place in batch.column("path").to_pylist()]
                yield pa.RecordBatch.from_pylist(found, schema=_FOUND)

        rows = self.spark.createDataFrame([(place,) for place in places], "path string")
        spread = rows.repartition(self._tasks(len(places)))
        return [FoundRun(**row) for row in _collected(spread.mapInArrow(identified, frames.spark_schema(_FOUND)))]

    def ingest(self, place: RecordPlace, batch: str, found: Sequence[FoundRun]) -> tuple[list[NewFile], list[FoundRun]]:
        def written(batches: Batches) -> Batches:
            some = [FoundRun(**row) for batch_of_rows in batches for row in batch_of_rows.to_pylist()]
            files, damaged = ingest(place, batch, some) if some else ((), ())
            rows = [asdict(file) | {"damaged": None} for file in files]
            rows += [dict.fromkeys(NEW_FILES.names) | {"damaged": asdict(damage)} for damage in damaged]
            yield pa.RecordBatch.from_pylist(rows, schema=_INGESTED)

        rows = self.spark.createDataFrame(
            [tuple(asdict(folder).values()) for folder in found], frames.spark_schema(_FOUND)
        )
        spread = rows.repartition(self._tasks(len(found)))
        returned = _collected(spread.mapInArrow(written, frames.spark_schema(_INGESTED)))
        damaged = [FoundRun(**row["damaged"]) for row in returned if row["damaged"]]
        return [_file(row) for row in returned if row["path"]], damaged

    def write(self, jobs: Sequence[bytes], write: Callable[[bytes], tuple[NewFile, ...]]) -> list[NewFile]:
        def written(batches: Batches) -> Batches:
            for rows_of_jobs in batches:
                for row in rows_of_jobs.to_pylist():
                    yield _batch_of(write(row["job"]))

        rows = self.spark.createDataFrame([(job,) for job in jobs], "job binary")
        return self._files(rows.repartition(self._tasks(len(jobs))), written)

    def check_files(self, place: RecordPlace, files: Sequence[StatedFile]) -> list[str]:
        def checked(batches: Batches) -> Batches:
            for rows_of_files in batches:
                some = (file for row in rows_of_files.to_pylist() for file in files_from_json(row["file"]))
                yield _sentences(check_files(place, some))

        rows = self.spark.createDataFrame([(files_in_json([file]),) for file in files], "file string")
        spread = rows.repartition(self._tasks(len(files)))
        return [row["wrong"] for row in _collected(spread.mapInArrow(checked, "wrong string"))]

    def check(self, snapshot: Snapshot) -> list[str]:
        place = snapshot.place

        def checked(batches: Batches) -> Batches:
            for rows_of_units in batches:
                yield _sentences(check_units(place, (CaseUnit(**row) for row in rows_of_units.to_pylist())))

        rows = self._units(snapshot, frames.runs(self.spark, snapshot))
        tasks = TASKS_A_CORE * self.spark.sparkContext.defaultParallelism
        return [row["wrong"] for row in _collected(frames.run_by_run(rows, tasks).mapInArrow(checked, "wrong string"))]

    def missing(self, snapshot: Snapshot, rules: Mapping[str, str]) -> dict[frozenset[str], int]:
        counted = self._lacking(snapshot, rules).groupBy("lacks").agg(F.count(F.lit(1)).alias("n"))
        return {frozenset(row["lacks"]): row["n"] for row in _collected(counted.select("lacks", "n"))}

    def judge(
        self, snapshot: Snapshot, batch: str, rules: Mapping[str, str], wanted: frozenset[str], most: int
    ) -> tuple[list[NewFile], int]:
        place = snapshot.place

        def judged(batches: Batches) -> Batches:
            some = (CaseUnit(**row) for rows_of_units in batches for row in rows_of_units.to_pylist())
            yield _batch_of(judge_units(place, batch, wanted, some))

        same = F.col("lacks") == F.array(*(F.lit(check) for check in sorted(wanted)))
        chosen = frames.newest(self._lacking(snapshot, rules).where(same), most).persist()
        try:
            count, cases = chosen.agg(F.count(F.lit(1)), F.sum("cases")).collect()[0]
            rows = self._units(snapshot, chosen)
            return self._files(frames.run_by_run(rows, self._tasks(cases or 1)), judged), count
        finally:
            chosen.unpersist()

    def conclude(
        self, snapshot: Snapshot, batch: str, rules: Mapping[str, str], how: Concluding, most: int
    ) -> tuple[list[NewFile], int]:
        place = snapshot.place

        def written(batches: Batches) -> Batches:
            writer = PartWriter(place, batch)
            for rows_of_runs in batches:
                for row in rows_of_runs.to_pylist():
                    for table, content in ((Kept.VERDICTS, row["verdict"]), (Kept.ANSWERS, row["answers"])):
                        if content:
                            writer.add(table, row["month"], _from_bytes(content), [row["run"]])
            yield _batch_of(writer.close())

        everyone = frames.runs(self.spark, snapshot)
        done = frames.held_verdicts(self.spark, snapshot, how.scope)
        chosen = frames.newest(frames.to_conclude(everyone, self._lacking(snapshot, rules), done), most).persist()
        try:
            count = chosen.count()
            if not count:
                return [], 0
            by_run = self._facts(snapshot, rules, chosen).groupBy("run")
            concluded = by_run.applyInArrow(_concluding(how), frames.spark_schema(_RESULT))
            return self._files(concluded, written), count
        finally:
            chosen.unpersist()

    def _units(self, snapshot: Snapshot, runs: DataFrame) -> DataFrame:
        cases = frames.table(self.spark, snapshot, Kept.CASES, snapshot.of("add"))
        return frames.units(runs, cases, frames.parts(self.spark, snapshot))

    def _lacking(self, snapshot: Snapshot, rules: Mapping[str, str]) -> DataFrame:
        checks = frames.judged_checks(self.spark, snapshot, rules)
        return frames.lacking(frames.runs(self.spark, snapshot), checks, sorted(rules))

    def _facts(self, snapshot: Snapshot, rules: Mapping[str, str], chosen: DataFrame) -> DataFrame:
        """The facts from which runs are concluded, one per row: run, month, and one struct per kind, of which one is not null."""
        manifests = frames.table(self.spark, snapshot, Kept.RUNS, snapshot.of("add")).select("run", "month", "manifest")
        found = manifests.select("run", "month", F.struct("manifest").alias(Kept.RUNS))
        for name in (*CONCLUDED_FROM, Kept.JUDGED):
            rows = frames.rows_that_hold(self.spark, snapshot, name, rules)
            if rows is not None:
                kind = rows.select("run", "month", F.struct(*COLUMNS[name].names).alias(name))
                found = found.unionByName(kind, allowMissingColumns=True)
        return found.join(F.broadcast(chosen.select("run")), on="run", how="left_semi")

    def _files(self, rows: DataFrame, write: Callable[[Batches], Batches]) -> list[NewFile]:
        def written(batches: Batches) -> Batches:
            try:
                yield from write(batches)
            except DamagedFile as damage:  # raised by the driver; an exception of a task would lose its words
                row = dict.fromkeys(NEW_FILES.names) | {"path": damage.seen}
                yield pa.RecordBatch.from_pylist([row], schema=NEW_FILES)

        return [_file(row) for row in _collected(rows.mapInArrow(written, frames.spark_schema(NEW_FILES)))]

    def _tasks(self, units: int) -> int:
        return max(1, min(units, TASKS_A_CORE * self.spark.sparkContext.defaultParallelism))


def _concluding(how: Concluding) -> Callable[[pa.Table], pa.Table]:
    def concluded(rows: pa.Table) -> pa.Table:
        kinds = {name: _of_kind(rows, name) for name in (*CONCLUDED_FROM, Kept.JUDGED) if name in rows.column_names}
        troubles = kinds.pop(Kept.JUDGED).column("trouble").to_pylist() if Kept.JUDGED in kinds else []
        (run_row,) = (row for row in rows.column(Kept.RUNS).to_pylist() if row)
        manifest = decode_manifest(run_row["manifest"].encode(), where="a run of the record")
        answers = conclude(manifest, kinds, sorted(filter(None, troubles)), how)
        row = {
            "run": manifest.run,
            "month": rows.column("month")[0].as_py(),
            "verdict": _bytes(answers.get(Kept.VERDICTS)),
            "answers": _bytes(answers.get(Kept.ANSWERS)),
        }
        return pa.Table.from_pylist([row], schema=_RESULT)

    return concluded


def _of_kind(rows: pa.Table, name: Kept) -> pa.Table:
    column = rows.column(name).combine_chunks()
    assert isinstance(column, pa.StructArray)
    some = pa.RecordBatch.from_struct_array(column.drop_null())
    return pa.Table.from_batches([some]).select(COLUMNS[name].names)


def _bytes(rows: pa.Table | None) -> bytes | None:
    if rows is None:
        return None
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    return sink.getvalue().to_pybytes()


def _from_bytes(content: bytes) -> pa.Table:
    return pa.ipc.open_stream(content).read_all()


def _sentences(found: Sequence[str]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(
        [{"wrong": text} for text in found], schema=pa.schema([pa.field("wrong", pa.string())])
    )


def _batch_of(files: Sequence[NewFile]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([asdict(file) for file in files], schema=NEW_FILES)


def _file(row: Mapping[str, Any]) -> NewFile:
    if row["table"] is None:
        raise damaged(row["path"])
    return NewFile(**{name: row[name] for name in NEW_FILES.names})


def _collected(rows: DataFrame) -> list[dict[str, Any]]:
    with in_words():
        return rows.toArrow().to_pylist()


def _last_line(text: str) -> str:
    """The last line that names an exception, else the first line."""
    named = [line.strip() for line in text.splitlines() if _EXCEPTION.match(line)]
    return (named or text.strip().splitlines() or ["nothing"])[-1 if named else 0][:300]


_EXCEPTION = re.compile(r"[A-Za-z_.]+(Error|Exception|Missing|Interrupt)\b.*:")


def pairs(conf: Sequence[str]) -> dict[str, str]:
    """Parse ``KEY=VALUE`` settings of Spark; UsageError for anything else."""
    found = dict[str, str]()
    for text in conf:
        key, sign, value = text.partition("=")
        if not sign or not key.startswith("spark."):
            raise UsageError("--conf spark.KEY=VALUE", seen=text, hint="--conf spark.executor.memory=2g")
        found[key] = value
    return found
