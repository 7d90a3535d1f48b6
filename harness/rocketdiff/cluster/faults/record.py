"""The interface of a fault for the schedule, and the record of an action with its proof, complete or not."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from rocketdiff.cluster.interface import Cluster, Span
from rocketdiff.core.errors import ClusterError, FaultNotProven
from rocketdiff.core.tables.fault import FaultRecord, FaultSpec


@dataclass(frozen=True, slots=True)
class FaultAction:
    """
    The two halves of a fault; both prove their effect or raise UnprovenFault.

    inject raises UsageError for a node that is not in the topology.
    """

    inject: Callable[[Cluster, FaultSpec], FaultRecord]
    heal: Callable[[Cluster, FaultRecord], FaultRecord]


_CAUSES = (FaultNotProven, ClusterError)  # no effect on clients; no effect on the process


class UnprovenFault(FaultNotProven):
    """A fault or healing that was not proven. record: what is known, without the proof."""

    def __init__(self, record: FaultRecord, cause: FaultNotProven | ClusterError) -> None:
        hint = cause.hint or "run the case again when the machine is less busy"
        super().__init__(cause.expected, seen=cause.seen, hint=hint)
        self.record = record


def injected(spec: FaultSpec, node_name: str, act: Callable[[], Span], prove: Callable[[], int]) -> FaultRecord:
    """Inject a fault and prove it. Raises UnprovenFault."""
    span = _span_so_far()
    try:
        span = act()
        proven_ns = prove()
    except _CAUSES as error:
        raise UnprovenFault(_record(spec, node_name, span, None), error) from error
    return _record(spec, node_name, span, proven_ns)


def healed(record: FaultRecord, act: Callable[[], Span], prove: Callable[[], int]) -> FaultRecord:
    """Heal a fault and prove it; return the record with its healing. Raises UnprovenFault."""
    span = _span_so_far()
    try:
        span = act()
        proven_ns = prove()
    except _CAUSES as error:
        raise UnprovenFault(replace(record, heal_ns=span.begin_ns, healed_ns=span.end_ns), error) from error
    return replace(record, heal_ns=span.begin_ns, healed_ns=span.end_ns, heal_proven_ns=proven_ns)


def _span_so_far() -> Span:
    """Times for an action that raised before it returned its own."""
    now_ns = time.monotonic_ns()
    return Span(now_ns, now_ns)


def _record(spec: FaultSpec, node_name: str, span: Span, proven_ns: int | None) -> FaultRecord:
    return FaultRecord(spec.episode, spec.kind, node_name, span.begin_ns, span.end_ns, proven_ns)
