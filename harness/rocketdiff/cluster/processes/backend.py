"""``--cluster processes``: servers as JVMs on loopback."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.launched.backend import LaunchedServers
from rocketdiff.cluster.launched.command_line import installed
from rocketdiff.cluster.launched.ports import require_port
from rocketdiff.cluster.operations.readiness import READY_TIMEOUT_S
from rocketdiff.cluster.processes.launch import start_processes
from rocketdiff.core.fault import FaultSpec
from rocketdiff.core.topology import Topology
from rocketdiff.releases.artifacts import require_server, server_class_path
from rocketdiff.releases.progress import ProgressListener


@dataclass(frozen=True, slots=True)
class Processes(LaunchedServers):
    """The default backend; it supports every topology and fault."""

    @classmethod
    def of(cls, server_release: str) -> Self:
        """UsageError for a release that is not in the catalogue."""
        require_server(server_release)
        return cls(server_release)

    def why_not(self, _topology: Topology, _faults: Sequence[FaultSpec], *, delayed: bool) -> str | None:  # noqa: ARG002 - as Backend
        """Always None."""
        return None

    def fetched(self, progress: ProgressListener | None = None) -> Self:
        """Downloads the jars of the servers."""
        server_class_path(self.server_release, progress)
        return self

    def start(
        self,
        topology: Topology,
        folder: Path,
        *,
        name_server_port: int | None = None,
        timeout_s: float = READY_TIMEOUT_S,
        progress: ProgressListener | None = None,
    ) -> Cluster:
        """As Backend.start."""
        if name_server_port is not None:
            require_port(name_server_port)
        installation = installed(self.server_release, progress)
        return start_processes(topology, installation, folder, name_server_port=name_server_port, timeout_s=timeout_s)

    def sweep(self) -> None:
        """Nothing to do: the guardian ends the servers when their owner dies."""
