"""``--cluster containers``: the same servers in containers. The engine's client takes half a second to import, so only its users import it."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from rocketdiff.cluster.containers import shapes
from rocketdiff.cluster.containers.shapes import Wiring, wiring_named
from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.launched.backend import LaunchedServers
from rocketdiff.cluster.launched.ports import require_port
from rocketdiff.cluster.operations.readiness import READY_TIMEOUT_S
from rocketdiff.core.fault import FaultSpec
from rocketdiff.core.topology import Topology
from rocketdiff.releases.progress import ProgressListener


@dataclass(frozen=True, slots=True)
class Containers(LaunchedServers):
    """written: the spelling, because ``containers`` and ``containers:bridge`` mean the same."""

    wiring: Wiring = Wiring.BRIDGE
    written: str = "containers"

    @classmethod
    def of(cls, server_release: str, argument: str) -> Self:
        """
        argument: what follows ``containers:``. Does not connect to an engine.

        Raises UsageError for an unknown wiring, and for a release without servers.
        """
        from rocketdiff.cluster.containers.images import require_release  # noqa: PLC0415  # as above

        wiring = wiring_named(argument)
        require_release(server_release)
        return cls(server_release, wiring, f"containers:{argument}" if argument else "containers")

    @property
    def name(self) -> str:
        """As it was written."""
        return self.written

    def why_not(self, topology: Topology, _faults: Sequence[FaultSpec], *, delayed: bool) -> str | None:  # noqa: ARG002 - as Backend
        """Not every wiring supports slaves."""
        return shapes.why_not(self.wiring, topology)

    def fetched(self, progress: ProgressListener | None = None) -> Self:
        """Checks that the engine answers; builds or pulls the image."""
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
        """As Backend.start; first removes what earlier runs left behind."""
        from rocketdiff.cluster.containers.launch import start_containers  # noqa: PLC0415  # as above

        if name_server_port is not None:
            require_port(name_server_port)
        return start_containers(
            topology,
            self.server_release,
            folder,
            wiring=self.wiring,
            name_server_port=name_server_port,
            timeout_s=timeout_s,
            progress=progress,
        )

    def sweep(self) -> None:
        """Removes containers whose runner is gone."""
        from rocketdiff.cluster.containers.engine import Engine  # noqa: PLC0415  # as above
        from rocketdiff.cluster.containers.sweep import sweep  # noqa: PLC0415  # as above

        with closing(Engine.connect()) as engine:
            sweep(engine)
