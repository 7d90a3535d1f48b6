"""However a run ends, no process survives, its traces are readable, and it never passes without evidence."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.traces.reader import read_table
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName
from tests.whole.stage import (
    LIMIT_S,
    REFERENCES,
    await_no_process_of,
    await_run,
    judge,
    kill_server,
    sends_are_flowing,
    started_run,
)

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

PAIR = ("--subject", "java:5.3.3", "--subject", "python:5.3.3", "--seed", "3", "--master", "none")


def is_paused_under_sends(manifest: dict[str, Any], run: Path) -> bool:
    return (run / "journal" / "01-faults.ndjson").exists() and sends_are_flowing(manifest, run)


def is_paused_under_calls(_manifest: dict[str, Any], run: Path) -> bool:
    """As under sends, for groups: a member of each arm has received messages, and a broker is paused."""
    members = [run / "journal" / f"01-{arm}-m0.ndjson" for arm in Arm]
    called = all(journal.exists() and journal.read_bytes().count(b'"type":"received"') > 10 for journal in members)
    return called and (run / "journal" / "01-faults.ndjson").exists()


@pytest.mark.parametrize(
    ("pair", "scenario", "condition", "table"),
    [
        pytest.param(REFERENCES, "whole/long-pause", is_paused_under_sends, TableName.SENDS, id="producers"),
        pytest.param(PAIR, "whole/group-under-a-pause", is_paused_under_calls, TableName.DELIVERIES, id="groups"),
    ],
)
def test_kill_9_of_the_runner_leaves_no_process_and_readable_traces(
    tmp_path: Path,
    pair: tuple[str, ...],
    scenario: str,
    condition: Callable[[dict[str, Any], Path], bool],
    table: TableName,
) -> None:
    """Kill -9 of the runner during a pause leaves no process; the traces are readable and inconclusive."""
    with started_run(tmp_path, *pair, "--scenario", scenario) as runner:
        run = await_run(tmp_path, condition, "both arms at work and a paused broker")
        runner.kill()
        runner.wait()
    assert await_no_process_of(run) == {}
    judgement = judge(run)
    assert judgement.exit_code is ExitCode.INCONCLUSIVE
    assert read_table(RunDirectory.open(run), table, 1, Arm.CANDIDATE).num_rows > 10


def test_a_server_that_dies_by_itself_never_leads_to_a_pass(tmp_path: Path) -> None:
    """
    A broker that dies without a planned fault makes the run inconclusive and is named.

    All nodes are watched alike; tests/run/test_case.py shows a name server.
    """
    with started_run(tmp_path, *REFERENCES, "--scenario", "whole/three-pauses") as runner:
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
