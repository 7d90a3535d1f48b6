"""A run without engine or image ends with one message and no verdict."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rocketdiff.cluster.containers.cleanup import sweep
from rocketdiff.cluster.containers.engine import Engine
from rocketdiff.core.errors import ExitCode
from tests.cluster.containers.severed import severable
from tests.live import await_that
from tests.whole.stage import LIMIT_S, SCENARIOS, await_run, sends_are_flowing

ROOT = Path(__file__).parents[3]

ONE_RUN = (
    "run",
    "--cluster",
    "containers",
    "--subject",
    "python:5.3.3",
    "--subject",
    "python:5.3.3",
    "--master",
    "none",
)


def environment(**changes: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **changes}


def finished(folder: Path, **changes: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "rocketdiff.cli.app", *ONE_RUN, "--out", str(folder)]
    return subprocess.run(command, env=environment(**changes), capture_output=True, text=True, check=False)


def test_without_an_engine_a_run_ends_and_begins_nothing(tmp_path: Path) -> None:
    """Without an engine a run exits with 69 and creates no run directory."""
    done = finished(tmp_path / "out", DOCKER_HOST=f"unix://{tmp_path}/none.sock")
    assert done.returncode == ExitCode.ENVIRONMENT
    assert "expected a container engine to answer" in done.stderr
    assert "--cluster processes" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.container
def test_without_its_image_a_run_ends_and_begins_nothing(engine: Engine, tmp_path: Path) -> None:
    """Without its image a run exits with 69; no other image is pulled."""
    done = finished(tmp_path / "out", ROCKETDIFF_SERVER_IMAGE="rocketdiff/none:{release}")
    assert done.returncode == ExitCode.ENVIRONMENT
    assert "expected image rocketdiff/none:5.3.3" in done.stderr
    assert "VERDICT" not in done.stdout
    assert not (tmp_path / "out").exists()


@pytest.mark.container
@pytest.mark.cluster
@pytest.mark.slow
def test_an_engine_that_stops_in_the_middle_is_an_error_and_no_verdict(
    engine: Engine, engine_socket: str, tmp_path: Path
) -> None:
    """A run whose engine stops exits with 69 and its case is aborted; the next sweep removes the containers."""
    folder = tmp_path / "out"
    folder.mkdir()
    command = [sys.executable, "-m", "rocketdiff.cli.app", *ONE_RUN, "--out", str(folder)]
    command += ["--scenarios", str(SCENARIOS), "--scenario", "whole/long-pause"]
    with severable(tmp_path / "engine.sock", engine_socket) as relay:
        changed = environment(DOCKER_HOST=f"unix://{relay.path}")
        with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
            runner = subprocess.Popen(command, stdout=out, stderr=err, env=changed)
        try:
            run = await_run(folder, sends_are_flowing, "sends to flow", patience_s=300)
            relay.sever()
            code = runner.wait(LIMIT_S)
        finally:
            runner.kill()
            runner.wait()
    reported = (folder / "stderr").read_text()
    assert code == ExitCode.ENVIRONMENT, reported
    assert "container engine to stay up during the run" in reported
    assert (folder / "stdout").read_text().splitlines()[-1].startswith("VERDICT error ")
    (case,) = json.loads((run / "run.json").read_bytes())["cases"]
    assert (case["status"], "container engine" in case["reason"]) == ("aborted", True)
    assert not (run / "report.json").exists()
    (facts,) = run.glob("cluster/*/containers.json")
    await_swept(engine, json.loads(facts.read_bytes())["run"])


def await_swept(engine: Engine, run: str) -> None:
    """Sweep until the run has no container or network."""

    def is_swept() -> bool:
        sweep(engine)
        return not engine.containers(run) and not engine.networks(run)

    await_that(is_swept, f"nothing left of {run}")
