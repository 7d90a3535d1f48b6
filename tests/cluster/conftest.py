"""A real cluster for the tests that need one: started once, whole again before every test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cluster.interface import Cluster
from harness.cluster.start import start_cluster


@pytest.fixture(scope="session")
def started_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with start_cluster(topology="two-masters", folder=tmp_path_factory.mktemp("two-masters")) as cluster:
        yield cluster


@pytest.fixture
def two_masters(started_cluster: Cluster) -> Iterator[Cluster]:
    """Whatever the test does to it is healed afterwards."""
    yield started_cluster
    started_cluster.heal_all()


@pytest.fixture
def cluster_folder(tmp_path: Path) -> Path:
    """For a test that starts a cluster of its own."""
    return tmp_path / "cluster"
