"""
A name server is frozen: clients keep the routes they have, learn no new ones, and wait for its answers.

Brokers go on; their registrations wait in its socket and are read when it goes on.
"""

from harness.cluster.faults.pausing import freeze, thaw
from harness.cluster.interface import Cluster
from harness.core.fault import FaultRecord, FaultSpec


def inject(cluster: Cluster, spec: FaultSpec) -> FaultRecord:
    """
    Pause the name server and prove it.

    Raises UnprovenFault, and UsageError for a node that is no name server.
    """
    return freeze(cluster, spec, cluster.topology.name_server_named(spec.node))


def heal(cluster: Cluster, record: FaultRecord) -> FaultRecord:
    """
    Resume the name server and prove it; the record with its healing.

    Raises UnprovenFault.
    """
    return thaw(cluster, record)
