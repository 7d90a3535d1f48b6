"""However a run ends, no process survives, its traces are readable, and it never passes without evidence."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.traces.reader import read_table
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName
from tests.whole.stage import (
    LIMIT_S,
    await_no_process_of,
    await_run,
    decided,
    judge,
    kill_server,
    sends_are_flowing,
    signatures,
    started_run,
    subject_of,
)

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

PAIR = ("--subject", "java:5.3.3", "--subject", "python:5.3.3")
REFERENCES = ("--subject", "python:5.3.3", "--subject", "toy:honest")
CHOSEN = ("--seed", "3", "--master", "none", "--scenario")
LONG_PAUSE = (*CHOSEN, "whole/long-pause")


def is_paused_under_sends(manifest: dict[str, Any], run: Path) -> bool:
    return (run / "journal" / "01-faults.ndjson").exists() and sends_are_flowing(manifest, run)


def test_kill_9_of_the_runner_leaves_no_process_and_readable_traces(tmp_path: Path) -> None:
    """Kill -9 of the runner during a pause leaves no process; the traces are readable and inconclusive."""
    with started_run(tmp_path, *PAIR, *LONG_PAUSE) as runner:
        run = await_run(tmp_path, is_paused_under_sends, "both arms sending and a paused broker")
        runner.kill()
        runner.wait()
    assert await_no_process_of(run) == {}
    judgement = judge(run)
    assert judgement.exit_code is ExitCode.INCONCLUSIVE
    assert read_table(RunDirectory.open(run), TableName.SENDS, 1, Arm.CANDIDATE).num_rows > 10


def test_being_asked_to_end_stops_everything(tmp_path: Path) -> None:
    """
    Ctrl-C ends the run with exit code 130, one message, no process and an inconclusive case.

    tests/cli/test_endings.py covers other signals.
    """
    with started_run(tmp_path, *REFERENCES, *LONG_PAUSE) as runner:
        run = await_run(tmp_path, sends_are_flowing, "both arms sending")
        runner.send_signal(signal.SIGINT)
        assert runner.wait(timeout=LIMIT_S) == 130
    assert await_no_process_of(run) == {}
    output = (tmp_path / "stderr").read_text()
    assert "interrupted" in output
    assert "Traceback" not in output
    assert judge(run).exit_code is ExitCode.INCONCLUSIVE


@pytest.mark.parametrize(("arm", "baseline"), [("baseline", "java:5.3.3"), ("candidate", "python:5.3.3")])
def test_a_subject_killed_from_outside_is_a_result(cluster: Cluster, folder: Path, arm: str, baseline: str) -> None:
    """A subject killed from outside, JVM or not, is the divergence protocol.died, and the run continues."""

    def kill(run: Path) -> None:
        os.kill(subject_of(run, arm), signal.SIGKILL)

    run, judgement = decided(cluster, folder, baseline, "python:5.3.3", meanwhile=kill)
    assert judgement.exit_code is ExitCode.DIVERGES
    assert "protocol.died" in signatures(judgement)
    assert await_no_process_of(run) == {}


def test_a_server_that_dies_by_itself_never_leads_to_a_pass(tmp_path: Path) -> None:
    """
    A broker that dies without a planned fault makes the run inconclusive and is named.

    All nodes are watched alike; tests/run/test_case.py shows a name server.
    """
    with started_run(tmp_path, *REFERENCES, *CHOSEN, "whole/three-pauses") as runner:
        run = await_run(tmp_path, sends_are_flowing, "both arms sending")
        kill_server(run, "broker-a")
        assert runner.wait(timeout=LIMIT_S) == ExitCode.INCONCLUSIVE
    assert await_no_process_of(run) == {}
    output = (tmp_path / "stderr").read_text() + (tmp_path / "stdout").read_text()
    assert "broker-a died by itself" in " ".join(output.split())
    assert "Traceback" not in output


def test_without_java_there_is_one_clear_message(tmp_path: Path) -> None:
    """Without a JVM the command exits with 69, a clear message and no download."""
    environment = {
        "PATH": str(Path(sys.executable).parent),
        "HOME": str(tmp_path),
        "ROCKETDIFF_CACHE": str(tmp_path / "cache"),
        "ROCKETDIFF_JAVA_HOME": str(tmp_path / "no-java"),
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }
    command = [sys.executable, "-m", "rocketdiff.cli.app", "run", "--out", str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == ExitCode.ENVIRONMENT
    assert "ROCKETDIFF_JAVA_HOME" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((tmp_path / "cache").rglob("*.jar"))
