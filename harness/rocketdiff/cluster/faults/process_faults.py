"""
Faults of a process: paused (stopped, resumed later) or killed (and restarted later).

Paused broker: its kernel still accepts connections and bytes, but nothing answers. After the resume it reads and stores the
queued requests: sends that a client reported as failed may then appear.

Paused name server: clients keep their routes, get no new ones, and wait for its responses. Registrations of brokers wait in its
socket.

Paused slave: its master keeps the connection. A SYNC_MASTER answers sends after ``slaveTimeout`` with FLUSH_SLAVE_TIMEOUT, and
the message is stored; an ASYNC_MASTER answers as usual.

Killed broker: connections are reset or closed, new ones refused. Name servers remove it from the routes at once, because its
connection to them closes. Its data stays; healing restarts it at the same address. ``healed_ns`` is the time when it served and
all name servers had its topics.

Moved broker: killed, and restarted under its name, with its data, at another address, of which clients learn by the route. Its old
address refuses connections for the rest of the cluster's life.

Killed slave: its master loses the replication connection. A SYNC_MASTER of 4.x then answers SLAVE_NOT_AVAILABLE at once; one of
5.x answers FLUSH_SLAVE_TIMEOUT after ``slaveTimeout``. The message is stored in both cases. Healing is proven when the slave
holds again what its master stores.
"""

from collections.abc import Callable
from dataclasses import dataclass

from rocketdiff.cluster.faults.proof import prove_answer, prove_copied, prove_moved, prove_refusal, prove_silence
from rocketdiff.cluster.faults.record import FaultAction, healed, injected
from rocketdiff.cluster.interface import Cluster, Node, Span, node_named
from rocketdiff.core.tables.fault import FaultKind, FaultRecord, FaultSpec, Means
from rocketdiff.core.tables.topology import NodeKind


@dataclass(frozen=True, slots=True)
class _Means:
    """The injection, healing and proof of a pause or kill."""

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


def _fault(means: _Means, role: NodeKind) -> FaultAction:
    def inject(cluster: Cluster, spec: FaultSpec) -> FaultRecord:
        node = node_named(cluster, cluster.topology.node_named(role, spec.node))
        return injected(spec, node.name, lambda: means.act(cluster, node.name), lambda: means.prove(node, spec))

    def heal(cluster: Cluster, record: FaultRecord) -> FaultRecord:
        node = node_named(cluster, record.node)
        return healed(record, lambda: means.undo(cluster, node.name), lambda: _prove_over(cluster, node))

    return FaultAction(inject, heal)


def _prove_over(cluster: Cluster, node: Node) -> int:
    return prove_copied(cluster, node) if node.role is NodeKind.SLAVE else prove_answer(node)


def move_fault(announce: Callable[[Node], None] = lambda _moved: None) -> FaultAction:
    """Return the move of a broker. announce: as in ``Cluster.restart_elsewhere``."""

    def heal(cluster: Cluster, record: FaultRecord) -> FaultRecord:
        left = node_named(cluster, record.node)
        return healed(
            record, lambda: cluster.restart_elsewhere(left.name, announce), lambda: prove_moved(cluster, left)
        )

    return FaultAction(_fault(_MEANS[Means.KILL], FaultKind.MOVE.traits.node).inject, heal)


PROCESS_FAULTS = {
    **{kind: _fault(_MEANS[kind.traits.means], kind.traits.node) for kind in FaultKind if kind.traits.means in _MEANS},
    FaultKind.MOVE: move_fault(),
}
