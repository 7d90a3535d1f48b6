"""One run at a time on an external cluster."""

from pathlib import Path

import pytest

from rocketdiff.cluster.external import connect
from rocketdiff.cluster.external.undo_log import LoggedRun
from rocketdiff.core.errors import ClusterError
from tests.cluster.external.owned import Owned, joined


def test_two_runs_that_start_at_once_see_each_other(owned: Owned, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two runs that start together, the second check finds the other, which had no log before."""
    monkeypatch.setattr(connect, "_NEWCOMERS_END_WITHIN_S", 0.1)
    monkeypatch.setattr(connect, "undo_killed_runs", lambda _: None)
    with joined(owned):
        with pytest.raises(ClusterError, match="no other run of yours on unit"):
            joined(owned)
        assert len(list(home.iterdir())) == 1


def test_a_run_that_dies_during_a_cleanup_is_waited_for(owned: Owned, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that dies during a cleanup is awaited, because its guardian has locked its log."""
    looks = iter([[], [LoggedRun("unit", owned.described().name_server_addresses, "runs/x")], []])
    monkeypatch.setattr(connect, "active_runs", lambda _: next(looks))
    connect.undo_killed_runs(owned.described())
    assert next(looks, None) is None
