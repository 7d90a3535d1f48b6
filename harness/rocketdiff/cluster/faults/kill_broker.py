"""
A broker's process is ended without notice: connections are reset or closed, its port refuses new ones.

Name servers drop it from the routes at once, because its connection to them closes. Its data stays; healing starts it
again at the same address.
"""

from rocketdiff.cluster.faults.proof import node_named, prove_answer, prove_refusal
from rocketdiff.cluster.faults.record import healed, injected
from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.fault import FaultRecord, FaultSpec


def inject(cluster: Cluster, spec: FaultSpec) -> FaultRecord:
    """
    Kill the broker and prove it.

    Raises UnprovenFault, and UsageError for a node that is no broker.
    """
    node = node_named(cluster, cluster.topology.broker_named(spec.node))
    return injected(spec, node.name, lambda: cluster.kill(node.name), lambda: prove_refusal(node))


def heal(cluster: Cluster, record: FaultRecord) -> FaultRecord:
    """
    Start the broker again and prove it; ``healed_ns`` is when it served and all name servers had its topics.

    Raises UnprovenFault.
    """
    node = node_named(cluster, record.node)
    return healed(record, lambda: cluster.restart(node.name), lambda: prove_answer(node))
