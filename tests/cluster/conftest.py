"""Fixture for tests that start a cluster."""

from pathlib import Path

import pytest


@pytest.fixture
def cluster_folder(tmp_path: Path) -> Path:
    return tmp_path / "cluster"
