"""
From a cluster file to a cluster that is proven to serve.

First the undo logs of killed runs on this cluster are executed, then the cluster is inspected. Then a probe topic is created on
the brokers of the topology, and a message is stored in each queue and read back. Nothing else is written before the first case.
"""

import secrets
import time
from collections.abc import Mapping
from pathlib import Path

from rocketdiff.cluster.access import channels_to
from rocketdiff.cluster.external.cleanup import undo_all
from rocketdiff.cluster.external.cluster import ExternalCluster, InspectedCluster
from rocketdiff.cluster.external.described import DescribedCluster, named_topology
from rocketdiff.cluster.external.inspect import BrokerInfo, inspect_brokers, release_of, remedy_for
from rocketdiff.cluster.external.undo_log import LoggedRun, UndoLog, abandoned_logs, active_runs
from rocketdiff.cluster.interface import Node, security_of
from rocketdiff.cluster.operations import admin
from rocketdiff.cluster.operations.conditions import await_condition
from rocketdiff.core.errors import ClusterError, EnvironmentMissing
from rocketdiff.core.tables.topology import Topology
from rocketmq_reference.host.channels import Channels

# The guardian of a killed run needs at most this long; a living run takes longer and is reported.
_OTHERS_END_WITHIN_S = 15.0

# A check whether a run lives briefly holds the lock of its log; a starting run holds its own.
_NEWCOMERS_END_WITHIN_S = 1.0

# A broker enters a stored message into its queue asynchronously.
_QUEUED_WITHIN_S = 10.0


def connect(described: DescribedCluster, shape: Topology, folder: Path) -> ExternalCluster:
    """
    Inspect the cluster and prove that it serves; close() leaves it as it was found.

    Raises UsageError (it cannot provide the topology), EnvironmentMissing (too slow to reach, folder not writable) and
    ClusterError (a server does not answer or does not serve).
    """
    topology = named_topology(shape, described)
    release, brokers = clean_and_inspect(described)
    probe_topic = f"{described.topic_prefix}-probe-{secrets.token_hex(4)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        undo_log = UndoLog.create(_run_of(described, folder))
    except OSError as error:
        raise EnvironmentMissing(f"to write to {error.filename}", seen=error.strerror or str(error)) from error
    cluster = ExternalCluster(InspectedCluster(described, topology, release, brokers, probe_topic), folder, undo_log)
    try:
        # Two runs that start at the same time have not seen each other. Now both have a log, and each sees the other's.
        _await_alone(described, _NEWCOMERS_END_WITHIN_S, besides=undo_log.path)
        cluster.collect_evidence(folder)
        _prove(cluster, probe_topic)
    except BaseException:
        cluster.close()
        raise
    return cluster


def _run_of(described: DescribedCluster, folder: Path) -> LoggedRun:
    return LoggedRun(described.name, described.name_server_addresses, str(folder), described.security_file)


def clean_and_inspect(described: DescribedCluster) -> tuple[str, Mapping[str, BrokerInfo]]:
    """
    Execute the undo logs of killed runs; return the cluster's release and its brokers by name.

    Raises ClusterError and EnvironmentMissing.
    """
    undo_killed_runs(described)  # a paused broker would not answer
    with channels_to(described.security) as channels:
        brokers = inspect_brokers(channels, described)
        return release_of(described, brokers), {broker.described.name: broker for broker in brokers}


def undo_killed_runs(described: DescribedCluster) -> None:
    """
    Execute the undo logs of killed runs on this cluster, which is recognized by its name servers.

    Raises ClusterError for what cannot be undone, because a cluster that is not in its owner's state must not be measured; also
    for another living run of this user on this machine, because the pauses of both would be mixed up.
    """
    _await_alone(described, _OTHERS_END_WITHIN_S)
    for log in abandoned_logs():
        run = log.run
        # A damaged log may belong to any cluster.
        if (run is None and log.damage) or (run is not None and _is_of(run, described)):
            problems = undo_all(log)
            if problems:
                raise ClusterError(
                    f"{described.name} to be as an earlier run found it ({'unknown' if run is None else run.run_folder})",
                    seen="; ".join(problems),
                    hint="do that, then: rocketdiff cluster clean",
                )
    # If a run was killed meanwhile, its guardian locks its log, so it was not among the abandoned logs.
    _await_alone(described, _OTHERS_END_WITHIN_S)


def _await_alone(described: DescribedCluster, within_s: float, besides: Path | None = None) -> None:
    await_condition(
        f"no other run of yours on {described.name}",
        lambda: _others(described, besides),
        within_s,
        poll_interval_s=0.2,
    )


def _others(described: DescribedCluster, besides: Path | None) -> str | None:
    folders = [run.run_folder for run in active_runs(besides) if _is_of(run, described)]
    return f"one in {', '.join(folders)}" if folders else None


def _is_of(run: LoggedRun, described: DescribedCluster) -> bool:
    return bool(set(run.name_servers) & set(described.name_server_addresses))


def _prove(cluster: ExternalCluster, topic: str) -> None:
    cluster.create_topic(topic, admin.PROBE_QUEUES)
    with channels_to(security_of(cluster)) as channels:
        for node in cluster.brokers:
            try:
                for queue_id in range(admin.PROBE_QUEUES):
                    _store_and_read(channels, node, topic, queue_id)
            except admin.ADMIN_ERRORS as error:
                hint = remedy_for(error, cluster.described)
                raise ClusterError(
                    f"{node.name} to store and give back a message", seen=str(error), hint=hint
                ) from error


def _store_and_read(channels: Channels, node: Node, topic: str, queue_id: int) -> None:
    body = f"{node.name}/{queue_id}/{time.monotonic_ns()}".encode()
    offset = admin.store_probe(channels, node.address, queue_id, body, topic)

    def missing() -> str | None:
        if admin.queue_end(channels, node.address, topic, queue_id) <= offset:
            return f"queue {queue_id} ends before {offset}"
        found = admin.read_queue(channels, node.address, topic, queue_id, offset)
        return None if body in (message.body for message in found) else f"not in queue {queue_id} at {offset}"

    await_condition(f"{node.name} to give back what it stored", missing, _QUEUED_WITHIN_S)
