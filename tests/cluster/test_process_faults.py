"""Actions and proofs of each process fault, on a cluster without servers."""

import pytest

from rocketdiff.cluster.faults import process_faults
from rocketdiff.cluster.faults.catalogue import FAULTS
from rocketdiff.cluster.interface import Cluster, Node
from rocketdiff.core.errors import UsageError
from rocketdiff.core.tables.fault import FaultKind, FaultSpec
from rocketdiff.core.tables.topology import NodeKind, Topology, topology_named
from tests.cluster.fakes import FakeCluster

IN_FORCE, OVER = 11, 22


@pytest.fixture
def proofs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the requested proofs in order."""
    asked: list[str] = []

    def silence(node: Node, for_s: float | None) -> int:
        asked.append(f"silence of {node.name} within {for_s} s")
        return IN_FORCE

    def refusal(node: Node) -> int:
        asked.append(f"refusal by {node.name}")
        return IN_FORCE

    def answer(node: Node) -> int:
        asked.append(f"answer of {node.name}")
        return OVER

    def copied(cluster: Cluster, node: Node) -> int:
        asked.append(f"copy on {node.name}")
        return OVER

    monkeypatch.setattr(process_faults, "prove_silence", silence)
    monkeypatch.setattr(process_faults, "prove_refusal", refusal)
    monkeypatch.setattr(process_faults, "prove_answer", answer)
    monkeypatch.setattr(process_faults, "prove_copied", copied)
    return asked


class WithSlaves(FakeCluster):
    """Each master has a slave."""

    @property
    def topology(self) -> Topology:
        return topology_named("two-masters-with-slaves-sync")

    @property
    def slaves(self) -> tuple[Node, ...]:
        return tuple(Node(NodeKind.SLAVE, f"{a}-slave-1", f"broker-{a}-slave-1", "127.0.0.1:1", None) for a in "ab")


@pytest.mark.parametrize(
    ("kind", "text", "done", "proven"),
    [
        (
            FaultKind.PAUSE,
            "b",
            ["pause broker-b", "resume broker-b"],
            ["silence of broker-b within 2.0 s", "answer of broker-b"],
        ),
        (FaultKind.KILL, "b", ["kill broker-b", "restart broker-b"], ["refusal by broker-b", "answer of broker-b"]),
        (
            FaultKind.PAUSE_NAME_SERVER,
            "1",
            ["pause name-server-1", "resume name-server-1"],
            ["silence of name-server-1 within 2.0 s", "answer of name-server-1"],
        ),
        (
            FaultKind.PAUSE_SLAVE,
            "a-slave-1",
            ["pause broker-a-slave-1", "resume broker-a-slave-1"],
            ["silence of broker-a-slave-1 within 2.0 s", "copy on broker-a-slave-1"],
        ),
        (
            FaultKind.KILL_SLAVE,
            "a-slave-1",
            ["kill broker-a-slave-1", "restart broker-a-slave-1"],
            ["refusal by broker-a-slave-1", "copy on broker-a-slave-1"],
        ),
    ],
)
def test_a_process_is_hit_and_made_whole_and_both_are_proven(
    proofs: list[str], kind: FaultKind, text: str, done: list[str], proven: list[str]
) -> None:
    """Each process fault and its healing are proven; a slave is healed once it has its master's messages."""
    cluster = WithSlaves()
    record = FAULTS[kind].inject(cluster, FaultSpec(1, kind, text, 0.0, 2.0))
    assert (record.kind, record.proven_ns, record.heal_proven_ns) == (kind, IN_FORCE, None)
    healed = FAULTS[kind].heal(cluster, record)
    assert (healed.proven_ns, healed.heal_proven_ns) == (IN_FORCE, OVER)
    assert (cluster.done, proofs) == (done, proven)


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
