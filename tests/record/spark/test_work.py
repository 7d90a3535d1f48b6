"""On Spark a record has the same rows, answers and quarantine as in one process."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the usual name in Spark code

from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.record.commands import add, check, compact, judge, status
from rocketdiff.record.conclude import concluding
from rocketdiff.record.spark.ask import ask_history
from rocketdiff.record.spark.frames import run_by_run
from rocketdiff.record.spark.work import OnSpark, in_words
from rocketdiff.record.storage.digests import DamagedFile
from rocketdiff.record.storage.files import RecordPlace
from rocketdiff.record.storage.store import look
from rocketdiff.record.storage.tables import Kept
from rocketdiff.record.work import Here
from tests.record.conftest import NewRun, spoil
from tests.record.rows import all_rows, flipped

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]


def test_tasks_write_what_one_process_writes(spark: SparkSession, tmp_path: Path, new_run: NewRun) -> None:
    """Spark tasks write the same rows as one process: two runs, a copy, and a damaged run."""
    runs = [new_run("good"), new_run("lossy", change=spoil), new_run("cut")]
    (runs[2] / "sends" / "01-baseline.parquet").write_bytes(b"PAR1")
    runs.append(shutil.copytree(runs[0], tmp_path / "copy"))
    here, there = RecordPlace.named(str(tmp_path / "here")), RecordPlace.named(str(tmp_path / "there"))
    counts = []
    for place, work in ((here, Here()), (there, OnSpark(spark))):
        added = add(place, runs, work)
        counts.append((len(added.new), len(added.known), len(added.damaged), judge(place, work, print_line=print)))
    assert counts == [(2, 1, 1, (2, 2))] * 2
    before = all_rows(here)
    assert all_rows(there) == before
    add(there, [new_run("later")], OnSpark(spark))
    compact(there, OnSpark(spark), keep_hours=1, print_line=print)
    assert check(there, OnSpark(spark)) == []
    assert status(there).verdicts == status(here).verdicts


def test_a_task_has_the_cases_of_a_run_in_order(spark: SparkSession) -> None:
    """All but those of the runs at its ends, which it shares with its neighbours; so it reads a run's tables once."""
    units = spark.createDataFrame([(f"run-{n % 20:02}", n // 20) for n in range(100)], "run string, case long")
    divided = run_by_run(units, 4).withColumn("task", F.spark_partition_id())
    rows = [(row["task"], row["run"], row["case"]) for row in divided.toArrow().to_pylist()]
    assert [row[1:] for row in sorted(rows)] == [(f"run-{run:02}", case) for run in range(20) for case in range(5)]
    assert sorted(rows) == rows
    assert len({task for task, *_ in rows}) == 4


def test_a_file_of_the_record_that_is_gone_is_one_message(
    spark: SparkSession, recorded: Callable[..., RecordPlace], new_run: NewRun
) -> None:
    """A query on Spark reports a missing file of the record in one message."""
    place = recorded(new_run("run-1", change=spoil))
    (answers,) = look(place).paths(Kept.ANSWERS)
    Path(answers).unlink()
    with pytest.raises(EnvironmentMissing, match="record check says which files are damaged or missing"), in_words():
        ask_history(spark, look(place), concluding().scope, over="time")


def test_a_changed_bit_is_named_by_tasks_and_by_questions(
    spark: SparkSession, place: RecordPlace, new_run: NewRun
) -> None:
    """A changed bit in a file that tasks, or that Spark itself reads, ends the command and is named by `check`."""
    add(place, [new_run("run-1", change=spoil)], Here())
    flipped(Path(look(place).paths(Kept.SENDS)[0]))
    with pytest.raises(DamagedFile, match="file sends/"):
        judge(place, OnSpark(spark), print_line=print)
    flipped(Path(look(place).paths(Kept.SENDS)[0]))
    assert judge(place, OnSpark(spark), print_line=print) == (1, 1)
    flipped(Path(look(place).paths(Kept.ANSWERS)[0]))
    assert [sentence.partition("/")[0] for sentence in check(place, OnSpark(spark))] == ["file answers"]
    with pytest.raises(DamagedFile, match="file answers/"):
        ask_history(spark, look(place), concluding().scope, over="time")
