"""A control arm beside each case; after its alarm nothing can be concluded."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.run_info import Guard
from rocketdiff.core.subject import SubjectId
from rocketdiff.run.case_session import CaseSession
from rocketdiff.run.control_arm import ControlArm
from rocketdiff.run.execute import plan_cases
from rocketdiff.run.request import Selection
from rocketdiff.traces.run_directory import RunDirectory
from tests.live import repeated
from tests.requests import asked
from tests.whole.stage import SCENARIOS, finished_run, judge, run_of

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

ONE_CASE = ("--scenario", "whole/dead-broker", "--scenarios", str(SCENARIOS), "--seed", "8", "--master", "none")


@dataclass(frozen=True, slots=True)
class Given:
    """Returns the cluster of these tests, in place of a pool."""

    running: Cluster

    def cluster(self, _topology: str) -> Cluster:
        return self.running

    def for_case(self, _topology: str) -> Cluster:
        return self.running

    def close(self) -> None:
        """Do nothing: the cluster is shared."""


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


def test_an_alarm_of_the_control_makes_the_case_invalid(cluster: Cluster, folder: Path) -> None:
    """A baseline that loses messages alarms against itself, so nothing is concluded about the honest candidate."""
    run = repeated(lambda number: with_control(cluster, folder / str(number)), undecided_control)
    guard = control_guard(run)
    assert judge(run).exit_code is ExitCode.INCONCLUSIVE
    assert not guard.held
    assert "loss.acknowledged-not-stored" in guard.seen


def with_control(cluster: Cluster, folder: Path) -> Path:
    """Play one case and its control on a shared cluster; return the run directory."""
    folder.mkdir(parents=True)
    request = asked(
        SubjectId.parse("toy:drops"),
        SubjectId.parse("toy:honest"),
        Selection(patterns=("whole/dead-broker",), root=SCENARIOS),
        out=folder,
        seed=8,
    )
    cases = plan_cases(request, 8)
    session = CaseSession.begin(request, Given(cluster), folder, cases)
    run = session.directory
    controls = ControlArm.of(request, cases, run, Given(cluster))
    session.play(1, cases[0])
    controls.follow(run.case(1))
    controls.end()
    return run.path
