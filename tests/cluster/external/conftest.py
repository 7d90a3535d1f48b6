"""A cluster of somebody's, and a home of its own for what is owed to it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketdiff.cluster.external import debts, joining
from tests.cluster.external.owned import Owned, owned_cluster


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """In place of the cache folder."""
    monkeypatch.setattr(debts, "home", lambda: tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def owned(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Owned]:
    """Its brokers do not give back what they store: the proof that they do is left to real ones."""
    monkeypatch.setattr(joining, "_store_and_read", lambda *_: None)
    with owned_cluster(tmp_path) as cluster:
        yield cluster
