"""The main job as a user runs it: two clients, real brokers, one broker dead, a verdict and a report."""

import json
from pathlib import Path

import pytest

from harness.core.errors import ExitCode
from tests.whole.stage import SCENARIOS, finished_run, run_of

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

ONE_CASE = ("--scenario", "whole/dead-broker", "--scenarios", str(SCENARIOS), "--seed", "8")
REPORTS = ("report.json", "report.html", "junit.xml", "summary.md")


@pytest.mark.spark
def test_the_reference_behaves_like_java(tmp_path: Path) -> None:
    """Exit 0 with decisive checks, every report, and the machine line last; analysed by Spark."""
    done = finished_run(tmp_path, "run", *ONE_CASE)
    assert done.returncode == ExitCode.CONFORMS, done.stdout + done.stderr
    line = done.stdout.splitlines()[-1]
    assert line.startswith("VERDICT conforms new=0 declared=0 stale=0 inconclusive=0 answered=")
    assert "/8 checks=8 seed=8 " in line
    run = run_of(tmp_path)
    assert all((run / name).stat().st_size > 0 for name in REPORTS)
    results = {
        result["check"]: result["verdict"] for result in json.loads((run / "report.json").read_bytes())["results"]
    }
    assert results["queue-choice"] == results["attempts"] == results["loss"] == results["duplication"] == "CONFORMS"


def test_a_release_with_other_rules_diverges_with_signature_and_example(tmp_path: Path) -> None:
    """
    4.7.1 insists on the failed broker and rewrites its queues; 5.3.3 does neither.

    Which of the signatures comes first depends on where the counters stood: a retry to a random queue of four may by
    chance be the one that 4.7.1 would have taken.
    """
    done = finished_run(tmp_path, "compare", "java:4.7.1", "java:5.3.3", *ONE_CASE, "--master", "none")
    assert done.returncode == ExitCode.DIVERGES, done.stdout + done.stderr
    clusters = json.loads((run_of(tmp_path) / "report.json").read_bytes())["clusters"]
    found = [
        cluster for cluster in clusters if cluster["signature"].startswith(("queue.mutated-list", "queue.out-of-turn"))
    ]
    assert found
    assert all(cluster["example"]["expected"] and cluster["example"]["observed"] for cluster in found)


def test_a_reference_of_another_release_is_told_from_java(tmp_path: Path) -> None:
    """The Python reference can be wrong on purpose, and is caught."""
    pair = ("--subject", "java:5.3.3", "--subject", "python:4.7.1")
    done = finished_run(tmp_path, "run", *pair, *ONE_CASE, "--master", "none")
    assert done.returncode == ExitCode.DIVERGES, done.stdout + done.stderr


def test_releases_with_the_same_rules_conform(tmp_path: Path) -> None:
    """5.3.2 and 5.3.3 differ in a setting that is off."""
    done = finished_run(tmp_path, "compare", "java:5.3.2", "java:5.3.3", *ONE_CASE, "--master", "none")
    assert done.returncode == ExitCode.CONFORMS, done.stdout + done.stderr


def test_a_moved_run_is_judged_again_and_explained(tmp_path: Path) -> None:
    """A run is a directory: elsewhere, without a cluster, the same verdict, and the rule chain of any send."""
    first = finished_run(tmp_path / "here", "run", *ONE_CASE, "--master", "none")
    moved = run_of(tmp_path / "here").rename(tmp_path / "elsewhere")
    again = finished_run(tmp_path, "analyze", str(moved), "--master", "none", out=False)
    assert (again.returncode, again.stdout.splitlines()[-1]) == (first.returncode, first.stdout.splitlines()[-1])
    told = finished_run(tmp_path, "explain", str(moved), "candidate", "100", out=False)
    assert told.returncode == ExitCode.CONFORMS, told.stderr
    assert "by the rules of release 5.3.3" in told.stdout
    assert "took queue" in told.stdout
    assert "the other arm, java:5.3.3:" in told.stdout


def test_several_runs_are_judged_together(tmp_path: Path) -> None:
    """Two seeds of one pair: twice the checks, one verdict."""
    for seed in ("1", "2"):
        arguments = [*ONE_CASE[:-1], seed]
        assert finished_run(tmp_path, "run", *arguments, "--master", "none").returncode == ExitCode.CONFORMS
    runs = [str(manifest.parent) for manifest in sorted(tmp_path.glob("*/run.json"))]
    done = finished_run(tmp_path / "both", "analyze", *runs, "--master", "none")
    assert done.returncode == ExitCode.CONFORMS, done.stdout + done.stderr
    assert "checks=16" in done.stdout.splitlines()[-1]
