"""Which failures make a case invalid, and which end the run."""

from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketdiff.cluster.interface import NodeState
from rocketdiff.cluster.operations.drain import DRAIN_MEANWHILE_S, Drained
from rocketdiff.core.arm import BASELINE, CANDIDATE
from rocketdiff.core.errors import ClusterError, EnvironmentMissing
from rocketdiff.core.security import OPEN
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.run.case.case_run import CaseRun
from rocketdiff.run.case.cast import Pair
from rocketdiff.run.case.guards import WireReport
from rocketdiff.run.case.sending.sending_run import SendingRun
from rocketdiff.run.case.sending.wire_witness import WireWitness
from tests.cluster.fakes import FakeCluster


@pytest.fixture
def cluster() -> FakeCluster:
    return FakeCluster()


@pytest.fixture
def run(cluster: FakeCluster) -> CaseRun:
    """A case without sends whose arms have ended."""
    directory: Any = SimpleNamespace(number=1, run="r")
    scenario = SimpleNamespace(role=ClientRole.PRODUCER, group=None)
    case: Any = SimpleNamespace(plan=SimpleNamespace(sends=()), faults=(), scenario=scenario)
    made = CaseRun(directory, case, Pair({}), (), is_wire_wanted=False)
    made.cluster, made.role = cluster, SendingRun(made)
    return made


def play(run: CaseRun) -> None:
    with ExitStack() as stack:
        run.start(stack)
        run.begin()
        run.work()
        run.end()


def failing(error: Exception) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


def _replace_drain(monkeypatch: pytest.MonkeyPatch, drain: Callable[..., object]) -> None:
    """Replace the drain beside clients at rest, and the one that decides."""
    for module in ("case_run", "sending.sending_run"):
        monkeypatch.setattr(f"rocketdiff.run.case.{module}.await_drained", drain)


def test_brokers_that_do_not_come_to_rest_make_the_case_invalid(run: CaseRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Brokers that do not become quiet make the case invalid."""
    _replace_drain(monkeypatch, failing(ClusterError("an end", seen="more writes")))
    run.role.read_back()
    assert not run.is_read_back
    assert "more writes" in run.problems["read-back"]


def test_a_machine_that_has_failed_ends_the_run(
    run: CaseRun, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stopped engine or a full disk before the drain ends the run."""
    monkeypatch.setattr(cluster, "require_sound", failing(EnvironmentMissing("an engine", seen="none")))
    with pytest.raises(EnvironmentMissing):
        run.role.read_back()
    assert not run.is_read_back


@pytest.mark.parametrize("name", ["broker-b", "name-server-1"])
def test_an_error_names_the_server_that_died(run: CaseRun, cluster: FakeCluster, name: str) -> None:
    """Any error is attributed to a server that died."""
    cluster.states[name] = NodeState.GONE
    cause = run.cause_of(ClusterError("a topic on each broker", seen="no answer"))
    assert isinstance(cause, ClusterError)
    assert f"{name} died by itself" in cause.seen and "a topic on each broker" in cause.seen
    with pytest.raises(ClusterError, match=f"{name} died by itself"):
        run.begin()


def test_an_error_is_kept_if_server_states_cannot_be_read(
    run: CaseRun, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If server states cannot be read, because the engine stopped, the original error stays."""
    monkeypatch.setattr(cluster, "state", failing(EnvironmentMissing("the engine to report", seen="none")))
    error = EnvironmentMissing("the engine to stay up during the run", seen="none")
    assert run.cause_of(error) is error


def test_an_error_is_kept_while_all_servers_live(run: CaseRun) -> None:
    """While all servers live an error stays unchanged."""
    error = ClusterError("a topic", seen="no answer")
    assert run.cause_of(error) is error
    interrupt = KeyboardInterrupt()
    assert run.cause_of(interrupt) is interrupt


def test_unseen_frames_make_the_case_invalid(run: CaseRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames that a relay did not see make the case invalid."""
    report = WireReport("the wire: 2 attempts", unseen=("a frame of 9 MiB", "another"))
    scenario = SimpleNamespace(settings=ClientSettings(), group=None)
    pair = SimpleNamespace(baseline=SubjectId("java", "5.3.3"), candidate=SubjectId("java", "5.5.0"))
    run.case = cast("Any", SimpleNamespace(scenario=scenario, plan=None, id=pair))
    run.programs = {
        CANDIDATE: cast("Any", SimpleNamespace(transcript=SimpleNamespace(hello=None, sends=[], attempts=[])))
    }
    run.relays = cast("Any", None)
    monkeypatch.setattr(WireWitness, "report_of", lambda *_: report)
    run.role.report_wire()
    assert run.wire == {CANDIDATE: report}
    assert run.problems == {"wire candidate": "2 frames of candidate were not all seen: a frame of 9 MiB"}


@pytest.fixture
def ended_run(run: CaseRun, monkeypatch: pytest.MonkeyPatch) -> CaseRun:
    """A case without clients, whose schedule has two problems when stopped."""
    idle = SimpleNamespace(all=(), security=OPEN, require_alive=lambda: None, rest=lambda: None)
    ended = SimpleNamespace(stop=lambda: None, join=lambda: SimpleNamespace(problems=["not proven", "not healed"]))
    for name in ("CaseRelays", "StallWatch", "ConnectionWatch", "ResourceWatch"):
        monkeypatch.setattr(f"rocketdiff.run.case.case_run.{name}", lambda *_, **__: nullcontext(idle))
    monkeypatch.setattr("rocketdiff.run.case.case_run.ScheduleThread", lambda *_: ended)
    _replace_drain(monkeypatch, lambda *_: QUIET)
    monkeypatch.setattr(CaseRun, "_subject", lambda *_: nullcontext(_silent()))
    monkeypatch.setattr(CaseRun, "_connection_watch", lambda _: nullcontext(idle))
    monkeypatch.setattr(CaseRun, "_go", lambda *_: None)
    monkeypatch.setattr(SendingRun, "prepare", lambda _: None)
    run.pair = Pair.of(cast("Any", None), cast("Any", None))
    run.case = cast("Any", SimpleNamespace(plan=run.case.plan, faults=(), scenario=_SCENARIO))
    return run


QUIET = Drained({("T", "broker-a", 0): 7}, 1)

_SCENARIO = SimpleNamespace(
    role=ClientRole.PRODUCER, group=None, queues_per_broker=4, ordered=False, settings=ClientSettings()
)


def _silent() -> SimpleNamespace:
    done = {"await_hello": lambda: None, "prepare": lambda *_: None, "await_ready": lambda: None}
    state: dict[str, Any] = {
        "stop": lambda _: False,
        "pid": 1,
        "member": BASELINE,
        "broken": None,
        "is_over": True,
        "ended": 0,
    }
    return SimpleNamespace(transcript=SimpleNamespace(hello=None), await_done=lambda _: None, **done, **state)


def test_faults_that_could_not_be_shown_make_the_case_invalid(ended_run: CaseRun) -> None:
    """Every problem of the fault schedule makes the case invalid."""
    play(ended_run)
    assert ended_run.problems == {"fault 0": "not proven", "fault 1": "not healed"}


def test_a_drain_beside_idle_clients_is_repeated_after_their_end(
    ended_run: CaseRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A short wait for drain while clients are idle is repeated after their end, which decides."""
    asked: list[tuple[tuple[float, ...], Drained | None]] = []

    def drained(_cluster: object, _topics: object, *limits: float, before: Drained | None = None) -> Drained:
        asked.append((limits, before))
        if before is not None:
            raise ClusterError("an end", seen="more writes")
        return QUIET

    _replace_drain(monkeypatch, drained)
    play(ended_run)
    ended_run.role.read_back()
    assert not ended_run.is_read_back
    assert asked == [((DRAIN_MEANWHILE_S,), None), ((), QUIET)]


@pytest.mark.parametrize("is_leaving_work", [False, True])
def test_members_rest_beside_the_beginning_of_the_next_case(
    is_leaving_work: bool, ended_run: CaseRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not where their leaving is compared."""
    rested: list[str] = []
    monkeypatch.setattr(SendingRun, "is_leaving_work", is_leaving_work)
    monkeypatch.setattr(SendingRun, "drain_meanwhile", lambda _: rested.append("rested"))
    with ExitStack() as stack:
        ended_run.start(stack)
        ended_run.begin()
        ended_run.work()
        assert bool(rested) is is_leaving_work
        ended_run.end()
    assert rested == ["rested"]


def test_brokers_that_are_still_busy_while_clients_are_at_rest_are_waited_for_later(
    ended_run: CaseRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Brokers still busy while clients are idle are no problem yet."""
    _replace_drain(monkeypatch, failing(ClusterError("an end", seen="more writes")))
    play(ended_run)
    assert cast("SendingRun", ended_run.role).drained is None
    assert "read-back" not in ended_run.problems


def test_behind_relays_brokers_are_waited_for_when_these_are_closed(
    ended_run: CaseRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With relays drain is awaited after they are closed, because a relay may forward later."""
    asked: list[object] = []
    _replace_drain(monkeypatch, lambda *given: asked.append(given))
    idle = SimpleNamespace(all=("one",), security=OPEN, require_alive=lambda: None)
    monkeypatch.setattr("rocketdiff.run.case.case_run.CaseRelays", lambda *_, **__: nullcontext(idle))
    monkeypatch.setattr("rocketdiff.run.case.case_run.with_relays", lambda *_: None)
    play(ended_run)
    assert asked == []


@pytest.mark.parametrize("name", ["broker-b", "name-server-1"])
def test_a_server_that_dies_while_clients_send_makes_the_case_invalid(
    name: str, ended_run: CaseRun, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that dies without a planned kill makes the case invalid."""
    monkeypatch.setattr(SendingRun, "await_end", lambda _: cluster.states.update({name: NodeState.GONE}))
    play(ended_run)
    assert ended_run.problems[name].startswith(f"{name} died by itself: ")


def test_a_broker_that_the_plan_kills_did_not_die_by_itself(ended_run: CaseRun, cluster: FakeCluster) -> None:
    """A broker killed by the plan is no problem."""
    ended_run.case = cast("Any", SimpleNamespace(faults=(SimpleNamespace(node="broker-b", kind=FaultKind.KILL),)))
    cluster.states["broker-b"] = NodeState.GONE
    ended_run.look_for_deaths()
    assert ended_run.problems == {}
