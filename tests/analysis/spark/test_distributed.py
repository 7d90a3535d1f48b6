"""The pass on Spark gives the same facts as the pass in one process."""

from collections.abc import Callable
from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from rocketdiff.analysis.run_analysis import analyze, summaries_here
from rocketdiff.analysis.spark.distributed import summaries_on_spark
from rocketdiff.analysis.summaries import Summaries
from rocketdiff.core.errors import TraceError
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.synthetic import ArmRecords, Story

pytestmark = [
    pytest.mark.spark,
    # pytest resets the filter that the session installs; see there.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

NewRun = Callable[..., RunDirectory]

PLAIN = Story(name="plain", settings=ClientSettings(send_msg_timeout_ms=500), threads=2)


def spoil(reported: ArmRecords) -> None:
    """Lose a message, report a wrong offset, store a message twice."""
    reported.stored = [message for message in reported.stored if message.send != 3]
    reported.sends[5] = replace(reported.sends[5], queue_offset=77_777)
    reported.stored.append(replace(reported.stored[9], queue_offset=88_888))


def test_spark_and_one_process_agree_to_the_last_digit(spark: SparkSession, new_run: NewRun) -> None:
    """Spark, also with small Arrow batches, and one process give equal summaries of two runs with divergences."""
    runs = [
        new_run([Story(), PLAIN], change=spoil),
        new_run([Story()], run="run-2", seed=9, baseline="java:5.3.3", candidate="java:4.7.1"),
    ]
    here, there = summaries_here(runs), summaries_on_spark(spark, runs)
    assert there == summaries_on_spark(spark, runs, batch_rows=13) == here
    assert {cluster.example.check for cluster in here.clusters} >= {"loss", "duplication", "queue-choice"}


def test_a_run_that_never_began_a_case_has_no_facts(spark: SparkSession, new_run: NewRun) -> None:
    """A run killed before its first case has no facts."""
    run = new_run([replace(PLAIN, sends=10)], complete=False)
    assert summaries_on_spark(spark, [run]) == summaries_here([run]) == Summaries((), (), (), (), ())


def test_damage_met_in_a_worker_keeps_its_error_class(spark: SparkSession, new_run: NewRun) -> None:
    """Damage found by a worker is the reader's error, without a worker's traceback."""
    run = new_run()
    path = run.path / "attempts" / "01-baseline.parquet"
    with pq.ParquetFile(path) as file:
        content, schema = file.read(), file.schema_arrow
    pq.write_table(content.slice(0, 100).replace_schema_metadata(schema.metadata), path)
    with pytest.raises(TraceError, match="as it was sealed"):
        summaries_on_spark(spark, [run])


def test_the_same_evidence_with_a_session_of_its_own(new_run: NewRun, spark: SparkSession) -> None:
    """``analyze`` gives the same evidence with and without Spark."""
    run = new_run([Story()])
    assert analyze([run.path], spark=spark) == analyze([run.path], master=WITHOUT_SPARK)
