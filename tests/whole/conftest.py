"""Shared cluster and output folder of whole runs."""

from pathlib import Path

import pytest

from rocketdiff.cluster.interface import Cluster


@pytest.fixture
def cluster(two_masters: Cluster) -> Cluster:
    """The cluster is healed after every test."""
    return two_masters


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "runs"
