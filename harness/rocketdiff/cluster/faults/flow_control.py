"""
A broker controls the flow: every send is answered SYSTEM_BUSY ([REJECTREQUEST]) at once and nothing is stored.

It does so when the pool of buffers that messages wait in has none free (SendMessageProcessor.rejectRequest). A broker whose
``transientStorePoolEnable`` is switched on while it runs has a pool without any buffer, so this lasts exactly until the
setting is switched off again. Read in 4.9.7 and 5.3.3; all else a broker is asked it answers as ever.
"""

from rocketdiff.cluster.faults.proof import node_named
from rocketdiff.cluster.faults.record import healed, injected
from rocketdiff.cluster.faults.setting import answered_with, changed, on_channels, stored_again
from rocketdiff.cluster.interface import Cluster, Node
from rocketdiff.cluster.operations import admin
from rocketdiff.core.fault import FaultRecord, FaultSpec
from rocketmq_reference.connections.channels import Channels
from rocketmq_reference.remoting.codes import ResponseCode


def inject(cluster: Cluster, spec: FaultSpec) -> FaultRecord:
    """
    Make the broker busy; shown by SYSTEM_BUSY to a probe.

    Raises UnprovenFault, and UsageError for a node that is no broker.
    """
    node = node_named(cluster, cluster.topology.broker_named(spec.node))
    act = on_channels(lambda channels: _set(channels, node, is_busy=True))
    prove = on_channels(lambda channels: answered_with(channels, node, ResponseCode.SYSTEM_BUSY, admin.PROBE_TOPIC))
    return injected(spec, node.name, lambda: changed(act), prove)


def heal(cluster: Cluster, record: FaultRecord) -> FaultRecord:
    """
    Let the broker store again; shown by a stored probe.

    Raises UnprovenFault.
    """
    node = node_named(cluster, record.node)
    act = on_channels(lambda channels: _set(channels, node, is_busy=False))
    return healed(record, lambda: changed(act), on_channels(lambda c: stored_again(c, node, admin.PROBE_TOPIC)))


def _set(channels: Channels, node: Node, *, is_busy: bool) -> None:
    admin.update_settings(channels, node.address, {"transientStorePoolEnable": str(is_busy).lower()})
