"""``--cluster processes``: servers as JVMs on loopback."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.launched import security
from rocketdiff.cluster.launched.backend import LaunchedServers
from rocketdiff.cluster.launched.command_line import installed
from rocketdiff.cluster.launched.ports import require_port
from rocketdiff.cluster.launched.security import require_possible
from rocketdiff.cluster.operations.readiness import READY_TIMEOUT_S
from rocketdiff.cluster.processes.launch import start_processes
from rocketdiff.cluster.security_file import SecurityAsked
from rocketdiff.core.tables.fault import FaultSpec
from rocketdiff.core.tables.topology import Topology
from rocketdiff.releases.artifacts.class_paths import require_server, server_class_path
from rocketdiff.releases.jdk import find_java
from rocketdiff.releases.lock import locked
from rocketdiff.releases.progress import ProgressListener


@dataclass(frozen=True, slots=True)
class Processes(LaunchedServers):
    """
    The default backend.

    Without access control it supports every topology and fault; proxies, if that of the release is in the lock.
    """

    @classmethod
    def of(cls, server_release: str, asked: SecurityAsked | None = None) -> Self:
        """Raise UsageError for a release that is not in the catalogue, and for a security file of an existing cluster."""
        require_server(server_release)
        return cls(server_release, require_possible(asked))

    def why_not(self, topology: Topology, _faults: Sequence[FaultSpec], *, delayed: bool) -> str | None:  # noqa: ARG002 - as Backend
        """Slaves of 4.x do not sign requests; proxies need the proxy of the servers' release and no access control."""
        if topology.has_proxies and self.server_release not in locked().proxies:
            return f"there is no proxy of release {self.server_release} in the lock; try --server {', '.join(locked().proxies)}"
        if topology.has_proxies and self.asked is not None:
            return "access control and TLS of proxies are not supported; leave --security out"
        return security.why_not(self.asked, self.server_release, topology)

    def fetch(self, progress: ProgressListener | None = None) -> Self:
        """Find Java, so that a wrong one is reported before a large download; then download the server jars."""
        find_java(progress)
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
        if name_server_port is not None:
            require_port(name_server_port)
        installation = installed(self.server_release, progress, with_proxy=topology.has_proxies)
        return start_processes(
            topology,
            installation,
            folder,
            name_server_port=name_server_port,
            timeout_s=timeout_s,
            asked=self.asked,
        )

    def sweep(self) -> None:
        """Does nothing: the supervisor ends the servers when their owner dies."""
