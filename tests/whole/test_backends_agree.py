"""The same scenario on processes and in containers gives the same verdicts."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketdiff.cluster.containers.engine import Engine
from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.errors import ExitCode
from tests.cluster.containers.engines import engine_or_skip
from tests.live import repeated
from tests.whole.stage import SCENARIOS, decided, finished_run, run_of

pytestmark = [pytest.mark.container, pytest.mark.cluster, pytest.mark.slow]

SCENARIO = "whole/dead-broker-choices"
"""The rules of these releases differ for certain, and only in the queues chosen. Pauses: test_container_cluster.py."""

PAIR = ("python:4.7.1", "python:5.3.3")
SEED = 11

Verdicts = dict[tuple[str, str], str]
"""By case and check."""


@pytest.fixture
def engine() -> Iterator[Engine]:
    """Of each test, which so keeps its turn among those on the shared cluster."""
    yield from engine_or_skip()


def in_containers(folder: Path) -> tuple[int, Verdicts]:
    """Exit code and verdicts of a run in containers."""
    options = ("--scenarios", str(SCENARIOS), "--scenario", SCENARIO, "--seed", str(SEED), "--master", "none")
    pair = (word for spec in PAIR for word in ("--subject", spec))
    done = finished_run(folder, "run", "--cluster", "containers", *pair, *options, tries=1)
    assert done.returncode in (ExitCode.DIVERGES, ExitCode.INCONCLUSIVE), done.stdout + done.stderr
    report = json.loads((run_of(folder) / "report.json").read_bytes())
    assert report["run"]["backend"] == "containers"
    return done.returncode, {(result["case"], result["check"]): result["verdict"] for result in report["results"]}


@pytest.mark.usefixtures("engine")
def test_processes_and_containers_give_the_same_verdicts(cluster: Cluster, folder: Path, tmp_path: Path) -> None:
    """Processes and containers give the same exit code and verdicts; a machine that sleeps says nothing about either."""
    run, judgement = decided(cluster, folder, *PAIR, SCENARIO, is_all_valid=True, seed=SEED)
    assert json.loads((run / "run.json").read_bytes())["backend"] == "processes"
    by_processes: Verdicts = {(result.case, result.check): result.verdict.value for result in judgement.results}
    code, by_containers = repeated(
        lambda number: in_containers(tmp_path / f"containers-{number}"),
        lambda outcome: "INVALID in containers" if "INVALID" in outcome[1].values() else "",
    )
    assert by_containers == by_processes
    assert code == judgement.exit_code
    assert {"CONFORMS", "DIVERGES"} <= set(by_processes.values())
    assert "INVALID" not in by_processes.values()
