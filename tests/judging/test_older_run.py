"""A run of schema 1.0, before modes, deployments and relays, keeps its verdict."""

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.errors import ExitCode, TraceError
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.judging.judge_runs import judge_runs
from rocketdiff.traces.sealed_file import STATEMENT_KEY
from rocketdiff.traces.tables import FAULTS

OLDER = Path(__file__).parents[1] / "older_run"


def test_an_older_run_is_judged_as_it_was(tmp_path: Path) -> None:
    """
    A run of schema 1.0 (Java 4.2.0 against 5.3.3) gets the answers of earlier programs, and those of checks that came later.

    The test does not claim that 87 sends are really out of turn; the golden data verify the rules.
    """
    run = shutil.copytree(OLDER, tmp_path / "run")
    judged = judge_runs([run], policy=Policy(), master=WITHOUT_SPARK)
    assert judged.judgement.exit_code is ExitCode.DIVERGES
    found = {one.signature: one.count for result in judged.judgement.results for one in result.divergences}
    assert found == {"queue.out-of-turn/first": 87}
    assert judged.judgement.counts.checks == 15
    reported = [guard for guard in judged.document.run.guards if not guard.held]
    assert [guard.name for guard in reported] == ["integrity"]
    assert "could not be checked" in reported[0].seen


def test_an_older_run_without_its_fault_is_refused(tmp_path: Path) -> None:
    """An older run without its fault is refused, because the scenario states the pause."""
    run = shutil.copytree(OLDER, tmp_path / "run")
    manifest = json.loads((run / "run.json").read_bytes())
    manifest["cases"][0]["guards"] = []
    (run / "run.json").write_text(json.dumps(manifest))
    path, empty = run / "faults" / "01.parquet", FAULTS.empty_table()
    metadata = pq.read_schema(path).metadata
    metadata[STATEMENT_KEY] = metadata[STATEMENT_KEY].replace(b'"rows":1,"groups":[[0,1]]', b'"rows":0,"groups":[]')
    pq.write_table(empty.replace_schema_metadata(metadata), path)
    with pytest.raises(TraceError, match="the pause of broker-b that the scenario of case 1 asks for"):
        judge_runs([run], policy=Policy(), master=WITHOUT_SPARK)
