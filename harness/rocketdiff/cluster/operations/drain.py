"""
Waiting until nothing more will be stored: requests that a paused broker had not read are read, stored and in their queues.

First each broker must be known to the name server: one that it dropped is in no route, and its queues would be left out. Then four
conditions must hold together for some time: the kernel holds no unread bytes for any broker, also not on connections that
clients have closed (if the backend can see that); no send waits in a broker's thread pool; the queues are not behind the commit
log; the ends of all queues do not change.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rocketdiff.cluster.access import channels_to
from rocketdiff.cluster.interface import Cluster, Node, security_of
from rocketdiff.cluster.operations import admin
from rocketdiff.core.errors import ClusterError
from rocketmq_reference.host.channels import Channels
from rocketmq_reference.remoting.errors import MQBrokerException

# The other conditions miss only a send in a decoder or worker thread, for a few ms. Half a second is a hundred times that,
# and longer than a full collection of a 256 MiB heap.
QUIET_S = 0.5

_POLL_S = 0.1

# Quiet time for brokers that were quiet before: one more check of all four conditions. What is pending may be the warm-up of the
# next case; if it is of these topics, their ends change.
_CONFIRM_S = _POLL_S

# Thousands of sends queued during a long pause are stored within one or two seconds.
DRAIN_TIMEOUT_S = 30.0

DRAIN_MEANWHILE_S = 1.0
"""Less than sampling clients at rest takes. Clients are not kept running for brokers that take longer to drain."""

REGISTERED_WITHIN_S = 45.0
"""A broker registers every 30 s (registerNameServerPeriod); a name server that was paused has dropped it until then."""

# Entries of a broker's runtime info that are zero when it is idle.
_PENDING_FIGURES = ("sendThreadPoolQueueSize", "dispatchBehindBytes")

QueueEnds = Mapping[tuple[str, str, int], int]
"""One past the last offset, by topic, broker name and queue."""


@dataclass(frozen=True, slots=True)
class Drained:
    """Ends of all queues after the last change. took_ns: duration of the wait."""

    ends: QueueEnds
    took_ns: int


def await_drained(
    cluster: Cluster, topics: Iterable[str], timeout_s: float = DRAIN_TIMEOUT_S, *, before: Drained | None = None
) -> Drained:
    """
    Wait until late writes to these topics have ended; every node must run.

    before: an earlier result, from after the clients' sends but before their exit; if nothing has changed since, one check
    confirms it. Raises ClusterError after ``timeout_s`` seconds, with what still changed, and EnvironmentMissing if the
    cluster's machine has failed, because what is stored is then worthless.
    """
    cluster.require_sound()
    topics = tuple(topics)
    begin_ns = time.monotonic_ns()
    with channels_to(security_of(cluster)) as channels:
        try:
            _await_registered(cluster, channels)
            ends = _await_quiet(cluster, channels, topics, timeout_s, before)
        except admin.ADMIN_ERRORS as error:
            raise ClusterError("every broker to report the ends of its queues", seen=str(error)) from error
    return Drained(ends, time.monotonic_ns() - begin_ns)


def _await_registered(cluster: Cluster, channels: Channels) -> None:
    deadline = time.monotonic() + REGISTERED_WITHIN_S
    name_server, brokers = cluster.name_server_addresses[0], {node.name for node in cluster.brokers}
    while missing := brokers - admin.registered_brokers(channels, name_server).keys():
        if time.monotonic() > deadline:
            seen = f"none of {', '.join(sorted(missing))} for {REGISTERED_WITHIN_S:g} s"
            raise ClusterError(f"every broker to register with the name server at {name_server}", seen=seen)
        time.sleep(_POLL_S)


def _await_quiet(
    cluster: Cluster, channels: Channels, topics: tuple[str, ...], timeout_s: float, before: Drained | None
) -> QueueEnds:
    deadline = time.monotonic() + timeout_s
    ends = queue_ends(cluster, channels, topics)
    long_enough_s = QUIET_S if before is None or before.ends != ends else _CONFIRM_S
    quiet_since = time.monotonic()
    while time.monotonic() - quiet_since < long_enough_s:
        time.sleep(_POLL_S)
        now_ends = queue_ends(cluster, channels, topics)
        grown = _grown(ends, now_ends)
        moving = grown or _pending(cluster, channels)
        if moving is not None:
            quiet_since, long_enough_s = time.monotonic(), QUIET_S if grown else long_enough_s
            if quiet_since > deadline:
                raise ClusterError(f"all writes to {', '.join(topics)} to end within {timeout_s:g} s", seen=moving)
        ends = now_ends
    return ends


def queue_ends(cluster: Cluster, channels: Channels, topics: Iterable[str]) -> QueueEnds:
    """One past the last offset of every queue of these topics, at every broker in their routes."""
    addresses = {node.name: node.address for node in cluster.brokers}
    ends: dict[tuple[str, str, int], int] = {}
    for topic in topics:
        queues = admin.topic_queues(channels, cluster.name_server_addresses[0], topic)
        for broker, count in queues.items():
            for queue_id in range(count):
                ends[topic, broker, queue_id] = admin.queue_end(channels, addresses[broker], topic, queue_id)
    return ends


def _pending(cluster: Cluster, channels: Channels) -> str | None:
    for node in cluster.brokers:
        unread = cluster.unread_bytes(node.name)
        if unread:
            return f"{node.name} has {unread} bytes or connections to take in"
        figures = _figures(channels, node)
        if figures:
            return f"{node.name} has {figures}"
    return None


def _figures(channels: Channels, node: Node) -> Mapping[str, str]:
    """Entries that are not zero. A broker has none for half a second after its start, which counts as not zero."""
    try:
        info = admin.runtime_info(channels, node.address)
    except MQBrokerException as error:
        return {"no figures yet": str(error)}
    return {name: info[name] for name in _PENDING_FIGURES if info.get(name, "0") != "0"}


def _grown(before: QueueEnds, after: QueueEnds) -> str | None:
    for topic, broker, queue_id in before.keys() - after.keys():
        return f"queue {queue_id} of {topic} on {broker} is in no route"
    for key, end in after.items():
        if before.get(key) != end:
            topic, broker, queue_id = key
            return f"queue {queue_id} of {topic} on {broker} went from {before.get(key)} to {end}"
    return None
