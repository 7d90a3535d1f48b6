"""
A broker that flushes before it acknowledges gives the disk no time: sends are stored and answered FLUSH_DISK_TIMEOUT.

Its patience (``syncFlushTimeout``) is made negative. The watcher of deadlines is told of a message before the flush is, so
it is nearly always first; now and then a flush still wins and a send is answered SEND_OK (0 to 6 of 150 seen).
"""

from rocketdiff.cluster.faults.proof import node_named
from rocketdiff.cluster.faults.record import healed, injected
from rocketdiff.cluster.faults.setting import answered_with_status, changed, on_channels
from rocketdiff.cluster.interface import Cluster, Node
from rocketdiff.cluster.operations import admin
from rocketdiff.core.fault import FaultRecord, FaultSpec
from rocketmq_reference.connections.channels import Channels
from rocketmq_reference.remoting.answers import SendStatus

_DEFAULT_MS = 5_000
_NONE_MS = -1


def inject(cluster: Cluster, spec: FaultSpec) -> FaultRecord:
    """
    Take the broker's patience; shown by a probe's status.

    Raises UnprovenFault, also for a broker that flushes later anyway, and UsageError for a node that is no broker.
    """
    node = node_named(cluster, cluster.topology.broker_named(spec.node))
    act = on_channels(lambda channels: _set(channels, node, _NONE_MS))
    prove = on_channels(lambda channels: answered_with_status(channels, node, SendStatus.FLUSH_DISK_TIMEOUT))
    return injected(spec, node.name, lambda: changed(act), prove)


def heal(cluster: Cluster, record: FaultRecord) -> FaultRecord:
    """
    Give it back; shown by a probe's status.

    Raises UnprovenFault.
    """
    node = node_named(cluster, record.node)
    act = on_channels(lambda channels: _set(channels, node, _DEFAULT_MS))
    prove = on_channels(lambda channels: answered_with_status(channels, node, SendStatus.SEND_OK))
    return healed(record, lambda: changed(act), prove)


def _set(channels: Channels, node: Node, timeout_ms: int) -> None:
    admin.update_settings(channels, node.address, {"syncFlushTimeout": timeout_ms})
