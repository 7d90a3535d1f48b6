"""
``--cluster containers``: servers in containers.

The engine's client takes half a second to import, so it is imported only when used.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from rocketdiff.cluster.containers import networking
from rocketdiff.cluster.containers.networking import NetworkMode, network_mode_named
from rocketdiff.cluster.interface import TO_MOVE, Cluster
from rocketdiff.cluster.launched import security
from rocketdiff.cluster.launched.backend import LaunchedServers
from rocketdiff.cluster.launched.ports import require_port
from rocketdiff.cluster.launched.security import require_possible
from rocketdiff.cluster.operations.readiness import READY_TIMEOUT_S
from rocketdiff.cluster.security_file import SecurityAsked
from rocketdiff.core.extras import CONTAINERS
from rocketdiff.core.tables.fault import FaultKind, FaultSpec
from rocketdiff.core.tables.topology import Topology
from rocketdiff.releases.progress import ProgressListener


@dataclass(frozen=True, slots=True)
class Containers(LaunchedServers):
    """written: as the user wrote it, because ``containers`` and ``containers:bridge`` mean the same."""

    network_mode: NetworkMode = NetworkMode.BRIDGE
    written: str = "containers"

    @classmethod
    def of(cls, server_release: str, argument: str, asked: SecurityAsked | None = None) -> Self:
        """
        argument: the text after ``containers:``. Does not connect to an engine.

        Raises UsageError for an unknown network mode, a release without servers, or a security file of an existing cluster.
        """
        with CONTAINERS.needed():
            from rocketdiff.cluster.containers.images import require_release  # noqa: PLC0415  # as above

        mode = network_mode_named(argument)
        require_release(server_release)
        return cls(
            server_release, require_possible(asked), mode, f"containers:{argument}" if argument else "containers"
        )

    @property
    def name(self) -> str:
        return self.written

    def why_not(self, topology: Topology, faults: Sequence[FaultSpec], *, delayed: bool) -> str | None:  # noqa: ARG002 - as Backend
        """Mode bridge does not support slaves; slaves of 4.x do not sign requests; ports of a container are fixed."""
        if any(fault.kind is FaultKind.MOVE for fault in faults):
            return f"a container keeps its ports, so no broker can move; {TO_MOVE}"
        return networking.why_not(self.network_mode, topology) or security.why_not(
            self.asked, self.server_release, topology
        )

    def fetch(self, progress: ProgressListener | None = None) -> Self:
        from rocketdiff.cluster.containers.launch import fetch_image  # noqa: PLC0415  # as above

        fetch_image(self.server_release, progress)
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
        """As Backend.start; first removes what killed runs left."""
        from rocketdiff.cluster.containers.launch import start_containers  # noqa: PLC0415  # as above

        if name_server_port is not None:
            require_port(name_server_port)
        return start_containers(
            topology,
            self.server_release,
            folder,
            mode=self.network_mode,
            name_server_port=name_server_port,
            timeout_s=timeout_s,
            progress=progress,
            asked=self.asked,
        )

    def sweep(self) -> None:
        from rocketdiff.cluster.containers.cleanup import sweep  # noqa: PLC0415  # as above
        from rocketdiff.cluster.containers.engine import Engine  # noqa: PLC0415  # as above

        with closing(Engine.connect()) as engine:
            sweep(engine)
