"""A user's program as the candidate, named on the command line only."""

import json
import shlex
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


def test_it_is_judged_and_the_run_can_be_repeated(
    cluster: Cluster, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that behaves like Java conforms under its hello's name; the run keeps the typed command."""
    monkeypatch.setenv("PYTHONPATH", import_path())
    spec = f"exec:{shlex.join([sys.executable, str(PROGRAM), '--name', 'acme:1.0'])}"
    run, judgement = decided(cluster, folder, "java:5.3.3", spec)
    assert judgement.exit_code is ExitCode.CONFORMS, signatures(judgement)
    manifest = json.loads((run / "run.json").read_bytes())
    assert manifest["subjects"] == {"baseline": "java:5.3.3", "candidate": "acme:1.0"}
    assert spec in shlex.split(manifest["reproduce"])


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
    assert manifest["sources"]["candidate"]["label"] == "mine"
    assert manifest["cases"][0]["arms"]["candidate"]["witness"] == "wire"
