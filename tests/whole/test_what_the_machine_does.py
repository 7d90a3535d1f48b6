"""What the machine does makes a case invalid or ends the run; it causes no divergence or pass."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import EnvironmentMissing, ExitCode
from rocketdiff.verdict.judge import RunJudgement
from tests.live import repeated
from tests.whole.stage import (
    await_no_process_of,
    broken_guards,
    judge,
    processes_of,
    run_of,
    run_pair,
    subject_of,
)

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

PAIR = ("python:5.3.3", "toy:honest")
STOPPED_S = 2.0
BUSY_CORES = 2
BUSY_S = 2.5
"""From the first sends to the last of whole/short-pause."""
RELAY, SUPERVISOR = "rocketdiff.relay.proxy.program", "process/supervisor.py"
"""Text in the command lines of a relay and of its supervisor."""


def verdicts(judgement: RunJudgement) -> set[Verdict]:
    return {result.verdict for result in judgement.results}


def test_subjects_that_somebody_stops_are_not_blamed(cluster: Cluster, folder: Path) -> None:
    """Each arm stopped for two seconds while it sends breaks its own guard; no check diverges or conforms."""

    def stop_for_a_while(run: Path) -> None:
        for arm in Arm:
            os.kill(subject_of(run, arm), signal.SIGSTOP)
        time.sleep(STOPPED_S)
        for arm in Arm:
            os.kill(subject_of(run, arm), signal.SIGCONT)

    run = run_pair(cluster, folder, *PAIR, meanwhile=stop_for_a_while)
    judgement = judge(run)
    assert judgement.exit_code is ExitCode.INCONCLUSIVE
    assert {"awake-baseline", "awake-candidate"} <= broken_guards(run).keys()
    assert not verdicts(judgement) & {Verdict.DIVERGES, Verdict.CONFORMS}


def test_a_relay_that_dies_ends_the_run_with_the_cause(cluster: Cluster, folder: Path) -> None:
    """A dead relay ends the run with the cause, exit code ENVIRONMENT and no verdict."""

    def kill_a_relay(run: Path) -> None:
        relays = [pid for pid, line in processes_of(run).items() if RELAY in line and SUPERVISOR not in line]
        assert len(relays) == 2
        os.kill(relays[0], signal.SIGKILL)

    with pytest.raises(EnvironmentMissing, match=r"the recording relay to answer.*it ended") as raised:
        run_pair(cluster, folder, *PAIR, "whole/three-pauses", is_wire_wanted=True, meanwhile=kill_a_relay)
    assert raised.value.exit_code is ExitCode.ENVIRONMENT
    run = run_of(folder)
    assert await_no_process_of(run) == {}
    judgement = judge(run)
    assert judgement.exit_code is ExitCode.INCONCLUSIVE
    assert not verdicts(judgement) & {Verdict.DIVERGES, Verdict.CONFORMS}


@contextmanager
def busy_cores() -> Iterator[None]:
    """One endless loop of ordinary priority per core of this machine."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY_CORES)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def test_load_flips_no_verdict(cluster: Cluster, folder: Path) -> None:
    """
    With both cores busy during the sends, clients that behave alike never diverge.

    How many checks are decided depends on the machine. Guards prove the pauses; if the load breaks one, the run is repeated.
    """

    def keep_busy(_: Path) -> None:
        with busy_cores():
            time.sleep(BUSY_S)

    def loaded_run(number: int) -> Path:
        own = folder / str(number)
        run = run_pair(cluster, own, "java:5.3.3", "python:5.3.3", "whole/short-pause", meanwhile=keep_busy)
        judgement = judge(run)
        assert judgement.exit_code is not ExitCode.DIVERGES, [r for r in judgement.results if r.divergences]
        assert not {Verdict.DIVERGES, Verdict.ERROR} & verdicts(judgement)
        cluster.heal_all()
        return run

    def unproven(run: Path) -> str:
        return "; ".join(seen for name, seen in broken_guards(run).items() if name.startswith("fault-"))

    assert not unproven(repeated(loaded_run, unproven))
