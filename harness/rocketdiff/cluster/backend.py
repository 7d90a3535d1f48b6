"""The interface of a backend: what it supports, its node names, and how it starts a cluster."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol, Self

from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.operations.readiness import READY_TIMEOUT_S
from rocketdiff.core.errors import UsageError
from rocketdiff.core.tables.fault import FaultSpec
from rocketdiff.core.tables.topology import Topology
from rocketdiff.releases.progress import ProgressListener


class Backend(Protocol):
    """
    The parsed and checked values of ``--cluster`` and ``--server``; made by ``start.backend_named``.

    Only ``fetch``, ``start`` and ``sweep`` download, start or connect to anything.
    """

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str:
        """Name in run.json and reports, without paths of this machine."""
        ...

    @property
    def security_file(self) -> str | None: ...

    @property
    def demands(self) -> tuple[str, ...]: ...

    @property
    def server_release(self) -> str:
        """Empty until ``fetch`` if only the brokers know it."""
        ...

    @property
    def is_shared(self) -> bool:
        """
        True if the cluster exists already and has other users.

        Then only one run at a time may use it, a dry run lists every topic and command, and ``--server`` has no meaning.
        """
        ...

    @property
    def topic_prefix(self) -> str: ...

    def why_not(self, topology: Topology, faults: Sequence[FaultSpec], *, delayed: bool) -> str | None:
        """
        Return what this backend lacks for a scenario, and an alternative; None if it can run the scenario.

        delayed: whether the scenario sends delayed messages, or its group hands failed ones back, which brokers delay.
        """
        ...

    def refused(self, scenario: str, reason: str) -> UsageError:
        """The error for a scenario that the user named; reason: from ``why_not``."""
        ...

    def brokers(self, topology: Topology) -> tuple[str, ...]: ...

    def named(self, topology: Topology, faults: Sequence[FaultSpec]) -> tuple[FaultSpec, ...]: ...

    def introduction(self) -> Iterator[str]:
        """Lines for a dry run."""
        ...

    def planned_commands(self, fault: FaultSpec) -> tuple[str, ...]:
        """The owner's commands for a fault from ``named``, with their times, for a dry run."""
        ...

    def ending(self) -> str:
        """The final state, for a dry run."""
        ...

    def fetch(self, progress: ProgressListener | None = None) -> Self:
        """
        Download or build what ``start`` needs; return the backend with the release of its servers.

        Raises EnvironmentMissing (no jars, container engine or image; cluster too slow to reach) and ClusterError (no answer).
        """
        ...

    def start(
        self,
        topology: Topology,
        folder: Path,
        *,
        name_server_port: int | None = None,
        timeout_s: float = READY_TIMEOUT_S,
        progress: ProgressListener | None = None,
    ) -> Cluster:
        """
        Start a cluster with its files in ``folder`` and return it when it is proven to serve.

        name_server_port: of the first name server; all other ports are drawn. Raises UsageError (topology, folder in use),
        EnvironmentMissing (no Java, jars, engine; port taken, folder not writable, disk full) and ClusterError (not ready
        within ``timeout_s`` seconds, with the last log lines).
        """
        ...

    def sweep(self) -> None:
        """
        Remove what the killed owner of a cluster left and no supervisor ended.

        Raises EnvironmentMissing if that cannot be checked.
        """
        ...
