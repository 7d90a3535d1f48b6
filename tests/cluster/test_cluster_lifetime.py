"""Start and end of clusters: ports, folders, and no remains."""

import contextlib
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from rocketdiff.cluster.launched import node_slot
from rocketdiff.cluster.launched.ports import ReservedPort, reserve_free
from rocketdiff.cluster.start import start_cluster
from rocketdiff.core.errors import EnvironmentMissing, UsageError
from tests.cluster.processes import await_gone, listening_hosts
from tests.live import READY_S

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).parents[2]

RUNNER = """
import sys, time
from pathlib import Path
from rocketdiff.cluster.start import start_cluster
from rocketdiff.cluster.interface import nodes_of
cluster = start_cluster(topology="one-master", folder=Path(sys.argv[1]), timeout_s=float(sys.argv[2]))
cluster.pause("broker-a")
print(*(node.pid for node in nodes_of(cluster)), flush=True)
time.sleep(600)  # it is killed long before; if those who would are gone, it ends by itself
"""


def test_kill_9_of_the_runner_leaves_no_server_even_if_one_is_paused(cluster_folder: Path) -> None:
    """After ``kill -9`` of the runner no server survives, not even a paused one."""
    command = [sys.executable, "-c", RUNNER, str(cluster_folder), str(READY_S)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as runner:
        assert runner.stdout is not None
        pids = [int(word) for word in runner.stdout.readline().split()]
        assert len(pids) == 2
        runner.kill()
    await_gone(pids)


def test_closing_ends_paused_servers_and_removes_stores_only(cluster_folder: Path) -> None:
    """close() ends paused servers and removes only stores; 4.9.7 servers listen on loopback only."""
    cluster = start_cluster(topology="one-master", server_release="4.9.7", folder=cluster_folder, timeout_s=READY_S)
    pids = [node.pid for node in (*cluster.name_servers, *cluster.brokers) if node.pid is not None]
    hosts = [host for pid in pids for host in listening_hosts(pid)]
    cluster.pause("broker-a")
    cluster.close()
    cluster.close()
    await_gone(pids)
    assert hosts == ["127.0.0.1"] * (1 + 3)
    assert not (cluster_folder / "broker-a" / "store").exists()
    assert (cluster_folder / "broker-a" / "server.log").exists()


def test_a_port_taken_at_the_last_moment_is_chosen_again(cluster_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reserved port that another program takes before the server's start is replaced."""
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as thief:
        lost = iter([ReservedPort(thief.getsockname()[1], ())])
        monkeypatch.setattr(node_slot, "reserve_free", lambda offsets: next(lost, None) or reserve_free(offsets))
        with start_cluster(topology="one-master", folder=cluster_folder, timeout_s=READY_S) as cluster:
            assert cluster.name_server_addresses != (f"127.0.0.1:{thief.getsockname()[1]}",)


def test_a_port_that_the_user_chose_and_is_taken_starts_nothing(cluster_folder: Path) -> None:
    """If the user's port is taken nothing is started."""
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as other, pytest.raises(EnvironmentMissing):
        start_cluster(folder=cluster_folder, name_server_port=other.getsockname()[1])
    assert not any(cluster_folder.iterdir())


def test_a_folder_with_an_earlier_clusters_files_is_refused(cluster_folder: Path) -> None:
    """A folder with an earlier cluster's files is refused, because they may be evidence."""
    (cluster_folder / "broker-a").mkdir(parents=True)
    with pytest.raises(UsageError, match="earlier cluster"):
        start_cluster(folder=cluster_folder)
