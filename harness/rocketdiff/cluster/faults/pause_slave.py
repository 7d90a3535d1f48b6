"""
A slave is frozen: its master goes on, keeps its connection, and waits for it in vain if it waits at all.

Clients do not speak to slaves. A SYNC_MASTER answers their sends after ``slaveTimeout`` with FLUSH_SLAVE_TIMEOUT, and the
message is stored; an ASYNC_MASTER answers as ever.
"""

from rocketdiff.cluster.faults.proof import node_named, prove_copied, prove_silence
from rocketdiff.cluster.faults.record import healed, injected
from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.fault import FaultRecord, FaultSpec


def inject(cluster: Cluster, spec: FaultSpec) -> FaultRecord:
    """
    Pause the slave and prove it.

    Raises UnprovenFault, and UsageError for a node that is no slave.
    """
    node = node_named(cluster, cluster.topology.slave_named(spec.node))
    return injected(spec, node.name, lambda: cluster.pause(node.name), lambda: prove_silence(node, spec.for_s))


def heal(cluster: Cluster, record: FaultRecord) -> FaultRecord:
    """
    Resume the slave and prove that it gets again what its master stores.

    Raises UnprovenFault.
    """
    node = node_named(cluster, record.node)
    return healed(record, lambda: cluster.resume(node.name), lambda: prove_copied(cluster, node))
