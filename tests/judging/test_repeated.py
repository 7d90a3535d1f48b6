"""A run in which a case was spoilt and run again is judged by the second attempt and shows the first."""

from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.errors import ExitCode, TraceError
from rocketdiff.core.run_info import Guard
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.judging.judge_runs import judge_runs
from rocketdiff.traces.manifest import encode_manifest
from rocketdiff.traces.reader import require_whole
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.synthetic import write_run
from tests.judging.test_damage import STORY
from tests.record.conftest import GUARDS, SCENARIO

SPOILT = Guard("awake-machine", False, "no stall", "one of 900 ms")
LINE = "awake-machine: expected no stall, saw one of 900 ms"


def repeated_run(root: Path) -> Path:
    """Two attempts of a case; the files of both are there."""
    run = write_run(root, [STORY, STORY])
    first, second = (replace(entry, scenario_text=SCENARIO, guards=GUARDS) for entry in run.manifest.cases)
    manifest = replace(run.manifest, cases=(second,), repeated=(replace(first, guards=(SPOILT,)),))
    (run.path / "run.json").write_bytes(encode_manifest(manifest))
    return run.path


def test_the_second_attempt_is_judged_and_the_first_is_shown(tmp_path: Path) -> None:
    """The verdict has the checks of one case; every report names the guard, and a lost table of the first is noticed."""
    run = repeated_run(tmp_path)
    judged = judge_runs([run], policy=Policy(), master=WITHOUT_SPARK)
    assert judged.judgement.exit_code is ExitCode.CONFORMS
    assert judged.judgement.counts.unanswered == 0
    assert [guard.name for guard in judged.document.run.guards if not guard.held] == []
    files = dict(judged.files)
    assert all(LINE in files[name].read_text() for name in ("json", "html", "markdown"))
    require_whole(RunDirectory.open(run))
    (run / "sends" / "01-baseline.parquet").unlink()
    with pytest.raises(TraceError, match="case 1"):
        require_whole(RunDirectory.open(run))
