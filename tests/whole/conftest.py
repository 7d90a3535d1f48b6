"""One cluster for all whole runs of this folder that do not need to break the runner itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cluster.interface import Cluster
from harness.cluster.start import start_cluster


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with start_cluster(topology="two-masters", folder=tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "runs"
