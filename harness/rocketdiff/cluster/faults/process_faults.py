"""
Faults of a process: it is paused (stopped by the system, resumed later) or killed (ended without notice, started again).

A paused broker: its kernel goes on accepting connections and bytes, and nothing answers. What piled up is read, and stored,
when it goes on: sends that a client reported as failed may appear then.

A paused name server: clients keep the routes they have, learn no new ones, and wait for its answers. Brokers go on; their
registrations wait in its socket.

A paused slave: its master goes on, keeps its connection, and waits for it in vain if it waits at all. A SYNC_MASTER answers
sends after ``slaveTimeout`` with FLUSH_SLAVE_TIMEOUT, and the message is stored; an ASYNC_MASTER answers as ever.

A killed broker: connections are reset or closed, its port refuses new ones. Name servers drop it from the routes at once,
because its connection to them closes. Its data stays; healing starts it again at the same address, and ``healed_ns`` is when
it served and all name servers had its topics.

A killed slave: its master loses the connection over which it copied. A SYNC_MASTER of 4.x then answers SLAVE_NOT_AVAILABLE
at once; one of 5.x knows no such answer any more, waits for ``slaveTimeout`` and says FLUSH_SLAVE_TIMEOUT. The message is
stored either way. The healing of a slave is proven when it holds again what its master stores.
"""

from collections.abc import Callable
from dataclasses import dataclass

from rocketdiff.cluster.faults.proof import node_named, prove_answer, prove_copied, prove_refusal, prove_silence
from rocketdiff.cluster.faults.record import Fault, healed, injected
from rocketdiff.cluster.interface import Cluster, Node, Span
from rocketdiff.core.fault import FaultKind, FaultRecord, FaultSpec, Means
from rocketdiff.core.topology import Role


@dataclass(frozen=True, slots=True)
class _Means:
    """How a process is hit and made whole, and what shows that it is hit."""

    act: Callable[[Cluster, str], Span]
    undo: Callable[[Cluster, str], Span]
    prove: Callable[[Node, FaultSpec], int]


_MEANS = {
    Means.PAUSE: _Means(
        act=lambda cluster, name: cluster.pause(name),
        undo=lambda cluster, name: cluster.resume(name),
        prove=lambda node, spec: prove_silence(node, spec.for_s),
    ),
    Means.KILL: _Means(
        act=lambda cluster, name: cluster.kill(name),
        undo=lambda cluster, name: cluster.restart(name),
        prove=lambda node, _: prove_refusal(node),
    ),
}


def _fault(means: _Means, role: Role) -> Fault:
    def inject(cluster: Cluster, spec: FaultSpec) -> FaultRecord:
        node = node_named(cluster, cluster.topology.node_named(role, spec.node))
        return injected(spec, node.name, lambda: means.act(cluster, node.name), lambda: means.prove(node, spec))

    def heal(cluster: Cluster, record: FaultRecord) -> FaultRecord:
        node = node_named(cluster, record.node)
        return healed(record, lambda: means.undo(cluster, node.name), lambda: _prove_over(cluster, node))

    return Fault(inject, heal)


def _prove_over(cluster: Cluster, node: Node) -> int:
    return prove_copied(cluster, node) if node.role is Role.SLAVE else prove_answer(node)


PROCESS_FAULTS = {
    kind: _fault(_MEANS[kind.traits.means], kind.traits.role) for kind in FaultKind if kind.traits.means in _MEANS
}
