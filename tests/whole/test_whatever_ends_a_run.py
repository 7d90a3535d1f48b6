"""However a run ends, nothing of it lives on, its traces can be read, and it never passes without the evidence."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rocketdiff.core.errors import ExitCode
from rocketdiff.core.events import Arm
from rocketdiff.traces.reader import read_table
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName
from tests.live import TRIES, tell_repeat
from tests.whole.stage import (
    LIMIT_S,
    UNDECIDED,
    await_no_process_of,
    await_run,
    judge,
    kill_server,
    kill_subject,
    sends_are_flowing,
    signatures,
    started_run,
)

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

PAIR = ("--subject", "java:5.3.3", "--subject", "python:5.3.3", "--seed", "3", "--master", "none")
LONG_PAUSE = (*PAIR, "--scenario", "whole/long-pause")
DEAD_BROKER = (*PAIR, "--scenario", "whole/dead-broker")


def test_kill_9_of_the_runner_leaves_no_process_and_readable_traces(tmp_path: Path) -> None:
    """Also while a broker is paused; what is judged of the remains is not valid, never conforming."""
    with started_run(tmp_path, *LONG_PAUSE) as runner:
        run = await_run(tmp_path, lambda _, run: (run / "journal" / "01-faults.ndjson").exists(), "a paused broker")
        runner.kill()
        runner.wait()
    assert await_no_process_of(run) == {}
    judgement = judge(run)
    assert judgement.exit_code is ExitCode.INCONCLUSIVE
    assert read_table(RunDirectory.open(run), TableName.SENDS, 1, Arm.CANDIDATE).num_rows > 10


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_being_asked_to_end_stops_everything(tmp_path: Path, number: signal.Signals) -> None:
    """Ctrl-C and SIGTERM: exit code 130, one message, no process, the case aborted."""
    with started_run(tmp_path, *LONG_PAUSE) as runner:
        run = await_run(tmp_path, sends_are_flowing, "both arms sending")
        runner.send_signal(number)
        assert runner.wait(timeout=LIMIT_S) == 130
    assert await_no_process_of(run) == {}
    said = (tmp_path / "stderr").read_text()
    assert "interrupted" in said
    assert "Traceback" not in said
    assert judge(run).exit_code is ExitCode.INCONCLUSIVE


@pytest.mark.parametrize("arm", ["baseline", "candidate"])
def test_a_subject_killed_from_outside_is_a_result(tmp_path: Path, arm: str) -> None:
    """The run goes on to its verdict; the dead arm is a divergence of the protocol, not a crash of ours."""
    for number in range(1, TRIES + 1):
        with started_run(tmp_path / str(number), *DEAD_BROKER) as runner:
            run = await_run(tmp_path / str(number), sends_are_flowing, "both arms sending")
            kill_subject(run, arm)
            code = runner.wait(timeout=LIMIT_S)
        assert await_no_process_of(run) == {}
        if number == TRIES or code not in UNDECIDED:
            break
        tell_repeat(f"a killed {arm}: exit {code}")
    assert code == ExitCode.DIVERGES
    assert "protocol.died" in signatures(judge(run))


@pytest.mark.parametrize("node", ["broker-a", "name-server-1"])
def test_a_server_that_dies_by_itself_never_leads_to_a_pass(tmp_path: Path, node: str) -> None:
    """A death nobody planned makes the case invalid, and the run says which server it was."""
    with started_run(tmp_path, *LONG_PAUSE) as runner:
        run = await_run(tmp_path, sends_are_flowing, "both arms sending")
        kill_server(run, node)
        assert runner.wait(timeout=LIMIT_S) == ExitCode.INCONCLUSIVE
    assert await_no_process_of(run) == {}
    said = (tmp_path / "stderr").read_text() + (tmp_path / "stdout").read_text()
    assert f"{node} died by itself" in " ".join(said.split())
    assert "Traceback" not in said


def test_without_java_there_is_one_clear_message(tmp_path: Path) -> None:
    """A machine without a JVM that cannot fetch one: exit 69, what was looked for, what to do."""
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
