"""
The next start and `doctor --clean` remove a killed runner's containers, never a living run's.

Other sessions sweep too, so these tests use their own labels.
"""

import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rocketdiff.cluster.containers.engine import Engine
from tests.live import READY_S

pytestmark = [pytest.mark.container, pytest.mark.cluster, pytest.mark.slow]

ROOT = Path(__file__).parents[3]

# Before other modules of the backend import these constants.
LABELLED = """
import sys, time
from pathlib import Path
from rocketdiff.cluster.containers import engine
engine.LABEL_PREFIX, engine.RUN_LABEL = sys.argv[1], f"{sys.argv[1]}run"
"""

RUNNER = """
from rocketdiff.cluster.start import start_cluster
cluster = start_cluster("containers", "one-master", folder=Path(sys.argv[2]), timeout_s=float(sys.argv[3]))
cluster.pause("broker-a")
print(cluster._servers.facts()["run"], flush=True)
time.sleep(600)  # it is killed long before; if those who would are gone, it ends by itself
"""

START = """
from rocketdiff.cluster.start import start_cluster
start_cluster("containers", "one-master", folder=Path(sys.argv[2]), timeout_s=float(sys.argv[3])).close()
"""

CLEAN = """
from rocketdiff.cli.app import main
main(["doctor", "--clean"])
"""


class Program:
    """Runs programs whose containers have labels of their own."""

    def __init__(self) -> None:
        self._label = f"org.rocketdiff-{uuid.uuid4().hex}."

    def command(self, program: str, folder: Path) -> list[str]:
        """Its arguments are the label prefix, a folder and a timeout."""
        return [sys.executable, "-c", LABELLED + program, self._label, str(folder), str(READY_S)]

    def finished(self, program: str, folder: Path) -> str:
        """Its stderr."""
        command = self.command(program, folder)
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600).stderr

    @contextmanager
    def running(self, folder: Path) -> Iterator[tuple["subprocess.Popen[str]", str]]:
        """A process with a paused broker, and its run label."""
        with subprocess.Popen(self.command(RUNNER, folder), cwd=ROOT, stdout=subprocess.PIPE, text=True) as runner:
            try:
                assert runner.stdout is not None
                yield runner, runner.stdout.readline().strip()
            finally:
                runner.kill()


def names_of(engine: Engine, run: str) -> set[str]:
    """Containers and networks of a run, without the run's prefix."""
    whole, ours = f"rocketdiff-{run}", {"name": f"rocketdiff-{run}"}
    containers = engine.client.containers.list(all=True, filters=ours, ignore_removed=True)
    return {
        one.name.removeprefix(whole).removeprefix("-")
        for one in (*containers, *engine.client.networks.list(filters=ours))
    }


def test_killed_runners_are_cleaned_up_after_and_living_ones_are_left_alone(engine: Engine, tmp_path: Path) -> None:
    """`doctor --clean` and the next start remove a killed runner's containers and network, not a living runner's."""
    everything = {"", "name-server-1", "broker-a"}
    program = Program()
    with (
        program.running(tmp_path / "first") as (first, killed),
        program.running(tmp_path / "second") as (second, living),
    ):
        assert names_of(engine, killed) == everything, "the second start leaves a living runner's"
        first.kill()
        first.wait()
        assert names_of(engine, killed) == everything, "a killed runner removes nothing itself"
        assert f"rocketdiff-{killed}-broker-a" in program.finished(CLEAN, tmp_path)
        assert (names_of(engine, killed), names_of(engine, living)) == (set(), everything)
        second.kill()
        second.wait()
    program.finished(START, tmp_path / "next")
    assert names_of(engine, living) == set()
