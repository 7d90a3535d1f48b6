"""Where brokers run: what every backend is asked before a cluster is started, and by whom one is started."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol, Self

from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.operations.readiness import READY_TIMEOUT_S
from rocketdiff.core.errors import UsageError
from rocketdiff.core.fault import FaultSpec
from rocketdiff.core.topology import Topology
from rocketdiff.releases.progress import ProgressListener


class Backend(Protocol):
    """
    What ``--cluster`` and ``--server`` mean, parsed and checked (``start.backend_named``).

    Nothing is fetched, started or connected to before ``fetched`` and ``start`` are called.
    """

    @property
    def name(self) -> str:
        """As it is written after ``--cluster``."""
        ...

    @property
    def title(self) -> str:
        """As run.json and reports name it, without a path of this machine."""
        ...

    @property
    def server_release(self) -> str:
        """Release of name servers and brokers; empty where the brokers have still to be asked (``fetched``)."""
        ...

    @property
    def is_shared(self) -> bool:
        """
        Whether the cluster is somebody's own, and others use it.

        Then one run at a time works on it, a dry run tells every topic and command, and ``--server`` has no meaning.
        """
        ...

    @property
    def topic_prefix(self) -> str:
        """What the name of every topic that is created there begins with."""
        ...

    def why_not(self, topology: Topology, faults: Sequence[FaultSpec], *, delayed: bool) -> str | None:
        """
        What this backend lacks for a scenario, and what to do instead; None for nothing.

        delayed: whether the scenario sends delayed messages.
        """
        ...

    def refused(self, scenario: str, reason: str) -> UsageError:
        """The refusal of a scenario that was asked for by its very name; reason: from ``why_not``."""
        ...

    def brokers(self, topology: Topology) -> tuple[str, ...]:
        """Names of the brokers, by letter, as clients see them."""
        ...

    def named(self, topology: Topology, faults: Sequence[FaultSpec]) -> tuple[FaultSpec, ...]:
        """The faults of a scenario, each with the name that its node has here."""
        ...

    def introduction(self) -> Iterator[str]:
        """For a dry run: the cluster, in lines."""
        ...

    def planned_commands(self, fault: FaultSpec) -> tuple[str, ...]:
        """For a dry run: the commands of somebody else that a fault would run, with their times; the fault is ``named``."""
        ...

    def ending(self) -> str:
        """For a dry run: in which state everything is left."""
        ...

    def fetched(self, progress: ProgressListener | None = None) -> Self:
        """
        The backend once ``start`` has only to start: artifacts are on this machine, and the release of servers is known.

        Raises EnvironmentMissing (no jars, container engine or image; a cluster too far away) and ClusterError (one that
        does not answer).
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
        Start a cluster with its files in ``folder`` and return once it is proven to serve; close() ends it.

        name_server_port: of the first name server; all other ports are chosen free. Raises UsageError (topology, folder in
        use), EnvironmentMissing (no Java, jars, engine; port taken, folder not writable, disk full) and ClusterError (not
        ready within ``timeout_s`` seconds, with the last log lines).
        """
        ...

    def sweep(self) -> None:
        """
        Remove what a killed owner of a cluster has left and no supervisor ends.

        Raises EnvironmentMissing where that cannot be seen.
        """
        ...
