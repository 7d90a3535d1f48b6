"""
Proofs that a fault took effect and that it is over: a probe gets no answer, is refused, or is answered.

The state of a process shows that it cannot run; the probe shows that clients notice. Functions return the time when the proof
was certain, in nanoseconds of the monotonic clock, or raise FaultNotProven.
"""

import time
from collections.abc import Callable

from rocketdiff.cluster.access import channels_to
from rocketdiff.cluster.interface import Cluster, Node, NodeState, node_named
from rocketdiff.cluster.operations.admin import (
    ADMIN_ERRORS,
    broker_setting,
    probe_broker,
    probe_name_server,
    registered_brokers,
)
from rocketdiff.cluster.operations.proxies import probe_proxy
from rocketdiff.cluster.operations.replicas import missing_copy
from rocketdiff.core.errors import FaultNotProven
from rocketdiff.core.security import Security
from rocketdiff.core.tables.topology import NodeKind, master_of
from rocketmq_reference.host.channels import Channels
from rocketmq_reference.remoting.errors import RemotingConnectException, RemotingException, RemotingTimeoutException

# A running server answers a probe within 1 to 5 ms. Twenty times that counts as no answer and fits into most pauses.
SILENCE_MS = 100

# A pause may be as short as 50 ms. Its proof may take half of it, so that the pause ends on time.
_SHARE_OF_A_PAUSE = 0.5
_SHORTEST_SILENCE_MS = 10

# After a pause a broker first stores queued requests, which takes a few hundred ms.
ANSWER_TIMEOUT_MS = 5_000

# A slave that has lost its master reconnects every 5 s (HAClient); a busy machine may need a second try.
COPIED_TIMEOUT_S = 15.0

# Each poll stores a message on the master; a master that refuses it answers at once.
_COPIED_POLL_S = 0.05

_PROBES: dict[NodeKind, Callable[[str, int, str, Security], None]] = {
    NodeKind.PROXY: probe_proxy,
    NodeKind.BROKER: probe_broker,
    NodeKind.SLAVE: probe_broker,
    NodeKind.NAME_SERVER: probe_name_server,
}


def prove_silence(node: Node, for_s: float | None) -> int:
    """Send a probe that must not be answered. for_s: duration of the fault; the proof takes at most half of it."""
    timeout_ms = SILENCE_MS if for_s is None else min(SILENCE_MS, int(for_s * 1000 * _SHARE_OF_A_PAUSE))
    try:
        _PROBES[node.role](node.address, max(timeout_ms, _SHORTEST_SILENCE_MS), node.probe_topic, node.security)
    except RemotingTimeoutException:
        return time.monotonic_ns()
    except RemotingException as error:
        raise FaultNotProven(f"{node.name} to keep a request waiting while it is paused", seen=str(error)) from error
    raise FaultNotProven(f"{node.name} not to answer while it is paused", seen="an answer")


def prove_refusal(node: Node) -> int:
    """Send a probe whose connection must be refused."""
    try:
        _PROBES[node.role](node.address, SILENCE_MS, node.probe_topic, node.security)
    except RemotingConnectException:
        return time.monotonic_ns()
    except RemotingException as error:
        raise FaultNotProven(f"{node.name} to refuse connections after it was killed", seen=str(error)) from error
    raise FaultNotProven(f"{node.name} to refuse connections after it was killed", seen="an answer")


def prove_moved(cluster: Cluster, left: Node) -> int:
    """
    A broker answers under its name at another address, which every running name server has; its old one refuses.

    left: the broker at its old address.
    """
    prove_refusal(left)
    node = node_named(cluster, left.name)
    prove_answer(node)
    with channels_to(node.security) as channels:
        try:
            name = broker_setting(channels, node.address, "brokerName")
            routed = {
                server.address: registered_brokers(channels, server.address).get(node.name)
                for server in cluster.name_servers
                if cluster.state(server.name) is NodeState.RUNNING
            }
        except ADMIN_ERRORS as error:
            raise FaultNotProven(f"{node.name} to be known at {node.address}", seen=str(error)) from error
    if node.address == left.address or name != node.name or set(routed.values()) - {node.address}:
        seen = f"{name} at {node.address}; name servers have {routed}"
        raise FaultNotProven(f"{node.name} to answer at another address than {left.address}", seen=seen)
    return time.monotonic_ns()


def prove_copied(cluster: Cluster, slave: Node) -> int:
    """
    Store a message on the master and wait for it on its slave.

    If the master has a fault itself, the slave must only answer.
    """
    master = node_named(cluster, master_of(slave.name))
    if cluster.state(master.name) is not NodeState.RUNNING:
        return prove_answer(slave)
    deadline = time.monotonic() + COPIED_TIMEOUT_S
    with channels_to(slave.security) as channels:
        while (missing := _missing_copy(channels, master, slave)) is not None:
            if time.monotonic() >= deadline:
                raise FaultNotProven(f"{slave.name} to hold what {master.name} stores", seen=missing)
            time.sleep(_COPIED_POLL_S)
    return time.monotonic_ns()


def _missing_copy(channels: Channels, master: Node, slave: Node) -> str | None:
    try:
        return missing_copy(channels, master, slave)
    except ADMIN_ERRORS as error:
        return str(error)


def prove_answer(node: Node) -> int:
    """Send a probe that must be answered."""
    try:
        _PROBES[node.role](node.address, ANSWER_TIMEOUT_MS, node.probe_topic, node.security)
    except RemotingException as error:
        raise FaultNotProven(f"{node.name} to answer after it was healed", seen=str(error)) from error
    return time.monotonic_ns()
