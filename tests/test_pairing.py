"""What of a case that cannot be read back is the case's misfortune, and what is the whole run's."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.core.errors import ClusterError, EnvironmentMissing
from harness.pairing import Pair, _Stage
from tests.cluster.fakes import FakeCluster


@pytest.fixture
def stage() -> _Stage:
    """A case without sends whose arms have ended."""
    directory: Any = SimpleNamespace(number=1, run="r")
    case: Any = SimpleNamespace(plan=SimpleNamespace(sends=()))
    return _Stage(FakeCluster(), directory, case, Pair({}), (), is_wire_wanted=False)


def failing(error: Exception) -> Callable[..., None]:
    def fail(*_: object) -> None:
        raise error

    return fail


def test_brokers_that_do_not_come_to_rest_make_the_case_invalid(stage: _Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next case has its chance."""
    monkeypatch.setattr("harness.pairing.await_drained", failing(ClusterError("an end", seen="more writes")))
    stage.read_back()
    assert not stage.is_read_back
    assert "more writes" in stage.problems["read-back"]


def test_a_machine_that_has_failed_ends_the_run(stage: _Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that stopped, or a disk that is full, is noticed before the drain; exit 69, no further case."""
    cluster = cast("Any", stage.cluster)
    monkeypatch.setattr(cluster, "require_sound", failing(EnvironmentMissing("an engine", seen="none")))
    with pytest.raises(EnvironmentMissing):
        stage.read_back()
    assert not stage.is_read_back
