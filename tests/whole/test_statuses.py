"""Statuses and codes other than SEND_OK, which both clients treat alike."""

from pathlib import Path

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.start import start_cluster
from rocketdiff.core.errors import ExitCode
from rocketdiff.traces.reader import read_table
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName
from tests.live import READY_S, repeated
from tests.whole.stage import decided, send_ends, signatures

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

PAIR = ("java:5.3.3", "python:5.3.3")


def arms_without(status: str, run: Path) -> str:
    """Name the arms of which no send was told this status, because a busy machine held them up during the fault."""
    missed = [arm for arm, reported in send_ends(run).items() if status not in reported]
    return f"no {status} for {', '.join(missed)}" if missed else ""


def conforming_run(cluster: Cluster, folder: Path, scenario: str, status: str) -> Path:
    """A run of a scenario in which both arms get the status and conform."""
    run, judgement = repeated(
        lambda number: decided(cluster, folder / str(number), *PAIR, scenario, root=None),
        lambda outcome: arms_without(status, outcome[0]),
    )
    assert signatures(judgement) == set()
    assert judgement.exit_code is ExitCode.CONFORMS, [result for result in judgement.results if result.reason]
    return run


def test_a_status_is_retried_and_returned_as_flush_slave_timeout(tmp_path: Path) -> None:
    """Each of three attempts at the only master is stored but not replicated: FLUSH_SLAVE_TIMEOUT."""
    scenario = "double-write/only-slave-paused-and-tried-again"
    with start_cluster(topology="master-with-slave-sync", folder=tmp_path / "cluster", timeout_s=READY_S) as pair:
        run = conforming_run(pair, tmp_path / "runs", scenario, "FLUSH_SLAVE_TIMEOUT")
    for arm, reported in send_ends(run).items():
        attempts = read_table(RunDirectory.open(run), TableName.ATTEMPTS, 1, arm).to_pylist()
        assert set(reported) == {"SEND_OK", "FLUSH_SLAVE_TIMEOUT"}
        assert {row["status"] for row in attempts if row["attempt"] == 2} >= {"FLUSH_SLAVE_TIMEOUT"}


def test_a_busy_broker_fails_the_send_when_the_others_are_busy_too(cluster: Cluster, folder: Path) -> None:
    """SYSTEM_BUSY is retried from 5.3.0 on; with both brokers busy the send fails with it."""
    run = conforming_run(cluster, folder, "flow-control/both-busy", "MQClientException")
    for arm, reported in send_ends(run).items():
        rows = read_table(RunDirectory.open(run), TableName.SENDS, 1, arm).to_pylist()
        assert set(reported) == {"SEND_OK", "MQClientException"}, arm
        assert {row["code"] for row in rows if row["error"]} == {2}
