"""Starting a cluster of processes: folder, ports, supervisor, and another choice of ports where one was taken meanwhile."""

import os
import shutil
import sys
from pathlib import Path

from rocketdiff.cluster.interface import Role
from rocketdiff.cluster.launched.cluster import LaunchedCluster, first_ready
from rocketdiff.cluster.launched.command_line import Installation
from rocketdiff.cluster.launched.seat import Seat, prepare, require_room, take_folder, take_seats, unwritable
from rocketdiff.cluster.operations.readiness import READY_TIMEOUT_S
from rocketdiff.cluster.processes.servers import Servers
from rocketdiff.cluster.processes.supervisor_client import SupervisorClient
from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.core.topology import Topology


def start_processes(
    topology: Topology,
    installation: Installation,
    folder: Path,
    *,
    name_server_port: int | None = None,
    timeout_s: float = READY_TIMEOUT_S,
) -> LaunchedCluster:
    """
    Start a cluster with its files in ``folder`` and prove that it serves.

    name_server_port: for the first name server; all other ports are chosen. Raises EnvironmentMissing (not Linux, folder
    not writable, disk full, port taken), UsageError (folder in use), ClusterError (not ready in time).
    """
    _require_linux()
    # Servers have working folders of their own, in which a relative path would mean something else.
    folder = folder.resolve()
    take_folder(folder, topology)
    require_room(folder, len(topology.node_names))
    return first_ready(lambda: _set_up(topology, installation, folder, name_server_port), timeout_s)


def _require_linux() -> None:
    if not hasattr(os, "pidfd_open"):
        raise EnvironmentMissing("Linux 5.3 or later for the backend processes", seen=sys.platform)


def _set_up(
    topology: Topology, installation: Installation, folder: Path, name_server_port: int | None
) -> LaunchedCluster:
    """Everything up to the first process; what a lost try left is removed."""
    seats = take_seats(topology, folder, name_server_port)
    try:
        _prepare_all(seats, topology)
        supervisor = SupervisorClient(folder / "supervisor.log")
    except OSError as error:
        _release(seats)
        raise unwritable(folder, error) from error
    servers = Servers(seats, installation, supervisor, folder)
    return LaunchedCluster(topology, installation.release, servers)


def _prepare_all(seats: list[Seat], topology: Topology) -> None:
    name_servers = [seat.address for seat in seats if seat.role is Role.NAME_SERVER]
    for seat in seats:
        shutil.rmtree(seat.folder, ignore_errors=True)
        prepare(seat, topology, name_servers)


def _release(seats: list[Seat]) -> None:
    for seat in seats:
        seat.reserved.release()
