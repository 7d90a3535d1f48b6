"""Actions and proofs of each process fault, on a cluster without servers."""

from collections.abc import Callable

import pytest

from rocketdiff.cluster.faults import process_faults
from rocketdiff.cluster.faults.catalogue import FAULTS
from rocketdiff.cluster.interface import Node
from rocketdiff.core.errors import UsageError
from rocketdiff.core.tables.fault import FaultKind, FaultSpec
from rocketdiff.core.tables.topology import NodeKind, Topology, topology_named
from tests.cluster.fakes import FakeCluster

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
