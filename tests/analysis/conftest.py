"""Synthetic runs in a temporary folder."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rocketdiff.analysis.run_analysis import analyze
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.judged_to_the_end import Ended, judged_to_the_end
from tests.analysis.synthetic import write_run


@pytest.fixture
def new_run(tmp_path: Path) -> Callable[..., RunDirectory]:
    """Write a synthetic run; arguments of ``synthetic.write_run``."""
    return lambda *arguments, **named: write_run(tmp_path / "runs", *arguments, **named)


@pytest.fixture
def evidence_of() -> Callable[[RunDirectory], dict[tuple[str, str], Evidence]]:
    """Analyse a run without Spark and judge it; evidence by (scenario or pool, check)."""

    def analysed(run: RunDirectory) -> dict[tuple[str, str], Evidence]:
        analysis = analyze([run.path], master=WITHOUT_SPARK)
        judged_to_the_end(run, analysis)
        return {(item.case.rsplit("/", 1)[0], item.check): item for item in analysis.evidence}

    return analysed


@pytest.fixture
def ending_of() -> Callable[..., Ended]:
    """Analyse a run without Spark, judge and report it."""
    return lambda run, policy=None: judged_to_the_end(run, analyze([run.path], master=WITHOUT_SPARK), policy)
