"""
A broker is frozen: its kernel goes on accepting connections and bytes, and nothing answers.

What piled up is read, and stored, when it goes on: sends that a client reported as failed may appear then.
"""

from harness.cluster.faults.pausing import freeze, thaw
from harness.cluster.interface import Cluster
from harness.core.fault import FaultRecord, FaultSpec


def inject(cluster: Cluster, spec: FaultSpec) -> FaultRecord:
    """
    Pause the broker and prove it.

    Raises UnprovenFault, and UsageError for a node that is no broker.
    """
    return freeze(cluster, spec, cluster.topology.broker_named(spec.node))


def heal(cluster: Cluster, record: FaultRecord) -> FaultRecord:
    """
    Resume the broker and prove it; the record with its healing.

    Raises UnprovenFault.
    """
    return thaw(cluster, record)
