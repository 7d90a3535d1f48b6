"""
A name server is frozen: clients keep the routes they have, learn no new ones, and wait for its answers.

Brokers go on; their registrations wait in its socket and are read when it goes on.
"""

from rocketdiff.cluster.faults.proof import node_named, prove_answer, prove_silence
from rocketdiff.cluster.faults.record import healed, injected
from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.fault import FaultRecord, FaultSpec


def inject(cluster: Cluster, spec: FaultSpec) -> FaultRecord:
    """
    Pause the name server and prove it.

    Raises UnprovenFault, and UsageError for a node that is no name server.
    """
    node = node_named(cluster, cluster.topology.name_server_named(spec.node))
    return injected(spec, node.name, lambda: cluster.pause(node.name), lambda: prove_silence(node, spec.for_s))


def heal(cluster: Cluster, record: FaultRecord) -> FaultRecord:
    """
    Resume the name server and prove it; the record with its healing.

    Raises UnprovenFault.
    """
    node = node_named(cluster, record.node)
    return healed(record, lambda: cluster.resume(node.name), lambda: prove_answer(node))
