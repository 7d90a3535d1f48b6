"""Analyses one or many runs, on Spark or in this process."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rocketdiff.analysis.case_trace import BATCH_ROWS, read_case
from rocketdiff.analysis.conclusions import all_evidence, case_facts, plots_of, trace_counts
from rocketdiff.analysis.facts import CaseFact
from rocketdiff.analysis.registry import judge_case
from rocketdiff.analysis.summaries import Summaries, summarise
from rocketdiff.core.answers.evidence import Analysis
from rocketdiff.core.errors import UsageError
from rocketdiff.core.spark_master import WITHOUT_SPARK, require_master
from rocketdiff.traces.manifest import CaseStatus
from rocketdiff.traces.reader import require_whole
from rocketdiff.traces.run_directory import RunDirectory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def analyze(
    run_dirs: Sequence[Path],
    *,
    master: str | None = None,
    java_home: Path | None = None,
    spark: "SparkSession | None" = None,
) -> Analysis:
    """
    Analyse stored runs together; outages are pooled over all of them.

    master: any Spark master (default ``local[*]``), or ``none`` for this process alone; the evidence is the same. Cluster workers
    must see the run directories under the same paths. java_home: for Spark, default ``JAVA_HOME``. spark: an existing session.

    Raises UsageError if no run or the same run twice is given, TraceError for an invalid run directory, EnvironmentMissing
    without a Java.
    """
    require_master(master)
    runs = [RunDirectory.open(path.resolve()) for path in run_dirs]
    names = [run.run for run in runs]
    if not runs or len(set(names)) != len(names):
        raise UsageError("at least one run directory, each given once", seen=", ".join(names) or "none")
    return concluded(
        runs, summaries_here(runs) if master == WITHOUT_SPARK else _on_spark(runs, master, java_home, spark)
    )


def analyze_here(run: RunDirectory) -> Analysis:
    """Analyse an open run, or a part of one, in this process."""
    return concluded([run], summaries_here([run]))


def concluded(runs: Sequence[RunDirectory], summaries: Summaries) -> Analysis:
    """Return evidence, plots and counts from summed facts."""
    manifests = [run.manifest for run in runs]
    cases = case_facts(manifests, summaries)
    return Analysis(
        evidence=all_evidence(cases),
        plots=plots_of(cases, summaries.lanes),
        counts=trace_counts(manifests, cases),
    )


def _on_spark(
    runs: Sequence[RunDirectory], master: str | None, java_home: Path | None, spark: "SparkSession | None"
) -> Summaries:
    # Importing Spark takes half a second. An analysis without Spark saves it.
    from rocketdiff.analysis.spark.distributed import summaries_on_spark  # noqa: PLC0415
    from rocketdiff.analysis.spark.session import session  # noqa: PLC0415

    if spark is not None:
        return summaries_on_spark(spark, runs)
    with session(master, java_home=java_home) as own:
        return summaries_on_spark(own, runs)


def summaries_here(runs: Iterable[RunDirectory], *, batch_rows: int = BATCH_ROWS) -> Summaries:
    """Judge the cases of all runs one after another and return the summed facts."""
    return summarise(fact for run in runs for fact in _facts(run, batch_rows))


def _facts(run: RunDirectory, batch_rows: int) -> Iterator[CaseFact]:
    require_whole(run)
    for entry in run.manifest.cases:
        if entry.status is not CaseStatus.PLANNED:
            yield from judge_case(read_case(run, entry.number), batch_rows=batch_rows)
