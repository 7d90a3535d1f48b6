"""
A slave's process is ended without notice: its master loses the connection over which it copied.

A SYNC_MASTER of 4.x then answers SLAVE_NOT_AVAILABLE at once; one of 5.x knows no such answer any more, waits for
``slaveTimeout`` and says FLUSH_SLAVE_TIMEOUT. The message is stored either way.
"""

from rocketdiff.cluster.faults.proof import node_named, prove_copied, prove_refusal
from rocketdiff.cluster.faults.record import healed, injected
from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.fault import FaultRecord, FaultSpec


def inject(cluster: Cluster, spec: FaultSpec) -> FaultRecord:
    """
    Kill the slave and prove it.

    Raises UnprovenFault, and UsageError for a node that is no slave.
    """
    node = node_named(cluster, cluster.topology.slave_named(spec.node))
    return injected(spec, node.name, lambda: cluster.kill(node.name), lambda: prove_refusal(node))


def heal(cluster: Cluster, record: FaultRecord) -> FaultRecord:
    """
    Start the slave again and prove that it has caught up.

    Raises UnprovenFault.
    """
    node = node_named(cluster, record.node)
    return healed(record, lambda: cluster.restart(node.name), lambda: prove_copied(cluster, node))
