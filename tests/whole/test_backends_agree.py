"""The same scenario on processes and in containers give the same verdicts."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rocketdiff.cluster.containers.engine import Engine
from rocketdiff.core.errors import ExitCode
from tests.cluster.containers.engines import engine_or_skip
from tests.live import repeated
from tests.whole.stage import SCENARIOS, finished_run, run_of

pytestmark = [pytest.mark.container, pytest.mark.cluster, pytest.mark.slow]

# The rules of these releases differ for certain, and only in the queues chosen. Pauses in containers: test_container_cluster.py.
CHOSEN = ("--scenarios", str(SCENARIOS), "--scenario", "whole/dead-broker-choices")
PAIR = ("--subject", "python:4.7.1", "--subject", "python:5.3.3")


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    yield from engine_or_skip()


@dataclass(frozen=True, slots=True)
class RunResults:
    """Results of a run's JSON document; verdicts by case and check."""

    exit_code: int
    backend: str
    verdicts: dict[tuple[str, str], str]


def results_on(folder: Path, backend: str) -> RunResults:
    """Run on this backend until no verdict is INVALID: a machine that sleeps says nothing about the containers."""
    return repeated(
        lambda number: one_run(folder / str(number), backend),
        lambda results: f"INVALID on {backend}" if "INVALID" in results.verdicts.values() else "",
    )


def one_run(folder: Path, backend: str) -> RunResults:
    done = finished_run(
        folder, "run", "--cluster", backend, *PAIR, *CHOSEN, "--seed", "11", "--master", "none", tries=1
    )
    assert done.returncode in (ExitCode.DIVERGES, ExitCode.INCONCLUSIVE), done.stdout + done.stderr
    report = json.loads((run_of(folder) / "report.json").read_bytes())
    verdicts = {(result["case"], result["check"]): result["verdict"] for result in report["results"]}
    return RunResults(done.returncode, report["run"]["backend"], verdicts)


def test_processes_and_containers_give_the_same_verdicts(engine: Engine, tmp_path: Path) -> None:
    """Processes and containers give the same exit code and verdicts."""
    by_processes = results_on(tmp_path / "processes", "processes")
    by_containers = results_on(tmp_path / "containers", "containers")
    assert (by_processes.backend, by_containers.backend) == ("processes", "containers")
    assert by_containers.verdicts == by_processes.verdicts
    assert by_containers.exit_code == by_processes.exit_code
    assert {"CONFORMS", "DIVERGES"} <= set(by_processes.verdicts.values())
    assert "INVALID" not in by_processes.verdicts.values()
