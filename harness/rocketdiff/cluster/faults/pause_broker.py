"""
A broker is frozen: its kernel goes on accepting connections and bytes, and nothing answers.

What piled up is read, and stored, when it goes on: sends that a client reported as failed may appear then.
"""

from rocketdiff.cluster.faults.proof import node_named, prove_answer, prove_silence
from rocketdiff.cluster.faults.record import healed, injected
from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.fault import FaultRecord, FaultSpec


def inject(cluster: Cluster, spec: FaultSpec) -> FaultRecord:
    """
    Pause the broker and prove it.

    Raises UnprovenFault, and UsageError for a node that is no broker.
    """
    node = node_named(cluster, cluster.topology.broker_named(spec.node))
    return injected(spec, node.name, lambda: cluster.pause(node.name), lambda: prove_silence(node, spec.for_s))


def heal(cluster: Cluster, record: FaultRecord) -> FaultRecord:
    """
    Resume the broker and prove it; the record with its healing.

    Raises UnprovenFault.
    """
    node = node_named(cluster, record.node)
    return healed(record, lambda: cluster.resume(node.name), lambda: prove_answer(node))
