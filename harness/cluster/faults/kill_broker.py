"""
A broker's process is ended without notice: connections are reset or closed, its port refuses new ones.

Name servers drop it from the routes at once, because its connection to them closes. Its data stays; healing starts it
again at the same address.
"""

import time
from dataclasses import replace

from harness.cluster.faults.proof import PROOF_ERRORS, UnprovenFault, node_named, prove_answer, prove_refusal
from harness.cluster.interface import Cluster
from harness.core.fault import FaultRecord, FaultSpec


def inject(cluster: Cluster, spec: FaultSpec) -> FaultRecord:
    """
    Kill the broker and prove it.

    Raises UnprovenFault, and UsageError for a node that is no broker.
    """
    node = node_named(cluster, cluster.topology.broker_named(spec.node))
    inject_ns = time.monotonic_ns()
    injected_ns = None
    try:
        cluster.kill(node.name)
        injected_ns = time.monotonic_ns()
        proven_ns = prove_refusal(node)
    except PROOF_ERRORS as error:
        record = FaultRecord(spec.episode, spec.kind, node.name, inject_ns, injected_ns or time.monotonic_ns(), None)
        raise UnprovenFault(record, error.expected, seen=error.seen) from error
    return FaultRecord(spec.episode, spec.kind, node.name, inject_ns, injected_ns, proven_ns)


def heal(cluster: Cluster, record: FaultRecord) -> FaultRecord:
    """
    Start the broker again and prove it; ``healed_ns`` is when it served and all name servers had its topics.

    Raises UnprovenFault.
    """
    node = node_named(cluster, record.node)
    heal_ns = time.monotonic_ns()
    healed_ns = None
    try:
        cluster.restart(record.node)
        healed_ns = time.monotonic_ns()
        proven_ns = prove_answer(node)
    except PROOF_ERRORS as error:
        unproven = replace(record, heal_ns=heal_ns, healed_ns=healed_ns)
        raise UnprovenFault(unproven, error.expected, seen=error.seen) from error
    return replace(record, heal_ns=heal_ns, healed_ns=healed_ns, heal_proven_ns=proven_ns)
