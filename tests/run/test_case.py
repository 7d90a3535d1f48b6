"""Which failures make a case invalid, and which end the run."""

from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketdiff.cluster.interface import NodeState
from rocketdiff.cluster.operations.drain import Drained
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ClusterError, EnvironmentMissing
from rocketdiff.core.security import OPEN
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.run.case.case_run import DRAIN_MEANWHILE_S, Pair, _Stage
from rocketdiff.run.case.wire_witness import WireStory
from tests.cluster.fakes import FakeCluster


@pytest.fixture
def stage() -> _Stage:
    """A case without sends whose arms have ended."""
    directory: Any = SimpleNamespace(number=1, run="r")
    case: Any = SimpleNamespace(plan=SimpleNamespace(sends=()), faults=())
    return _Stage(FakeCluster(), directory, case, Pair({}), (), is_wire_wanted=False)


def failing(error: Exception) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


def test_brokers_that_do_not_come_to_rest_make_the_case_invalid(stage: _Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Brokers that do not become quiet make the case invalid."""
    monkeypatch.setattr(
        "rocketdiff.run.case.case_run.await_drained", failing(ClusterError("an end", seen="more writes"))
    )
    stage.read_back()
    assert not stage.is_read_back
    assert "more writes" in stage.problems["read-back"]


def test_a_machine_that_has_failed_ends_the_run(stage: _Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopped engine or a full disk before the drain ends the run."""
    cluster = cast("Any", stage.cluster)
    monkeypatch.setattr(cluster, "require_sound", failing(EnvironmentMissing("an engine", seen="none")))
    with pytest.raises(EnvironmentMissing):
        stage.read_back()
    assert not stage.is_read_back


@pytest.mark.parametrize("name", ["broker-b", "name-server-1"])
def test_a_server_that_died_is_named_whatever_failed_for_it(stage: _Stage, name: str) -> None:
    """Any error is attributed to a server that died."""
    cluster = cast("Any", stage.cluster)
    cluster.states[name] = NodeState.GONE
    cause = stage.cause_of(ClusterError("a topic on each broker", seen="no answer"))
    assert isinstance(cause, ClusterError)
    assert f"{name} died by itself" in cause.seen and "a topic on each broker" in cause.seen
    with pytest.raises(ClusterError, match=f"{name} died by itself"):
        stage.play(cast("Any", None))


def test_an_error_is_unchanged_where_servers_are_unknown(stage: _Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """If server states cannot be read, because the engine stopped, the original error stays."""
    cluster = cast("Any", stage.cluster)
    monkeypatch.setattr(cluster, "state", failing(EnvironmentMissing("the engine to report", seen="nobody")))
    error = EnvironmentMissing("the engine to stay up during the run", seen="nobody")
    assert stage.cause_of(error) is error


def test_while_all_servers_live_an_error_stays_what_it_is(stage: _Stage) -> None:
    """While all servers live an error stays unchanged."""
    error = ClusterError("a topic", seen="no answer")
    assert stage.cause_of(error) is error
    interrupt = KeyboardInterrupt()
    assert stage.cause_of(interrupt) is interrupt


def test_unseen_frames_make_the_case_invalid(stage: _Stage) -> None:
    """Frames that a relay did not see make the case invalid."""
    story = WireStory("the wire: 2 attempts", unseen=("a frame of 9 MiB", "another"))
    scenario = SimpleNamespace(settings=ClientSettings())
    pair = SimpleNamespace(baseline=SubjectId("java", "5.3.3"), candidate=SubjectId("java", "5.5.0"))
    stage.case = cast("Any", SimpleNamespace(scenario=scenario, plan=None, id=pair))
    stage.arms = {
        Arm.CANDIDATE: cast("Any", SimpleNamespace(transcript=SimpleNamespace(hello=None, sends=[], attempts=[])))
    }
    stage.witness = cast("Any", SimpleNamespace(testify=lambda *_: story))
    stage.testify()
    assert stage.wire == {Arm.CANDIDATE: story}
    assert stage.problems == {"wire candidate": "2 frames of candidate were not all seen: a frame of 9 MiB"}


@pytest.fixture
def played(stage: _Stage, monkeypatch: pytest.MonkeyPatch) -> _Stage:
    """A stage without clients, whose schedule has two problems when stopped."""
    cluster = cast("Any", stage.cluster)
    monkeypatch.setattr(cluster, "create_topic", lambda *_, **__: None, raising=False)
    nobody = SimpleNamespace(relays={}, security=OPEN, require_alive=lambda: None, rest=lambda: None)
    ended = SimpleNamespace(stop=lambda: None, join=lambda: SimpleNamespace(problems=["not proven", "not healed"]))
    for name in ("Witness", "StallWatch", "ConnectionWatch"):
        monkeypatch.setattr(f"rocketdiff.run.case.case_run.{name}", lambda *_, **__: nullcontext(nobody))
    monkeypatch.setattr("rocketdiff.run.case.case_run.ScheduleThread", lambda *_: ended)
    monkeypatch.setattr("rocketdiff.run.case.case_run.await_drained", lambda *_: QUIET)
    for name, given in (
        ("_subject", nullcontext(_silent())),
        ("_setup", None),
        ("_connection_watch", nullcontext(nobody)),
    ):
        monkeypatch.setattr(_Stage, name, lambda *_, given=given: given)
    monkeypatch.setattr(_Stage, "_go", lambda _: None)
    stage.case = cast("Any", SimpleNamespace(plan=stage.case.plan, faults=(), scenario=_SCENARIO))
    return stage


QUIET = Drained({("T", "broker-a", 0): 7}, 1)

_SCENARIO = SimpleNamespace(queues_per_broker=4, ordered=False, settings=ClientSettings())


def _silent() -> SimpleNamespace:
    done = {"await_hello": lambda: None, "prepare": lambda *_: None, "await_ready": lambda: None}
    state = {"pid": 1, "arm": Arm.BASELINE, "broken": None, "is_over": True, "answered": 0}
    return SimpleNamespace(transcript=SimpleNamespace(hello=None), await_done=lambda _: None, **done, **state)


def test_faults_that_could_not_be_shown_make_the_case_invalid(played: _Stage) -> None:
    """Every problem of the fault schedule makes the case invalid."""
    with ExitStack() as stack:
        played.play(stack)
    assert played.problems == {"fault 0": "not proven", "fault 1": "not healed"}


def test_a_drain_at_rest_is_confirmed_after_the_clients(played: _Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A short wait for drain while clients are idle is repeated after their end, which decides."""
    asked: list[tuple[tuple[float, ...], Drained | None]] = []

    def drained(_cluster: object, _topics: object, *limits: float, before: Drained | None = None) -> Drained:
        asked.append((limits, before))
        if before is not None:
            raise ClusterError("an end", seen="more writes")
        return QUIET

    monkeypatch.setattr("rocketdiff.run.case.case_run.await_drained", drained)
    with ExitStack() as stack:
        played.play(stack)
    played.read_back()
    assert not played.is_read_back
    assert asked == [((DRAIN_MEANWHILE_S,), None), ((), QUIET)]


def test_brokers_that_are_still_busy_while_clients_are_at_rest_are_waited_for_later(
    played: _Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Brokers still busy while clients are idle are no problem yet."""
    monkeypatch.setattr(
        "rocketdiff.run.case.case_run.await_drained", failing(ClusterError("an end", seen="more writes"))
    )
    with ExitStack() as stack:
        played.play(stack)
    assert played.drained is None
    assert "read-back" not in played.problems


def test_behind_relays_brokers_are_waited_for_when_these_are_closed(
    played: _Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With relays drain is awaited after they are closed, because a relay may forward later."""
    asked: list[object] = []
    monkeypatch.setattr("rocketdiff.run.case.case_run.await_drained", lambda *given: asked.append(given))
    nobody = SimpleNamespace(relays=("one",), security=OPEN, require_alive=lambda: None)
    monkeypatch.setattr("rocketdiff.run.case.case_run.Witness", lambda *_, **__: nullcontext(nobody))
    monkeypatch.setattr("rocketdiff.run.case.case_run.with_relays", lambda *_: None)
    with ExitStack() as stack:
        played.play(stack)
    assert asked == []


@pytest.mark.parametrize("name", ["broker-b", "name-server-1"])
def test_a_server_that_dies_while_clients_send_makes_the_case_invalid(
    name: str, played: _Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that dies without a planned kill makes the case invalid."""
    cluster = cast("Any", played.cluster)
    monkeypatch.setattr(_Stage, "_await_arms", lambda _: cluster.states.update({name: NodeState.GONE}))
    with ExitStack() as stack:
        played.play(stack)
    assert played.problems[name].startswith(f"{name} died by itself: ")


def test_a_broker_that_the_plan_kills_did_not_die_by_itself(played: _Stage) -> None:
    """A broker killed by the plan is no problem."""
    played.case = cast("Any", SimpleNamespace(faults=(SimpleNamespace(node="broker-b", kind=FaultKind.KILL),)))
    cast("Any", played.cluster).states["broker-b"] = NodeState.GONE
    played._look_for_deaths()
    assert played.problems == {}
