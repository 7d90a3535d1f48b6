"""Starting a cluster of processes: folder, ports, guardian, and another choice of ports where one was taken meanwhile."""

import os
import shutil
import sys
from pathlib import Path

from harness.cluster.interface import Role
from harness.cluster.processes.cluster import ProcessCluster
from harness.cluster.processes.command_line import Installation
from harness.cluster.processes.guard import Guard
from harness.cluster.processes.seat import Seat, prepare, require_room, take_seats, unwritable
from harness.cluster.processes.servers import ServerEnded, Servers
from harness.cluster.readiness import READY_TIMEOUT_S
from harness.cluster.topology import Topology
from harness.core.errors import EnvironmentMissing, UsageError

# Between our look at a port and the server's own, 1 to 2 s pass. Losing that race three times is no accident any more.
_TRIES = 3


def start_processes(
    topology: Topology,
    installation: Installation,
    folder: Path,
    *,
    name_server_port: int | None = None,
    timeout_s: float = READY_TIMEOUT_S,
) -> ProcessCluster:
    """
    Start a cluster with its files in ``folder`` and prove that it serves.

    name_server_port: for the first name server; all other ports are chosen. Raises EnvironmentMissing (not Linux, folder
    not writable, disk full, port taken), UsageError (folder in use), ClusterError (not ready in time).
    """
    _require_linux()
    # Servers have working folders of their own, in which a relative path would mean something else.
    folder = folder.resolve()
    _take_folder(folder, topology)
    for tries_left in reversed(range(_TRIES)):
        cluster = _set_up(topology, installation, folder, name_server_port)
        try:
            cluster.launch_and_await_ready(timeout_s)
        except ServerEnded as error:
            cluster.close()
            if not error.port_taken or tries_left == 0:
                raise
        except BaseException:
            cluster.close()
            raise
        else:
            return cluster
    raise AssertionError("unreachable: the last try returns or raises")


def _require_linux() -> None:
    if not hasattr(os, "pidfd_open"):
        raise EnvironmentMissing("Linux 5.3 or later for the backend processes", seen=sys.platform)


def _take_folder(folder: Path, topology: Topology) -> None:
    """See that the folder can be written and holds no other cluster."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        require_room(folder, len(topology.broker_names) + topology.name_server_count)
    except OSError as error:
        raise unwritable(folder, error) from error
    for name in (*topology.name_server_names, *topology.broker_names):
        if (folder / name).exists():
            raise UsageError(
                "a folder without an earlier cluster's files", seen=str(folder / name), hint="give another folder"
            )


def _set_up(
    topology: Topology, installation: Installation, folder: Path, name_server_port: int | None
) -> ProcessCluster:
    """Everything up to the first process; what a lost try left is removed."""
    seats = take_seats(topology, folder, name_server_port)
    try:
        _prepare_all(seats)
        guard = Guard(folder / "guardian.log")
    except OSError as error:
        _release(seats)
        raise unwritable(folder, error) from error
    servers = Servers(seats, installation, guard)
    return ProcessCluster(topology, installation.release, folder, servers, guard)


def _prepare_all(seats: list[Seat]) -> None:
    name_servers = [seat.address for seat in seats if seat.role is Role.NAME_SERVER]
    for seat in seats:
        shutil.rmtree(seat.folder, ignore_errors=True)
        prepare(seat, name_servers)


def _release(seats: list[Seat]) -> None:
    for seat in seats:
        seat.reserved.release()
