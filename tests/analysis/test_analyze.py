"""The whole analysis through its entry point, without Spark."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rocketdiff.analysis.run_analysis import analyze
from rocketdiff.core.errors import TraceError, UsageError
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.synthetic import Story

NewRun = Callable[..., RunDirectory]


def test_every_planned_check_has_an_answer(new_run: NewRun) -> None:
    """Evidence covers the scenario's checks, four implicit ones and two pools."""
    run = new_run()
    answered = [(item.case, item.check) for item in analyze([run.path], master=WITHOUT_SPARK).evidence]
    case, pool = run.entry(1).name, "pooled/pause/fault-latency-on/java:5.3.3~python:5.3.3"
    assert answered == [
        *((case, check) for check in (*Story().checks, "outcomes", "resources", "protocol", "validity")),
        (pool, "timing"),
        (pool, "failover-time"),
    ]


def test_a_check_that_is_planned_explicitly_is_answered_once(new_run: NewRun) -> None:
    """An implicit check that the runner also plans is answered once."""
    run = new_run([Story(name="calm", pauses=(), checks=("loss", "protocol", "validity"))])
    answered = [item.check for item in analyze([run.path], master=WITHOUT_SPARK).evidence]
    assert answered == ["loss", "protocol", "validity", "outcomes", "resources"]


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


def test_an_unknown_check_is_refused(new_run: NewRun) -> None:
    """An unknown planned check is an error, not skipped."""
    run = new_run([Story(name="calm", pauses=(), checks=("loss", "telepathy"))])
    with pytest.raises(TraceError, match="telepathy"):
        analyze([run.path], master=WITHOUT_SPARK)


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    """A folder without run.json is refused."""
    with pytest.raises(TraceError, match=r"run\.json"):
        analyze([tmp_path], master=WITHOUT_SPARK)


def test_the_same_run_twice_is_refused(new_run: NewRun) -> None:
    """A run given twice is refused: its episodes would count double."""
    run = new_run()
    with pytest.raises(UsageError, match="each given once"):
        analyze([run.path, run.path], master=WITHOUT_SPARK)
