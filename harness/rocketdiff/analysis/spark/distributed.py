"""Runs the pass on Spark: one table with the summed facts of all runs, which the driver puts in order."""

import contextlib
import threading
from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from rocketdiff.analysis.case_trace import BATCH_ROWS
from rocketdiff.analysis.facts import ARROW_SCHEMA, KINDS, CaseFact, DifferenceFact, Fact, Trouble, difference_of
from rocketdiff.analysis.spark.cases import CaseOfRun, dealt_cases, judging
from rocketdiff.analysis.summaries import Summaries, summarise
from rocketdiff.core.errors import TraceError
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.traces.reader import require_whole
from rocketdiff.traces.run_directory import RunDirectory

SPARK_SCHEMA = from_arrow_schema(ARROW_SCHEMA)
"""Schema of the table ``facts``. As objects, because a JVM needs half a second to parse its first text."""

TASKS_A_CORE = 4
"""Several, to balance the cores. Each additional Python task costs about 66 ms (measured), too much for one task per case."""

SENDS_A_TASK = 4_000
"""Below as many planned sends, judging takes less than a task costs; with so little to do, one task a core is enough."""


def summaries_on_spark(spark: SparkSession, runs: Sequence[RunDirectory], *, batch_rows: int = BATCH_ROWS) -> Summaries:
    """
    Judge every case and sum the facts of each.

    Raises the TraceError of a task.
    """
    return _summaries(facts_table(spark, runs, batch_rows=batch_rows))


def start_workers(spark: SparkSession) -> None:
    """Begin to start a Python worker a core, without waiting, so that they import while the JVM plans the first query."""
    threading.Thread(target=_start_workers, args=(spark,), name="spark-workers", daemon=True).start()


def _start_workers(spark: SparkSession) -> None:
    with contextlib.suppress(Exception):  # the query meets the same error and reports it
        # A query like the other: for another kind of job Spark would start another daemon.
        _without_cases(spark).toArrow()


def warm_up(spark: SparkSession) -> None:
    """Run the same query without cases, one task per core: Python workers import all modules, and the JVM loads its classes."""
    _summaries(_without_cases(spark))


def _without_cases(spark: SparkSession) -> DataFrame:
    return _facts(spark, [()] * spark.sparkContext.defaultParallelism, BATCH_ROWS)


def _summaries(facts: DataFrame) -> Summaries:
    return summarise(map(_row_of, facts.toArrow().to_pylist()))


def facts_table(spark: SparkSession, runs: Sequence[RunDirectory], *, batch_rows: int = BATCH_ROWS) -> DataFrame:
    """Return the table ``facts`` of all runs, summed by case, after ``require_whole`` for each; columns: ``SPARK_SCHEMA``."""
    for run in runs:
        require_whole(run)
    cores = spark.sparkContext.defaultParallelism
    sends = sum(entry.sends_planned for run in runs for entry in run.manifest.cases)
    piles = dealt_cases(runs, min(TASKS_A_CORE * cores, max(cores, sends // SENDS_A_TASK)))
    return _facts(spark, piles, batch_rows)


def _facts(spark: SparkSession, piles: Sequence[tuple[CaseOfRun, ...]], batch_rows: int) -> DataFrame:
    numbers = spark.range(0, len(piles), numPartitions=max(1, len(piles)))
    return numbers.mapInArrow(judging(piles, batch_rows), SPARK_SCHEMA)


def _row_of(row: dict[str, Any]) -> CaseFact:
    """Raises the TraceError of a task."""
    fact = _fact_of(row)
    if isinstance(fact, Trouble):
        raise TraceError(fact.expected, seen=fact.seen, hint=fact.hint)
    return CaseFact(row["run"], row["number"], fact, row["count"])


def _fact_of(row: dict[str, Any]) -> Fact:
    name, values = next((name, values) for name in KINDS if isinstance(values := row[name], dict))
    kind = KINDS[name]
    if kind is DifferenceFact:
        return difference_of(values)
    if kind is FaultRecord:
        values = values | {"kind": FaultKind(values["kind"])}
    return kind(**values)
