"""Actions and proofs of each process fault, on a cluster without servers, or of programs that sleep."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from rocketdiff.cluster.faults import process_faults
from rocketdiff.cluster.faults import schedule as schedule_module
from rocketdiff.cluster.faults.catalogue import FAULTS
from rocketdiff.cluster.faults.record import FaultAction
from rocketdiff.cluster.faults.schedule import run_schedule
from rocketdiff.cluster.interface import Cluster, Node, NodeState, node_named, nodes_of
from rocketdiff.cluster.launched.cluster import LaunchedCluster
from rocketdiff.cluster.launched.node_slot import reserve_slots
from rocketdiff.cluster.processes.servers import ProcessServers
from rocketdiff.cluster.processes.supervisor_client import SupervisorClient
from rocketdiff.core.errors import UsageError
from rocketdiff.core.tables.fault import FaultKind, FaultRecord, FaultSpec
from rocketdiff.core.tables.topology import NodeKind, Topology, topology_named
from rocketdiff.run.case.guards import guards_of
from tests.cluster.fakes import MOVED_TO, FakeCluster
from tests.cluster.test_supervisor_client import SLEEPER
from tests.live import await_that
from tests.run.test_guards import SOUND

if TYPE_CHECKING:
    from rocketdiff.cluster.launched.command_line import Installation

IN_FORCE, OVER = 11, 22


@pytest.fixture
def proofs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the requested proofs in order."""
    asked: list[str] = []

    def prove(proof: str, result_ns: int) -> Callable[..., int]:
        def note(*given: object) -> int:
            (node,) = (one for one in given if isinstance(one, Node))
            asked.append(proof.format(node.name, *given))
            return result_ns

        return note

    monkeypatch.setattr(process_faults, "prove_silence", prove("silence of {0} within {2} s", IN_FORCE))
    monkeypatch.setattr(process_faults, "prove_refusal", prove("refusal by {0}", IN_FORCE))
    monkeypatch.setattr(process_faults, "prove_answer", prove("answer of {0}", OVER))
    monkeypatch.setattr(process_faults, "prove_copied", prove("copy on {0}", OVER))
    monkeypatch.setattr(process_faults, "prove_moved", prove("move of {0}", OVER))
    return asked


class WithSlaves(FakeCluster):
    """Each master has a slave."""

    @property
    def topology(self) -> Topology:
        return topology_named("two-masters-with-slaves-sync")

    @property
    def slaves(self) -> tuple[Node, ...]:
        return tuple(Node(NodeKind.SLAVE, f"{a}-slave-1", f"broker-{a}-slave-1", "127.0.0.1:1", None) for a in "ab")


PAUSE, KILL = ("pause", "resume", "silence of {} within 2.0 s"), ("kill", "restart", "refusal by {}")


@pytest.mark.parametrize(
    ("kind", "text", "node", "acts", "over"),
    [
        (FaultKind.PAUSE, "b", "broker-b", PAUSE, "answer of {}"),
        (FaultKind.KILL, "b", "broker-b", KILL, "answer of {}"),
        (FaultKind.MOVE, "b", "broker-b", ("kill", "restart elsewhere", "refusal by {}"), "move of {}"),
        (FaultKind.PAUSE_NAME_SERVER, "1", "name-server-1", PAUSE, "answer of {}"),
        (FaultKind.PAUSE_SLAVE, "a-slave-1", "broker-a-slave-1", PAUSE, "copy on {}"),
        (FaultKind.KILL_SLAVE, "a-slave-1", "broker-a-slave-1", KILL, "copy on {}"),
    ],
)
def test_a_process_is_hit_and_made_whole_and_both_are_proven(
    proofs: list[str], kind: FaultKind, text: str, node: str, acts: tuple[str, str, str], over: str
) -> None:
    """Each process fault and its healing are proven; a slave is healed once it has its master's messages."""
    cluster, (inject, heal, in_force) = WithSlaves(), acts
    record = FAULTS[kind].inject(cluster, FaultSpec(1, kind, text, 0.0, 2.0))
    assert (record.kind, record.proven_ns, record.heal_proven_ns) == (kind, IN_FORCE, None)
    healed = FAULTS[kind].heal(cluster, record)
    assert (healed.proven_ns, healed.heal_proven_ns) == (IN_FORCE, OVER)
    assert cluster.done == [f"{inject} {node}", f"{heal} {node}"]
    assert proofs == [in_force.format(node), over.format(node)]


def test_the_new_address_of_a_moved_broker_is_announced(proofs: list[str]) -> None:
    """Whoever follows a broker, as a relay does, is given its new address."""
    announced: list[Node] = []
    cluster, move = FakeCluster(), process_faults.move_fault(announced.append)
    move.heal(cluster, move.inject(cluster, FaultSpec(1, FaultKind.MOVE, "a", 0.0, 2.0)))
    assert [(node.name, node.address) for node in announced] == [("broker-a", MOVED_TO)]
    assert proofs == ["refusal by broker-a", "move of broker-a"]


@pytest.mark.parametrize(
    ("kind", "text"), [(FaultKind.PAUSE, "1"), (FaultKind.KILL_SLAVE, "a"), (FaultKind.PAUSE_NAME_SERVER, "b")]
)
def test_a_node_of_another_kind_is_refused_before_anything_is_done(
    proofs: list[str], kind: FaultKind, text: str
) -> None:
    """A fault on a node of another role is refused."""
    cluster = WithSlaves()
    with pytest.raises(UsageError):
        FAULTS[kind].inject(cluster, FaultSpec(1, kind, text, 0.0, 2.0))
    assert (cluster.done, proofs) == ([], [])


@pytest.fixture
def sleepers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LaunchedCluster]:
    """A cluster whose processes sleep, and whose probes succeed."""
    for module in (process_faults, schedule_module):
        monkeypatch.setattr(module, "prove_answer", lambda _: time.monotonic_ns())
    monkeypatch.setattr(process_faults, "prove_silence", lambda *_: time.monotonic_ns())
    monkeypatch.setattr(ProcessServers, "_command", lambda *_: SLEEPER)
    monkeypatch.setattr(LaunchedCluster, "restart", lambda cluster, name: cluster._servers.launch(name))
    topology, installation = topology_named("two-masters"), cast("Installation", None)
    slots = reserve_slots(topology, tmp_path, None)
    servers = ProcessServers(slots, installation, SupervisorClient(tmp_path / "supervisor.log"), tmp_path)
    for slot in slots:
        slot.folder.mkdir()
        servers.launch(slot.name)
    with LaunchedCluster(topology, "5.3.3", servers) as cluster:
        yield cluster


@pytest.mark.parametrize(
    ("others", "seen"),
    [
        ((), None),
        ((signal.SIGSTOP,), None),
        ((signal.SIGCONT,), "another process has continued it"),
        ((signal.SIGCONT, signal.SIGSTOP), "another process has continued it"),
        ((signal.SIGKILL,), "it ended with status -9"),
    ],
    ids=["held", "stopped again", "continued", "continued and stopped", "killed"],
)
@pytest.mark.parametrize("kind", [FaultKind.PAUSE, FaultKind.PAUSE_NAME_SERVER])
def test_a_pause_that_somebody_else_ends_makes_its_case_invalid(
    sleepers: LaunchedCluster, kind: FaultKind, others: tuple[signal.Signals, ...], seen: str | None
) -> None:
    """A paused server that another process continues just before the end, for whatever time, or kills, breaks two guards."""
    spec = FaultSpec(1, kind, "name-server-1" if kind is FaultKind.PAUSE_NAME_SERVER else "broker-b", 0.0, 0.05)

    def heal(cluster: Cluster, record: FaultRecord) -> FaultRecord:
        pid = node_named(cluster, record.node).pid
        assert pid is not None
        for number in others:
            os.kill(pid, number)
            wanted = {signal.SIGCONT: NodeState.RUNNING, signal.SIGKILL: NodeState.GONE}.get(number, NodeState.PAUSED)
            await_that(partial(_has_state, cluster, record.node, wanted), f"the effect of {number.name}")
        return FAULTS[kind].heal(cluster, record)

    faults = {kind: FaultAction(FAULTS[kind].inject, heal)}
    outcome = run_schedule(sleepers, [spec], time.monotonic_ns(), lambda _: None, threading.Event(), faults)
    scenario = replace(SOUND.case.scenario, faults=(spec,))
    facts = replace(
        SOUND,
        case=replace(SOUND.case, scenario=scenario),
        faults=outcome.records,
        problems=tuple(map(str, outcome.problems)),
        origin_ns=outcome.records[0].inject_ns,
    )
    named = [problem.seen.partition(" (")[0].partition(";")[0] for problem in outcome.problems]
    assert named == ([] if seen is None else [seen])
    assert {node.name: sleepers.state(node.name) for node in nodes_of(sleepers)} == dict.fromkeys(
        sleepers.topology.node_names, NodeState.RUNNING
    )
    assert [guard.name for guard in guards_of(facts) if not guard.held] == (["fault-1", "cluster"] if seen else [])


def _has_state(cluster: Cluster, node: str, wanted: NodeState) -> bool:
    return cluster.state(node) is wanted
