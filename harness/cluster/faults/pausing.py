"""What pauses of brokers and of name servers have in common: freeze, show it, go on, show it."""

import time
from dataclasses import replace

from harness.cluster.faults.proof import PROOF_ERRORS, UnprovenFault, node_named, prove_answer, prove_silence
from harness.cluster.interface import Cluster
from harness.core.fault import FaultRecord, FaultSpec


def freeze(cluster: Cluster, spec: FaultSpec, name: str) -> FaultRecord:
    """
    Pause a node and prove it; ``injected_ns`` is when the backend had seen it frozen.

    Raises UnprovenFault.
    """
    node = node_named(cluster, name)
    inject_ns = time.monotonic_ns()
    injected_ns = None
    try:
        cluster.pause(name)
        injected_ns = time.monotonic_ns()
        proven_ns = prove_silence(node, spec.for_s)
    except PROOF_ERRORS as error:
        record = FaultRecord(spec.episode, spec.kind, name, inject_ns, injected_ns or time.monotonic_ns(), None)
        raise UnprovenFault(record, error.expected, seen=error.seen) from error
    return FaultRecord(spec.episode, spec.kind, name, inject_ns, injected_ns, proven_ns)


def thaw(cluster: Cluster, record: FaultRecord) -> FaultRecord:
    """
    Resume a node and prove it; ``healed_ns`` is when the backend had seen it run.

    Raises UnprovenFault.
    """
    node = node_named(cluster, record.node)
    heal_ns = time.monotonic_ns()
    healed_ns = None
    try:
        cluster.resume(record.node)
        healed_ns = time.monotonic_ns()
        proven_ns = prove_answer(node)
    except PROOF_ERRORS as error:
        unproven = replace(record, heal_ns=heal_ns, healed_ns=healed_ns)
        raise UnprovenFault(unproven, error.expected, seen=error.seen) from error
    return replace(record, heal_ns=heal_ns, healed_ns=healed_ns, heal_proven_ns=proven_ns)
