"""A runner that is killed leaves containers; the next start and `doctor --clean` remove them, and never a living run's."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.cluster.containers.engine import Engine
from harness.cluster.start import start_cluster

pytestmark = [pytest.mark.container, pytest.mark.cluster, pytest.mark.slow]

ROOT = Path(__file__).parents[3]

RUNNER = """
import sys, time
from pathlib import Path
from harness.cluster.start import start_cluster
cluster = start_cluster("containers", "one-master", folder=Path(sys.argv[1]), timeout_s=240)
cluster.pause("broker-a")
print(cluster._servers.facts()["run"], flush=True)
time.sleep(600)
"""


@contextmanager
def a_runner(folder: Path) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A process with a cluster whose broker is paused, and the label of its run."""
    command = [sys.executable, "-c", RUNNER, str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as runner:
        try:
            assert runner.stdout is not None
            yield runner, runner.stdout.readline().strip()
        finally:
            runner.kill()


def names_of(engine: Engine, run: str) -> set[str]:
    found = {one.name for one in engine.containers(run)} | {one.name for one in engine.networks(run)}
    return {name.removeprefix(f"rocketdiff-{run}").removeprefix("-") for name in found}


def doctor_clean(folder: Path) -> str:
    """What `rocketdiff doctor --clean` says of containers."""
    command = [sys.executable, "-m", "harness.cli", "doctor", "--clean"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stderr


def test_killed_runners_are_cleaned_up_after_and_living_ones_are_left_alone(engine: Engine, tmp_path: Path) -> None:
    """Containers, the paused one too, and the network; first by the doctor, then by another start."""
    everything = {"", "name-server-1", "broker-a"}
    with a_runner(tmp_path / "living") as (_, living):
        for number, cleaned in enumerate(("by the doctor", "by a start")):
            with a_runner(tmp_path / str(number)) as (runner, run):
                assert names_of(engine, run) == everything
                runner.kill()
                runner.wait()
                assert names_of(engine, run) == everything, "a killed runner removes nothing itself"
                if cleaned == "by the doctor":
                    assert f"rocketdiff-{run}-broker-a" in doctor_clean(tmp_path)
                else:
                    start_cluster("containers", "one-master", folder=tmp_path / "next", timeout_s=240).close()
                assert names_of(engine, run) == set(), cleaned
        assert names_of(engine, living) == everything
    doctor_clean(tmp_path)
    assert names_of(engine, living) == set()
