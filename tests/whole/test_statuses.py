"""A code other than SEND_OK, which both clients treat alike."""

from pathlib import Path

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.traces.reader import read_table
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName
from tests.whole.stage import conforming_run, send_ends

pytestmark = [pytest.mark.cluster, pytest.mark.slow]


def test_a_busy_broker_fails_the_send_when_the_others_are_busy_too(cluster: Cluster, folder: Path) -> None:
    """SYSTEM_BUSY is retried from 5.3.0 on; with both brokers busy the send fails with it."""
    run = conforming_run(cluster, folder, "flow-control/both-busy", "MQClientException")
    for arm, reported in send_ends(run).items():
        rows = read_table(RunDirectory.open(run), TableName.SENDS, 1, arm).to_pylist()
        assert set(reported) == {"SEND_OK", "MQClientException"}, arm
        assert {row["code"] for row in rows if row["error"]} == {2}
