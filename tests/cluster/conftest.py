"""A folder for tests that start clusters of their own."""

from pathlib import Path

import pytest


@pytest.fixture
def cluster_folder(tmp_path: Path) -> Path:
    """For a test that starts a cluster of its own."""
    return tmp_path / "cluster"
