"""Start of a cluster of processes: folder, ports, supervisor; again with other ports if one was taken meanwhile."""

import os
import shutil
import sys
from pathlib import Path

from rocketdiff.cluster.launched.cluster import LaunchedCluster, first_ready
from rocketdiff.cluster.launched.command_line import Installation
from rocketdiff.cluster.launched.node_slot import (
    NodeSlot,
    prepare,
    require_disk_space,
    reserve_slots,
    take_folder,
    unwritable,
)
from rocketdiff.cluster.launched.security import ServerSecurity, server_security
from rocketdiff.cluster.launched.server_archive import with_class_archive
from rocketdiff.cluster.operations.readiness import READY_TIMEOUT_S
from rocketdiff.cluster.processes.servers import ProcessServers
from rocketdiff.cluster.processes.supervisor_client import SupervisorClient
from rocketdiff.cluster.security_file import SecurityAsked
from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.core.tables.topology import NodeKind, Topology


def start_processes(
    topology: Topology,
    installation: Installation,
    folder: Path,
    *,
    name_server_port: int | None = None,
    timeout_s: float = READY_TIMEOUT_S,
    asked: SecurityAsked | None = None,
) -> LaunchedCluster:
    """
    Start a cluster with its files in ``folder`` and prove that it serves.

    name_server_port: of the first name server; all other ports are drawn. Raises EnvironmentMissing (not Linux, folder not
    writable, disk full, port taken), UsageError (folder in use), ClusterError (not ready in time).
    """
    _require_linux()
    # Each server has its own working folder, where a relative path would mean another folder.
    folder = folder.resolve()
    take_folder(folder, topology)
    require_disk_space(folder, len(topology.node_names))
    chosen = with_class_archive(installation)
    security = server_security(asked, installation.release, folder)
    return first_ready(lambda: _set_up(topology, chosen, folder, name_server_port, security), timeout_s)


def _require_linux() -> None:
    if not hasattr(os, "pidfd_open"):
        raise EnvironmentMissing("Linux 5.3 or later for the backend processes", seen=sys.platform)


def _set_up(
    topology: Topology,
    installation: Installation,
    folder: Path,
    name_server_port: int | None,
    security: ServerSecurity,
) -> LaunchedCluster:
    slots = reserve_slots(topology, folder, name_server_port)
    try:
        _prepare_all(slots, topology, security)
        security.hand_out()
        supervisor = SupervisorClient(folder / "supervisor.log")
    except OSError as error:
        _release(slots)
        raise unwritable(folder, error) from error
    servers = ProcessServers(slots, installation, supervisor, folder, security)
    return LaunchedCluster(topology, installation.release, servers)


def _prepare_all(slots: list[NodeSlot], topology: Topology, security: ServerSecurity) -> None:
    name_servers = [slot.address for slot in slots if slot.role is NodeKind.NAME_SERVER]
    for slot in slots:
        shutil.rmtree(slot.folder, ignore_errors=True)
        prepare(slot, topology, name_servers, security)


def _release(slots: list[NodeSlot]) -> None:
    for slot in slots:
        slot.reserved.release()
