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
    judge,
    run_pair,
    started_run,
    why_undecided,
)

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

REFERENCE_PAIR = ("python:5.3.3", "toy:honest")
PAIR = ("--subject", "java:5.3.3", "--subject", "python:5.3.3", "--seed", "3", "--master", "none")


def is_paused_under_calls(_manifest: dict[str, Any], run: Path) -> bool:
    """A member of each arm has received messages, a broker is paused, and the programs of the next case are suspended."""
    members = [run / "journal" / f"01-{arm}-m0.ndjson" for arm in Arm]
    called = all(journal.exists() and journal.read_bytes().count(b'"type":"received"') > 10 for journal in members)
    is_next_started = all((run / "journal" / f"02-{arm}.ndjson").exists() for arm in Arm)
    return called and is_next_started and (run / "journal" / "01-faults.ndjson").exists()


def test_kill_9_of_the_runner_leaves_no_process_and_readable_traces(tmp_path: Path) -> None:
    """Kill -9 of the runner during a pause leaves no process, feeder and members included, running or suspended; the traces are readable and inconclusive."""
    scenarios = ("--scenario", "whole/group-under-a-pause", "--scenario", "whole/short-pause")
    with started_run(tmp_path, *PAIR, *scenarios) as runner:
        run = await_run(tmp_path, is_paused_under_calls, "both arms at work and a paused broker")
        runner.kill()
        runner.wait()
    assert await_no_process_of(run) == {}
    judgement = judge(run)
    assert judgement.exit_code is ExitCode.INCONCLUSIVE
    assert read_table(RunDirectory.open(run), TableName.DELIVERIES, 1, Arm.CANDIDATE).num_rows > 10


def test_a_server_that_dies_by_itself_never_leads_to_a_pass(cluster: Cluster, folder: Path) -> None:
    """
    A broker that dies without a planned fault makes the run inconclusive and is named.

    All nodes are watched alike; tests/run/test_case.py shows a name server.
    """
    died, pid = cluster.brokers[0].name, cluster.brokers[0].pid
    assert pid is not None
    run = run_pair(
        cluster, folder, *REFERENCE_PAIR, "whole/short-pause", meanwhile=lambda _: os.kill(pid, signal.SIGKILL)
    )
    judgement = judge(run)
    assert judgement.exit_code is ExitCode.INCONCLUSIVE
    assert f"{died} died by itself" in why_undecided(judgement)


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
