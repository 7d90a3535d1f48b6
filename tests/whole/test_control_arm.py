"""A control arm beside a case."""

from pathlib import Path

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.run_info import Guard
from rocketdiff.traces.run_directory import RunDirectory
from tests.whole.stage import SCENARIOS, as_external, finished_run, run_of

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

ONE_CASE = ("--scenario", "whole/calm", "--scenarios", str(SCENARIOS), "--seed", "8", "--master", "none")


def control_guard(run: Path) -> Guard:
    (guard,) = [one for one in RunDirectory.open(run).entry(1).guards if one.name == "control"]
    return guard


def test_a_quiet_control_is_a_guard_that_held(cluster: Cluster, folder: Path, tmp_path: Path) -> None:
    """A control without an alarm keeps its guard; it has its own run directory and report."""
    pair = ("--subject", "python:5.3.3", "--subject", "toy:honest")
    shared = ("--cluster", as_external(cluster, tmp_path))
    done = finished_run(folder, "run", *pair, *shared, "--control", *ONE_CASE)
    run = run_of(folder)
    guard = control_guard(run)
    assert done.returncode == ExitCode.CONFORMS, done.stdout + done.stderr
    assert guard.held
    assert guard.seen.startswith("no alarm in ")
    (manifest,) = (run / "control").glob("*/run.json")
    own = RunDirectory.open(manifest.parent)
    assert set(own.manifest.subjects.values()) == {"python:5.3.3"}
    assert (own.path / "report.html").exists()
    assert own.entry(1).plan_digest == RunDirectory.open(run).entry(1).plan_digest
