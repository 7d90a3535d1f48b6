"""The whole analysis through its entry point, without Spark, and the tables of a case that it reads."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.analysis.case_trace import read_case
from rocketdiff.analysis.run_analysis import analyze
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import TraceError, UsageError
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.synthetic import Story

NewRun = Callable[..., RunDirectory]


def test_every_planned_check_has_an_answer(new_run: NewRun) -> None:
    """Evidence covers the scenario's checks, the implicit ones and two pools."""
    run = new_run()
    answered = [(item.case, item.check) for item in analyze([run.path], master=WITHOUT_SPARK).evidence]
    case, pool = run.entry(1).name, "pooled/pause/fault-latency-on/java:5.3.3~python:5.3.3"
    assert answered == [
        *((case, check) for check in (*Story().checks, "outcomes", "pace", "resources", "protocol", "validity")),
        (pool, "timing"),
        (pool, "failover-time"),
    ]


def test_runs_are_pooled_with_one_another(new_run: NewRun) -> None:
    """Four runs with one outage each make one pool of four."""
    runs = [new_run(run=f"run-{number}", seed=number) for number in range(4)]
    analysis = analyze([run.path for run in runs], master=WITHOUT_SPARK)
    pooled = next(item for item in analysis.evidence if item.case.startswith("pooled") and item.check == "timing")
    assert pooled.runs == ("run-0", "run-1", "run-2", "run-3")
    assert len(pooled.samples[0].complete()) == 4
    assert (analysis.counts.runs, analysis.counts.cases, analysis.counts.sends) == (4, 4, 1_600)


def test_a_run_may_be_moved(new_run: NewRun, tmp_path: Path) -> None:
    """A moved run gives the same analysis."""
    run = new_run()
    before = analyze([run.path], master=WITHOUT_SPARK)
    moved = run.path.rename(tmp_path / "elsewhere")
    assert analyze([moved], master=WITHOUT_SPARK) == before


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    """A folder without run.json is refused."""
    with pytest.raises(TraceError, match=r"run\.json"):
        analyze([tmp_path], master=WITHOUT_SPARK)


def test_the_same_run_twice_is_refused(new_run: NewRun) -> None:
    """A run given twice is refused: its episodes would count double."""
    run = new_run()
    with pytest.raises(UsageError, match="each given once"):
        analyze([run.path, run.path], master=WITHOUT_SPARK)


def test_queues_that_were_not_read_back_are_no_empty_table(new_run: NewRun) -> None:
    """Queues not read back give no table, not an empty one."""
    run = new_run(complete=False)
    (run.path / "stored" / "01-candidate.parquet").unlink()
    trace = read_case(run, 1)
    assert trace.stored(Arm.CANDIDATE) is None and trace.stored(Arm.BASELINE) is not None


def test_a_file_of_another_run_is_refused(new_run: NewRun) -> None:
    """A table file of another run is refused."""
    run, other = new_run(), new_run(run="run-2")
    name = "attempts/01-baseline.parquet"
    (run.path / name).write_bytes((other.path / name).read_bytes())
    stolen = {name: other.entry(1).files[name]}
    run.change(1, lambda entry: replace(entry, files=entry.files | stolen))
    with pytest.raises(TraceError, match="copied from another run"):
        read_case(run, 1)
