"""
From a cluster file to a cluster that is proven to serve.

What earlier runs still owe it is paid first. Then it is looked at; then a probe topic is created on the brokers that the
topology has, and a message stored in each of its queues and read back. Nothing else is written to it before the first case.
"""

import secrets
import time
from collections.abc import Mapping
from pathlib import Path

from rocketdiff.cluster.described import DescribedCluster
from rocketdiff.cluster.external.cluster import ExternalCluster, Found
from rocketdiff.cluster.external.debts import Debts, Owner, debts_of_the_dead, owners_at_work
from rocketdiff.cluster.external.named_topology import named
from rocketdiff.cluster.external.settling import settle
from rocketdiff.cluster.external.survey import SeenBroker, release_of, survey
from rocketdiff.cluster.interface import Node
from rocketdiff.cluster.operations import admin
from rocketdiff.cluster.operations.conditions import await_condition
from rocketdiff.core.errors import ClusterError, EnvironmentMissing
from rocketdiff.core.topology import Topology
from rocketmq_reference.connections.channels import Channels

# The guardian of a run that was killed needs this long at most; a run that lives needs longer, and is told of.
_OTHERS_END_WITHIN_S = 15.0

# Whoever looks whether a run lives holds the lock of its file for a moment; a run that begins holds its own.
_NEWCOMERS_END_WITHIN_S = 1.0

# The broker enters a stored message into its queue a moment later.
_QUEUED_WITHIN_S = 10.0


def join(described: DescribedCluster, shape: Topology, folder: Path) -> ExternalCluster:
    """
    Find the cluster and prove that it serves; close() leaves it as it was found.

    Raises UsageError (it cannot stand for the topology), EnvironmentMissing (too far away, folder not writable) and
    ClusterError (what does not answer, or does not serve).
    """
    topology = named(shape, described)
    sweep(described)
    with Channels() as channels:
        brokers = {broker.described.name: broker for broker in survey(channels, described)}
        release = release_of(described, tuple(brokers.values()))
    probe_topic = f"{described.topic_prefix}-probe-{secrets.token_hex(4)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        debts = Debts.begin(Owner(described.name, described.name_server_addresses, str(folder)))
    except OSError as error:
        raise EnvironmentMissing(f"to write to {error.filename}", seen=error.strerror or str(error)) from error
    cluster = ExternalCluster(Found(described, topology, release, brokers, probe_topic), folder, debts)
    try:
        # Two that start at once have both seen nobody; now that both are written down each sees the other.
        _await_alone(described, _NEWCOMERS_END_WITHIN_S, besides=debts.path)
        cluster.collect_evidence(folder)
        _prove(cluster, probe_topic)
    except BaseException:
        cluster.close()
        raise
    return cluster


def sweep(described: DescribedCluster) -> None:
    """
    Pay what runs that are gone owe to this cluster, known by its name servers.

    Raises ClusterError for what cannot be paid, because a cluster that is not as its owner left it is not measured; and for
    another run of this user on this machine, because each would take the other's pauses for its own.
    """
    _await_alone(described, _OTHERS_END_WITHIN_S)
    for debts in debts_of_the_dead():
        owner = debts.owner
        # A damaged one may be anybody's.
        if (owner is None and debts.damage) or (owner is not None and _is_of(owner, described)):
            problems = settle(debts)
            if problems:
                raise ClusterError(
                    f"{described.name} to be as an earlier run found it ({'unknown' if owner is None else owner.run_folder})",
                    seen="; ".join(problems),
                    hint="do that, then: rocketdiff cluster clean",
                )
    # A run that died meanwhile has a guardian, which pays now: what it owes was not among those of the dead.
    _await_alone(described, _OTHERS_END_WITHIN_S)


def _await_alone(described: DescribedCluster, within_s: float, besides: Path | None = None) -> None:
    await_condition(
        f"no other run of yours on {described.name}",
        lambda: _others(described, besides),
        within_s,
        poll_interval_s=0.2,
    )


def _others(described: DescribedCluster, besides: Path | None) -> str | None:
    folders = [owner.run_folder for owner in owners_at_work(besides) if _is_of(owner, described)]
    return f"one in {', '.join(folders)}" if folders else None


def _is_of(owner: Owner, described: DescribedCluster) -> bool:
    return bool(set(owner.name_servers) & set(described.name_server_addresses))


def look(described: DescribedCluster) -> tuple[str, Mapping[str, SeenBroker]]:
    """
    The release of a cluster and its brokers, by name; nothing is done but to pay what earlier runs owe.

    Raises ClusterError and EnvironmentMissing.
    """
    sweep(described)  # a broker that is still paused could not answer
    with Channels() as channels:
        brokers = survey(channels, described)
        return release_of(described, brokers), {broker.described.name: broker for broker in brokers}


def _prove(cluster: ExternalCluster, topic: str) -> None:
    cluster.create_topic(topic, admin.PROBE_QUEUES)
    with Channels() as channels:
        for node in cluster.brokers:
            try:
                for queue_id in range(admin.PROBE_QUEUES):
                    _store_and_read(channels, node, topic, queue_id)
            except admin.ADMIN_ERRORS as error:
                raise ClusterError(f"{node.name} to store and give back a message", seen=str(error)) from error


def _store_and_read(channels: Channels, node: Node, topic: str, queue_id: int) -> None:
    body = f"{node.name}/{queue_id}/{time.monotonic_ns()}".encode()
    offset = admin.store_probe(channels, node.address, queue_id, body, topic)

    def missing() -> str | None:
        if admin.queue_end(channels, node.address, topic, queue_id) <= offset:
            return f"queue {queue_id} ends before {offset}"
        found = admin.read_queue(channels, node.address, topic, queue_id, offset)
        return None if body in (message.body for message in found) else f"not in queue {queue_id} at {offset}"

    await_condition(f"{node.name} to give back what it stored", missing, _QUEUED_WITHIN_S)
