"""The cluster of whole runs that do not need to break the runner itself, and where they go."""

from pathlib import Path

import pytest

from rocketdiff.cluster.interface import Cluster


@pytest.fixture
def cluster(two_masters: Cluster) -> Cluster:
    """Whole before and after every test."""
    return two_masters


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "runs"
