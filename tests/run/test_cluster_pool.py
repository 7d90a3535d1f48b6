"""The shared cluster: replacement, files and events."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from rocketdiff.cluster.backend import Backend
from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.processes.backend import Processes
from rocketdiff.core.errors import ClusterError
from rocketdiff.core.events import ClusterClosed, ClusterReady, ClusterStarted, Event, Listener
from rocketdiff.core.tables.topology import Topology
from rocketdiff.run.cluster_pool import ClusterPool
from tests.cluster.fakes import FakeCluster


class Started(FakeCluster):
    """A started cluster of any topology. ill: it cannot be healed."""

    def __init__(self, shape: Topology, *, ill: bool = False) -> None:
        super().__init__()
        self._shape = shape
        self._ill = ill

    @property
    def topology(self) -> Topology:
        return self._shape

    def heal_all(self) -> None:
        if self._ill:
            raise ClusterError("every node to be as it was found", seen="broker-a paused")


class Starts:
    """A backend that starts nothing and records requests."""

    name, server_release = "processes", "5.3.3"

    def __init__(self, *, ill: bool = False) -> None:
        self.started: list[Started] = []
        self.folders: list[Path] = []
        self._ill = ill

    def start(self, topology: Topology, folder: Path, **_: object) -> Cluster:
        folder.mkdir(parents=True)
        self.folders.append(folder)
        self.started.append(Started(topology, ill=self._ill))
        return self.started[-1]


def as_backend(starts: Starts) -> Backend:
    return cast("Backend", starts)


def test_cases_of_one_topology_share_a_cluster(tmp_path: Path) -> None:
    """Cases of one topology share a cluster; another topology replaces it, because both would not fit."""
    starts = Starts()
    with ClusterPool(as_backend(starts), tmp_path) as pool:
        first = pool.for_case("two-masters")
        assert pool.for_case("two-masters") is first
        assert pool.for_case("one-master") is not first
        assert starts.started[0].done == ["close"]
    assert [one.done for one in starts.started] == [["close"], ["close"]]


def test_after_so_many_cases_comes_a_new_one(tmp_path: Path) -> None:
    """A cluster is replaced after max_cases cases."""
    starts = Starts()
    with ClusterPool(as_backend(starts), tmp_path, max_cases=2) as pool:
        for _ in range(3):
            pool.cluster("two-masters")
            pool.for_case("two-masters")
    assert len(starts.started) == 2


def test_files_are_removed_with_the_cluster_unless_they_are_kept(tmp_path: Path) -> None:
    """Files are removed with the cluster unless a run keeps them."""
    (tmp_path / "pool" / "two-masters").mkdir(parents=True)
    with ClusterPool(as_backend(starts := Starts()), tmp_path / "pool") as pool:
        pool.cluster("two-masters")
    assert not starts.folders[0].exists()
    with ClusterPool(as_backend(starts := Starts()), tmp_path / "run", keeps_files=True) as pool:
        pool.cluster("two-masters")
    assert starts.folders == [tmp_path / "run" / "two-masters"]
    assert starts.folders[0].exists()


def test_without_a_folder_it_takes_a_temporary_one() -> None:
    """Without a folder the pool uses a temporary one."""
    with ClusterPool(as_backend(starts := Starts())) as pool:
        pool.cluster("one-master")
        assert starts.folders[0].exists()
    assert not starts.folders[0].parent.exists()


def test_a_cluster_that_cannot_be_healed_is_given_up(tmp_path: Path) -> None:
    """A cluster that cannot be healed is closed; the next request starts another."""
    starts = Starts(ill=True)
    pool = ClusterPool(as_backend(starts), tmp_path)
    pool.cluster("two-masters")
    with pytest.raises(ClusterError):
        pool.heal()
    assert starts.started[0].done == ["close"]
    pool.cluster("two-masters")
    assert len(starts.started) == 2


def test_listeners_hear_of_every_start_and_end(tmp_path: Path) -> None:
    """Listeners get start, readiness with addresses, and end, in order."""
    events: list[Event] = []
    listener = cast("Listener", SimpleNamespace(on_event=events.append))
    with ClusterPool(as_backend(Starts()), tmp_path, listeners=[listener]) as pool:
        pool.cluster("two-masters")
    assert [type(event) for event in events] == [ClusterStarted, ClusterReady, ClusterClosed]
    ready = events[1]
    assert isinstance(ready, ClusterReady)
    assert (ready.brokers, ready.name_servers) == (("broker-a", "broker-b"), ("127.0.0.1:1",))


def test_processes_need_no_argument() -> None:
    """The default backend has the default server release."""
    assert Processes().server_release == "5.3.3"
