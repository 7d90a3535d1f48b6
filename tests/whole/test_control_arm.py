"""A control arm beside a case."""

from pathlib import Path

import pytest

from rocketdiff.core.errors import ExitCode
from rocketdiff.core.run_info import Guard
from rocketdiff.traces.run_directory import RunDirectory
from tests.live import repeated
from tests.whole.stage import SCENARIOS, finished_run, run_of

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

ONE_CASE = ("--scenario", "whole/dead-broker", "--scenarios", str(SCENARIOS), "--seed", "8", "--master", "none")


def control_guard(run: Path) -> Guard:
    (guard,) = [one for one in RunDirectory.open(run).entry(1).guards if one.name == "control"]
    return guard


def undecided_control(run: Path) -> str:
    """What an undecided control says: on a busy machine its clients may miss the fault."""
    seen = control_guard(run).seen
    return f"control: {seen}" if "could not be decided" in seen else ""


def test_a_quiet_control_is_a_guard_that_held(tmp_path: Path) -> None:
    """A control without an alarm keeps its guard; it has its own run directory and report."""

    def controlled(number: int) -> tuple[int, Path]:
        own = tmp_path / str(number)
        pair = ("--subject", "python:5.3.3", "--subject", "toy:honest")
        done = finished_run(own, "run", *pair, "--control", *ONE_CASE)
        return done.returncode, run_of(own)

    code, run = repeated(controlled, lambda outcome: undecided_control(outcome[1]))
    guard = control_guard(run)
    assert code == ExitCode.CONFORMS
    assert guard.held
    assert guard.seen.startswith("no alarm in ")
    (manifest,) = (run / "control").glob("*/run.json")
    own = RunDirectory.open(manifest.parent)
    assert set(own.manifest.subjects.values()) == {"python:5.3.3"}
    assert (own.path / "report.html").exists()
    assert own.entry(1).plan_digest == RunDirectory.open(run).entry(1).plan_digest
