"""What of a case that cannot be read back is the case's misfortune, and what is the whole run's."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.cluster.interface import NodeState
from harness.core.errors import ClusterError, EnvironmentMissing
from harness.pairing import Pair, _Stage
from tests.cluster.fakes import FakeCluster


@pytest.fixture
def stage() -> _Stage:
    """A case without sends whose arms have ended."""
    directory: Any = SimpleNamespace(number=1, run="r")
    case: Any = SimpleNamespace(plan=SimpleNamespace(sends=()), faults=())
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


@pytest.mark.parametrize("name", ["broker-b", "name-server-1"])
def test_a_server_that_died_is_named_whatever_failed_for_it(stage: _Stage, name: str) -> None:
    """A topic that cannot be created, a route that does not come: consequences."""
    cluster = cast("Any", stage.cluster)
    cluster.states[name] = NodeState.GONE
    cause = stage.cause_of(ClusterError("a topic on each broker", seen="no answer"))
    assert isinstance(cause, ClusterError)
    assert f"{name} died by itself" in cause.seen and "a topic on each broker" in cause.seen
    with pytest.raises(ClusterError, match=f"{name} died by itself"):
        stage.play(cast("Any", None))


def test_an_error_stays_what_it_is_where_nobody_can_tell_of_servers(
    stage: _Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine that has stopped is the cause itself; that it is asked again must not keep the case from being sealed."""
    cluster = cast("Any", stage.cluster)
    monkeypatch.setattr(cluster, "state", failing(EnvironmentMissing("the engine to tell", seen="nobody")))
    error = EnvironmentMissing("the engine to live as long as the run", seen="nobody")
    assert stage.cause_of(error) is error


def test_while_all_servers_live_an_error_stays_what_it_is(stage: _Stage) -> None:
    """And Ctrl-C is nobody's death."""
    error = ClusterError("a topic", seen="no answer")
    assert stage.cause_of(error) is error
    interrupt = KeyboardInterrupt()
    assert stage.cause_of(interrupt) is interrupt
