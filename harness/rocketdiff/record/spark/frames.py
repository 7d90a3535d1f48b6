"""
Tables of the record as DataFrames, and the small named tables from which work is planned.

Functions state their columns (In, Out). Tables are read at a snapshot: only files of visible batches.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the usual name in Spark code
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from rocketdiff.record.freshness import concluded, judgements
from rocketdiff.record.storage.batch import Batch, files_in_json
from rocketdiff.record.storage.compact import BRONZE
from rocketdiff.record.storage.digests import require_as_committed
from rocketdiff.record.storage.store import Snapshot
from rocketdiff.record.storage.tables import Kept, whole_schema


def spark_schema(schema: pa.Schema) -> StructType:
    """Return the same columns with Spark's types."""
    found: StructType = from_arrow_schema(schema)
    return found


def table(spark: SparkSession, snapshot: Snapshot, name: Kept, batches: Iterable[Batch] | None = None) -> DataFrame:
    """Return a table of the record, with columns month and batch."""
    schema = spark_schema(whole_schema(name))
    system, root = snapshot.place.file_system()
    files = snapshot.files(name, batches)
    if not files:
        return spark.createDataFrame([], schema)
    require_as_committed(system, root, files)
    urls = [_url(snapshot, f"{root}/{name}/{file.path}", root) for file in files]
    reader = spark.read.schema(schema).option("basePath", _url(snapshot, f"{root}/{name}", root))
    return reader.parquet(*urls).select(*schema.fieldNames())


def _url(snapshot: Snapshot, path: str, root: str) -> str:
    below = path.removeprefix(root)
    url = snapshot.place.url
    return f"{url if '://' in url else f'file://{url}'}{below}"


def runs(spark: SparkSession, snapshot: Snapshot) -> DataFrame:
    """Out: run, month, batch, part, created_ms, cases."""
    return table(spark, snapshot, Kept.RUNS, snapshot.of("add")).select(
        "run", "month", "batch", "part", "created_ms", "cases"
    )


def judged_checks(spark: SparkSession, snapshot: Snapshot, rules: Mapping[str, str]) -> DataFrame:
    """
    Return the checks of each run that were judged by the current rules.

    In: judged. Out: run, check.
    """
    held = [
        (batch.batch, check)
        for checks, some in judgements(snapshot, rules).items()
        for batch in some
        for check in checks
    ]
    holding = F.broadcast(spark.createDataFrame(held, "batch string, check string"))
    every = [batch for some in judgements(snapshot, rules).values() for batch in some]
    judged = table(spark, snapshot, Kept.JUDGED, every).select("run", "batch").distinct()
    return judged.join(holding, on="batch", how="inner").select("run", "check").distinct()


def lacking(runs: DataFrame, judged_checks: DataFrame, checks: Sequence[str]) -> DataFrame:
    """
    Return the runs that lack a judgement by the current rules.

    In: run, month, batch, part, created_ms, cases; run, check. Out: the columns of runs, and ``lacks`` (their missing checks,
    sorted).
    """
    asked = runs.select("run", F.explode(F.array(*(F.lit(check) for check in sorted(checks)))).alias("check"))
    missing = asked.join(judged_checks, on=["run", "check"], how="left_anti")
    lacks = missing.groupBy("run").agg(F.sort_array(F.collect_set("check")).alias("lacks"))
    return runs.join(lacks, on="run", how="inner").select(*runs.columns, "lacks")


def newest(runs: DataFrame, most: int) -> DataFrame:
    """Return the newest runs by creation time, ties by name. In and out: the columns of runs."""
    return runs.orderBy(F.col("created_ms").desc(), "run").limit(most)


def parts(spark: SparkSession, snapshot: Snapshot) -> DataFrame:
    """Out: path (of the files of a part below their tables), files (as JSON)."""
    rows = [(path, files_in_json(files)) for path, files in snapshot.parts(BRONZE).items()]
    return spark.createDataFrame(rows, "path string, files string")


def units(runs: DataFrame, cases: DataFrame, parts: DataFrame) -> DataFrame:
    """
    Return the cases of these runs, with the files that hold their rows.

    In: run, month, batch, part; run, case, statements; path, files. Out: run, case, month, statements, files.
    """
    path = F.concat(F.lit("month="), "month", F.lit("/batch="), "batch", F.lit("/"), "part", F.lit(".parquet"))
    held = runs.select("run", "month", path.alias("path")).join(F.broadcast(parts), on="path", how="left")
    found = held.join(cases.select("run", "case", "statements"), on="run", how="inner")
    return found.select("run", "case", "month", "statements", F.coalesce("files", F.lit("[]")).alias("files"))


def run_by_run(units: DataFrame, tasks: int) -> DataFrame:
    """
    Divide cases among tasks, run by run: a task that has a run's next case has read its tables, and checked their files.

    In and out: run, case, …
    """
    return units.repartitionByRange(tasks, "run", "case").sortWithinPartitions("run", "case")


def to_conclude(runs: DataFrame, lacking: DataFrame, verdicts: DataFrame) -> DataFrame:
    """
    Return the judged runs without answers that hold.

    In: the columns of runs; run; run. Out: the columns of runs.
    """
    judged = runs.join(lacking.select("run"), on="run", how="left_anti")
    return judged.join(verdicts.select("run"), on="run", how="left_anti").select(*runs.columns)


def held_verdicts(spark: SparkSession, snapshot: Snapshot, scope: str) -> DataFrame:
    """Out: run, verdict of the answers that hold."""
    return table(spark, snapshot, Kept.VERDICTS, concluded(snapshot, scope)).select("run", "verdict")


def rows_that_hold(spark: SparkSession, snapshot: Snapshot, name: Kept, rules: Mapping[str, str]) -> DataFrame | None:
    """Return a silver table's rows whose checks were judged by the current rules, or None. Columns: those of the table."""
    found: DataFrame | None = None
    for checks, batches in judgements(snapshot, rules).items():
        some: Any = table(spark, snapshot, name, batches)
        if "owner" in some.columns:
            some = some.where(F.col("owner").isin(sorted(checks)))
        found = some if found is None else found.unionByName(some)
    return found
