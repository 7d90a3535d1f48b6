"""A fake external cluster and a folder for undo logs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketdiff.cluster.external import cleanup, connect, inspect, undo_log
from tests.cluster.external.owned import Owned, give_commands_time, owned_cluster


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Replaces the cache folder."""
    monkeypatch.setattr(undo_log, "logs_folder", lambda: tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def owned(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Owned]:
    """
    Skips the proof by stored messages, which needs real brokers; slow answers and slow commands are accepted.

    No pull is held for long.
    """
    monkeypatch.setattr(connect, "_store_and_read", lambda *_: None)
    monkeypatch.setattr(cleanup, "PULLS_END_WITHIN_S", 0.0)
    monkeypatch.setattr(inspect, "SLOWEST_ANSWER_MS", 10_000.0)
    give_commands_time(monkeypatch)
    with owned_cluster(tmp_path) as cluster:
        yield cluster
