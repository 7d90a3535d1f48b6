"""The interface of a backend: what it supports, names of its nodes, and how it starts a cluster."""

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
    The parsed and checked value of ``--cluster`` and ``--server``; ``start.backend_named`` makes it.

    Only ``fetched``, ``start`` and ``sweep`` download, start or connect to anything.
    """

    @property
    def name(self) -> str:
        """As it is written after ``--cluster``."""
        ...

    @property
    def title(self) -> str:
        """As run.json and reports name it: without paths of this machine."""
        ...

    @property
    def security_file(self) -> str | None:
        """As it is written after ``--security``; None without."""
        ...

    @property
    def demands(self) -> tuple[str, ...]:
        """What its servers demand of a client (``core.security``)."""
        ...

    @property
    def server_release(self) -> str:
        """Release of name servers and brokers; empty if only the brokers know it, until ``fetched`` has asked them."""
        ...

    @property
    def is_shared(self) -> bool:
        """
        Whether the cluster exists already and has other users.

        If so, one run at a time may use it, a dry run lists every topic and command, and ``--server`` has no meaning.
        """
        ...

    @property
    def topic_prefix(self) -> str:
        """Prefix of the name of every topic that a run creates."""
        ...

    def why_not(self, topology: Topology, faults: Sequence[FaultSpec], *, delayed: bool) -> str | None:
        """
        What this backend lacks for a scenario, and what to do instead; None if it can run the scenario.

        delayed: whether the scenario sends delayed messages.
        """
        ...

    def refused(self, scenario: str, reason: str) -> UsageError:
        """The error for a scenario that the user named and the backend cannot run; reason: from ``why_not``."""
        ...

    def brokers(self, topology: Topology) -> tuple[str, ...]:
        """Names of the brokers, by letter, as clients see them."""
        ...

    def named(self, topology: Topology, faults: Sequence[FaultSpec]) -> tuple[FaultSpec, ...]:
        """The faults of a scenario with the node names of this backend."""
        ...

    def introduction(self) -> Iterator[str]:
        """The cluster, described in lines for a dry run."""
        ...

    def planned_commands(self, fault: FaultSpec) -> tuple[str, ...]:
        """Commands of the cluster's owner that a fault would run, with their times, for a dry run. The fault comes from ``named``."""
        ...

    def ending(self) -> str:
        """The state in which a run leaves everything, for a dry run."""
        ...

    def fetched(self, progress: ProgressListener | None = None) -> Self:
        """
        Downloads or builds what ``start`` needs, and returns the backend with the release of its servers.

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
        Starts a cluster with its files in ``folder`` and returns when it is proven to serve; close() ends it.

        name_server_port: of the first name server; all other ports are chosen free. Raises UsageError (topology, folder in
        use), EnvironmentMissing (no Java, jars, engine; port taken, folder not writable, disk full) and ClusterError (not
        ready within ``timeout_s`` seconds, with the last log lines).
        """
        ...

    def sweep(self) -> None:
        """
        Removes what the killed owner of a cluster left behind and no supervisor ended.

        Raises EnvironmentMissing if that cannot be checked.
        """
        ...
