"""The main job: two clients, real brokers, one dead broker, a verdict and a report."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.errors import ExitCode
from rocketdiff.traces.run_directory import RunDirectory
from tests.whole.stage import SCENARIOS, decided, finished_run, run_of, signatures

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

ONE_CASE = ("--scenario", "whole/dead-broker", "--scenarios", str(SCENARIOS), "--seed", "8")
REPORTS = ("report.json", "report.html", "junit.xml", "summary.md")


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run that several tests read and none changes."""

    told: "subprocess.CompletedProcess[str]"
    run: Path


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Java against the reference, with defaults but scenario and seed, analysed by Spark."""
    folder = tmp_path_factory.mktemp("recorded")
    return Recorded(finished_run(folder, "run", *ONE_CASE), run_of(folder))


@pytest.mark.spark
def test_the_reference_behaves_like_java(recorded: Recorded) -> None:
    """The reference conforms to Java: exit 0, every report, and the machine line last."""
    reported, run = recorded.told, recorded.run
    assert reported.returncode == ExitCode.CONFORMS, reported.stdout + reported.stderr
    line = reported.stdout.splitlines()[-1]
    assert line.startswith("VERDICT conforms new=0 declared=0 stale=0 inconclusive=0 answered=")
    assert "/11 checks=11 seed=8 " in line
    assert all((run / name).stat().st_size > 0 for name in REPORTS)
    results = {
        result["check"]: result["verdict"] for result in json.loads((run / "report.json").read_bytes())["results"]
    }
    assert results["queue-choice"] == results["attempts"] == results["loss"] == results["duplication"] == "CONFORMS"


def test_a_release_with_other_rules_diverges_with_signature_and_example(cluster: Cluster, folder: Path) -> None:
    """
    4.7.1 retries at the failed broker and rewrites its publish list; 5.3.3 does neither.

    Which signature comes first depends on the counters: a retry to a random queue of four may be the one of 4.7.1.
    """
    _, judgement = decided(cluster, folder, "java:4.7.1", "java:5.3.3")
    assert judgement.exit_code is ExitCode.DIVERGES, [result.reason for result in judgement.results if result.reason]
    found = [
        divergence
        for result in judgement.results
        for divergence in result.divergences
        if divergence.signature.startswith(("queue.mutated-list", "queue.out-of-turn"))
    ]
    assert found
    assert all(divergence.example.expected and divergence.example.observed for divergence in found)


def test_a_moved_run_is_judged_again_and_explained(recorded: Recorded, tmp_path: Path) -> None:
    """A moved run gets the same verdict without cluster or Spark, and its sends can be explained."""
    moved = shutil.copytree(recorded.run, tmp_path / "elsewhere")
    again = finished_run(tmp_path, "analyze", str(moved), "--master", "none", out=False)
    first = recorded.told
    assert (again.returncode, again.stdout.splitlines()[-1]) == (first.returncode, first.stdout.splitlines()[-1])
    reported = finished_run(tmp_path, "explain", str(moved), "candidate", "100", out=False)
    assert reported.returncode == ExitCode.CONFORMS, reported.stderr
    assert "by the rules of release 5.3.3" in reported.stdout
    assert "took queue" in reported.stdout
    assert "the other arm, java:5.3.3:" in reported.stdout


def test_a_second_run_agrees_with_the_wire_and_is_judged_with_the_first(
    recorded: Recorded, cluster: Cluster, folder: Path
) -> None:
    """With --wire and a dead broker, hooks and relays agree, and the run conforms; both runs get one verdict over all checks."""
    run, judgement = decided(cluster, folder, "java:5.3.3", "python:5.3.3", is_wire_wanted=True)
    (case,) = RunDirectory.open(run).manifest.cases
    witnesses = {guard.name: guard for guard in case.guards if guard.name.startswith("witness-")}
    assert set(witnesses) == {"witness-baseline", "witness-candidate"}
    assert all(guard.held for guard in witnesses.values()), witnesses
    assert all(int(guard.seen.split()[-2]) >= 100 for guard in witnesses.values()), witnesses
    assert signatures(judgement) == set()
    assert judgement.exit_code is ExitCode.CONFORMS, [result for result in judgement.results if result.reason]
    assert " --wire" in RunDirectory.open(run).manifest.reproduce
    done = finished_run(folder / "both", "analyze", str(recorded.run), str(run), "--master", "none")
    assert done.returncode == ExitCode.CONFORMS, done.stdout + done.stderr
    assert "checks=22" in done.stdout.splitlines()[-1]
