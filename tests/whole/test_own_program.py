"""A user's program as the candidate, named on the command line only."""

import json
import sys
from pathlib import Path

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.resources import import_path
from tests.whole.stage import decided, signatures

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

PROGRAM = Path(__file__).parents[1] / "subjects" / "own.py"


def test_a_program_that_reports_starts_is_judged_beside_a_dead_broker(
    cluster: Cluster, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that reports only attempt starts and neutral errors leaves no check open beside a dead broker."""
    monkeypatch.setenv("PYTHONPATH", import_path())
    flags = ["--without", "attempts", "--without", "routes", "--claim", "attempt-starts", "--starts", "--words"]
    described = {"format": 1, "name": "mine", "command": [sys.executable, str(PROGRAM), *flags]}
    (tmp_path / "subject.yaml").write_text(json.dumps(described))
    run, judgement = decided(cluster, folder, "python:5.3.3", str(tmp_path / "subject.yaml"))
    assert judgement.exit_code is ExitCode.CONFORMS, signatures(judgement)
    verdicts = {result.check: result.verdict for result in judgement.results}
    assert {verdicts[check] for check in ("queue-choice", "attempts", "avoidance")} == {Verdict.CONFORMS}
    manifest = json.loads((run / "run.json").read_bytes())
    assert manifest["subjects"] == {"baseline": "python:5.3.3", "candidate": "acme:1.0"}
    assert manifest["sources"]["candidate"]["label"] == "mine"
    assert manifest["cases"][0]["arms"]["candidate"]["witness"] == "wire"
