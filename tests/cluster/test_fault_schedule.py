"""The fault schedule on a cluster without servers; proofs are faked."""

import threading
import time
from collections.abc import Callable

import pytest

from rocketdiff.cluster.faults import schedule as schedule_module
from rocketdiff.cluster.faults.record import FaultAction, healed, injected
from rocketdiff.cluster.faults.schedule import ScheduleThread, run_schedule
from rocketdiff.cluster.interface import Cluster, NodeState, Span
from rocketdiff.core.errors import ClusterError, FaultNotProven, UsageError
from rocketdiff.core.tables.fault import FaultKind, FaultRecord, FaultSpec
from tests.cluster.fakes import FakeCluster

MS = 1_000_000


def unproven() -> int:
    raise FaultNotProven("silence", seen="an answer")


def fault(
    do: Callable[[Cluster, str], Span],
    undo: Callable[[Cluster, str], Span],
    prove: Callable[[], int] = time.monotonic_ns,
) -> FaultAction:
    return FaultAction(
        lambda cluster, spec: injected(spec, spec.node, lambda: do(cluster, spec.node), prove),
        lambda cluster, record: healed(record, lambda: undo(cluster, record.node), time.monotonic_ns),
    )


def do_nothing(_cluster: Cluster, _name: str) -> Span:
    return Span(1, 1)


def pause_node(cluster: Cluster, name: str) -> Span:
    return cluster.pause(name)


def resume(cluster: Cluster, name: str) -> Span:
    return cluster.resume(name)


PAUSE = fault(pause_node, resume)
KILL = fault(lambda cluster, name: cluster.kill(name), lambda cluster, name: cluster.restart(name))
FLOW_CONTROL = FaultSpec(1, FaultKind.FLOW_CONTROL, "broker-a", 0.0, 0.0)
FAULTS = {FaultKind.PAUSE: PAUSE, FaultKind.KILL: KILL, FaultKind.PAUSE_NAME_SERVER: PAUSE}


def pause(episode: int, node: str, at_s: float, for_s: float | None) -> FaultSpec:
    return FaultSpec(episode, FaultKind.PAUSE, node, at_s, for_s)


@pytest.fixture(autouse=True)
def nodes_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every node answers at the end."""
    monkeypatch.setattr(schedule_module, "prove_answer", lambda _: time.monotonic_ns())


@pytest.fixture
def cluster() -> FakeCluster:
    return FakeCluster()


def run(
    cluster: FakeCluster,
    *specs: FaultSpec,
    faults: dict[FaultKind, FaultAction] = FAULTS,
    report: Callable[[FaultRecord], None] = lambda _: None,
    stop: threading.Event | None = None,
) -> schedule_module.ScheduleOutcome:
    return run_schedule(cluster, specs, time.monotonic_ns(), report, stop or threading.Event(), faults)


def test_episodes_of_one_node_come_one_after_the_other(cluster: FakeCluster) -> None:
    """Faults on one node run one after the other."""
    run(cluster, pause(2, "broker-b", 0.02, 0.01), pause(1, "broker-b", 0.0, 0.01))
    assert cluster.done == ["pause broker-b", "resume broker-b"] * 2


def test_nothing_begins_before_its_time_and_nothing_ends_early(cluster: FakeCluster) -> None:
    """A fault starts at its time after the origin and lasts its duration."""
    origin_ns = time.monotonic_ns()
    (record,) = run(cluster, pause(1, "broker-a", 0.02, 0.03)).records
    assert record.inject_ns >= origin_ns + 20 * MS
    assert record.heal_ns is not None
    assert record.heal_ns >= record.inject_ns + 30 * MS


def test_two_brokers_are_paused_at_once(cluster: FakeCluster) -> None:
    """Two brokers are paused at the same time."""
    both = threading.Barrier(2, timeout=10)

    def pause_and_meet(cluster: Cluster, name: str) -> Span:
        span = cluster.pause(name)
        both.wait()
        return span

    pauses = pause(1, "broker-a", 0.0, 0.01), pause(2, "broker-b", 0.0, 0.01)
    outcome = run(cluster, *pauses, faults={FaultKind.PAUSE: fault(pause_and_meet, resume)})
    assert sorted(cluster.done[:2]) == ["pause broker-a", "pause broker-b"]
    assert not outcome.problems


def test_every_fault_is_reported_at_its_start_and_end(cluster: FakeCluster) -> None:
    """Each fault is reported at its start and at its end."""
    reported: list[FaultRecord] = []
    run(cluster, pause(1, "broker-a", 0.0, 0.0), report=reported.append)
    begun, over = reported
    assert (begun.node, begun.heal_ns) == ("broker-a", None)
    assert over.heal_proven_ns is not None


def test_a_kill_without_end_lasts_until_stop_and_its_record_has_no_healing(cluster: FakeCluster) -> None:
    """A kill without end lasts until stop and has no healing; the broker is restarted for the next case."""
    stop = threading.Event()
    reported: list[FaultRecord] = []

    def listen(record: FaultRecord) -> None:
        reported.append(record)
        assert cluster.state("broker-a") is NodeState.GONE
        stop.set()

    outcome = run(cluster, FaultSpec(1, FaultKind.KILL, "broker-a", 0.0, None), report=listen, stop=stop)
    assert cluster.done == ["kill broker-a", "restart broker-a"]
    assert len(reported) == 1
    assert outcome.records == (reported[0],)
    assert outcome.records[0].heal_ns is None


def test_stop_ends_what_is_under_way_and_begins_nothing_more(cluster: FakeCluster) -> None:
    """Stop ends active faults and starts no more."""
    stop = threading.Event()
    specs = [pause(1, "broker-a", 0.0, 3_600.0), pause(2, "broker-b", 3_600.0, 1.0)]
    run(cluster, *specs, report=lambda _: stop.set(), stop=stop)
    assert cluster.done == ["pause broker-a", "resume broker-a"]


def test_a_fault_that_could_not_be_shown_is_data(cluster: FakeCluster) -> None:
    """A fault without proof is a problem, and the node is healed."""
    broken = {FaultKind.PAUSE: fault(pause_node, resume, unproven)}
    outcome = run(cluster, pause(1, "broker-a", 0.0, 0.0), faults=broken)
    (record,) = outcome.records
    assert record.proven_ns is None
    assert record.heal_proven_ns is not None
    assert [problem.seen for problem in outcome.problems] == ["an answer"]


def test_an_action_without_effect_is_data_too(cluster: FakeCluster) -> None:
    """A fault action that fails is a problem with what was seen."""

    def fail(cluster: Cluster, name: str) -> Span:
        raise ClusterError(f"{name} to stop", seen="it ended by itself")

    outcome = run(cluster, pause(1, "broker-a", 0.0, 0.0), faults={FaultKind.PAUSE: fault(fail, resume)})
    assert [problem.seen for problem in outcome.problems] == ["it ended by itself"]


def test_a_node_left_paused_by_its_fault_is_resumed_at_the_end(cluster: FakeCluster) -> None:
    """The end resumes a node that its fault's healing did not resume."""
    lazy = {FaultKind.PAUSE: fault(pause_node, do_nothing)}
    run(cluster, pause(1, "broker-a", 0.0, 0.0), faults=lazy)
    assert cluster.state("broker-a") is NodeState.RUNNING


def test_a_setting_that_was_not_undone_is_undone_once_more(cluster: FakeCluster) -> None:
    """A failed undo of a setting is repeated, because the process state does not show it; the case stays invalid."""
    tried: list[str] = []

    def undo(_cluster: Cluster, name: str) -> Span:
        tried.append(name)
        if len(tried) == 1:
            raise ClusterError("an answer", seen="none in time")
        return Span(1, 1)

    outcome = run(cluster, FLOW_CONTROL, faults={FaultKind.FLOW_CONTROL: fault(do_nothing, undo)})
    assert tried == ["broker-a", "broker-a"]
    assert [problem.seen for problem in outcome.problems] == ["none in time"]
    assert outcome.records[0].heal_proven_ns is None


def test_a_setting_that_cannot_be_undone_gives_the_cluster_up(cluster: FakeCluster) -> None:
    """A setting that cannot be undone raises an error: the next case would inherit it."""

    def undo(_cluster: Cluster, _name: str) -> Span:
        raise ClusterError("an answer", seen="none in time")

    with pytest.raises(ClusterError, match=r"the end of flow-control on broker-a .* none in time"):
        run(cluster, FLOW_CONTROL, faults={FaultKind.FLOW_CONTROL: fault(do_nothing, undo)})


def test_a_node_that_does_not_answer_in_the_end_is_a_problem(
    cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node that does not answer at the end is a problem even without faults."""
    monkeypatch.setattr(schedule_module, "prove_answer", lambda _: unproven())
    assert len(run(cluster).problems) == 3


def test_an_unknown_node_is_refused_before_anything_is_done(cluster: FakeCluster) -> None:
    """An unknown node is a usage error before any action."""
    with pytest.raises(UsageError):
        run(cluster, pause(1, "broker-a", 0.0, 0.0), pause(2, "broker-c", 0.0, 0.0))
    assert cluster.done == []


def test_a_listener_that_fails_is_raised_after_healing(cluster: FakeCluster) -> None:
    """A failed listener is raised only after all nodes are healed."""

    def broken(_: FaultRecord) -> None:
        raise OSError("disk full")

    schedule = ScheduleThread(cluster, [FaultSpec(1, FaultKind.PAUSE, "broker-a", 0.0, None)], 0, broken, FAULTS)
    with pytest.raises(OSError, match="disk full"):
        schedule.join()
    assert cluster.state("broker-a") is NodeState.RUNNING


def test_a_schedule_beside_the_caller_can_be_stopped_at_any_time(cluster: FakeCluster) -> None:
    """A schedule thread can be stopped at any time, twice."""
    specs = [pause(1, "broker-a", 3_600.0, 1.0)]
    schedule = ScheduleThread(cluster, specs, time.monotonic_ns(), lambda _: None, FAULTS)
    schedule.stop()
    schedule.stop()
    assert schedule.join().records == ()
