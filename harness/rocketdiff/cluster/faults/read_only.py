"""
A broker loses its write permission (``brokerPermission=4``, as an operator takes it out of service), and gets it back.

It registers at once: the routes of all its topics lose the permission, and clients leave it at their next poll. A client with
an older route still sends, and the broker still stores. It refuses only sends to ordered topics, with NO_PERMISSION
(AbstractSendMessageProcessor.msgCheck, 4.9.7 and 5.3.3), so the proof uses an ordered topic. Brokers before 5.1.0 ignore that
attribute of a created topic; then the proof is the reported setting. Both functions raise UnprovenFault.
"""

import time

from rocketdiff.cluster.faults.record import healed, injected
from rocketdiff.cluster.faults.setting_faults import answered_with, changed, on_channels, stored_again
from rocketdiff.cluster.interface import Cluster, Node, node_named
from rocketdiff.cluster.operations import admin
from rocketdiff.core.errors import FaultNotProven
from rocketdiff.core.tables.fault import FaultRecord, FaultSpec
from rocketmq_reference.host.channels import Channels
from rocketmq_reference.remoting.codes import ResponseCode

ORDERED_PROBE_TOPIC = "rocketdiff-probe-ordered"

_FIRST_WITH_ORDERED = (5, 1, 0)

# A registration takes a few ms; it was sent before the broker confirmed the changed setting.
_ROUTE_TIMEOUT_S = 2.0
_POLL_S = 0.01


def inject(cluster: Cluster, spec: FaultSpec) -> FaultRecord:
    """
    Remove the permission; proven by NO_PERMISSION for a probe and by every name server's route.

    Raises UsageError for a node that is no broker.
    """
    node = node_named(cluster, cluster.topology.broker_named(spec.node))

    def prove(channels: Channels) -> None:
        if _keeps_ordered(cluster.server_release):
            answered_with(channels, node, ResponseCode.NO_PERMISSION, ORDERED_PROBE_TOPIC)
        _require_setting(channels, node, admin.READ_ONLY)
        _await_permission(channels, cluster, node, admin.READ_ONLY)

    act = on_channels(node, lambda channels: _forbid(channels, node))
    return injected(spec, node.name, lambda: changed(act), on_channels(node, prove))


def heal(cluster: Cluster, record: FaultRecord) -> FaultRecord:
    """Restore the permission; proven by a stored probe and by every name server's route."""
    node = node_named(cluster, record.node)
    settings = {"brokerPermission": admin.READ_AND_WRITE}

    def prove(channels: Channels) -> None:
        stored_again(channels, node, ORDERED_PROBE_TOPIC)
        _require_setting(channels, node, admin.READ_AND_WRITE)
        _await_permission(channels, cluster, node, admin.READ_AND_WRITE)

    act = on_channels(node, lambda channels: admin.update_settings(channels, node.address, settings))
    return healed(record, lambda: changed(act), on_channels(node, prove))


def _forbid(channels: Channels, node: Node) -> None:
    # Create the topic first: a new topic is registered with the broker's current permission.
    admin.create_topic(channels, node.address, ORDERED_PROBE_TOPIC, 1, ordered=True)
    admin.update_settings(channels, node.address, {"brokerPermission": admin.READ_ONLY})


def _keeps_ordered(server_release: str) -> bool:
    """True if a broker keeps the attribute ``ordered`` of a created topic (#5861)."""
    numbers = server_release.partition("-")[0].split(".")
    return tuple(int(number) for number in numbers if number.isdigit()) >= _FIRST_WITH_ORDERED


def _require_setting(channels: Channels, node: Node, permission: int) -> None:
    seen = admin.broker_setting(channels, node.address, "brokerPermission")
    if seen != str(permission):
        raise FaultNotProven(f"{node.name} to have brokerPermission {permission}", seen=str(seen))


def _await_permission(channels: Channels, cluster: Cluster, node: Node, permission: int) -> None:
    for address in cluster.name_server_addresses:
        deadline = time.monotonic() + _ROUTE_TIMEOUT_S
        while (seen := admin.permissions_in_route(channels, address, admin.PROBE_TOPIC).get(node.name)) != permission:
            if time.monotonic() >= deadline:
                raise FaultNotProven(f"permission {permission} for {node.name} in the route", seen=str(seen))
            time.sleep(_POLL_S)
