"""The cluster that successive cases share in a run, a calibration or a pytest process."""

import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rocketdiff.cluster.backend import Backend
from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.closing import Closing
from rocketdiff.core.errors import HarnessError
from rocketdiff.core.events import ClusterClosed, ClusterReady, ClusterStarted, Listener, emit
from rocketdiff.core.tables.topology import topology_named
from rocketdiff.releases.progress import ProgressListener


class ClusterPool(Closing):
    """
    At most one cluster at a time, because several would not fit into the memory of a CI machine.

    The first request starts the cluster. A request for another topology replaces it, and so does the first request after
    ``max_cases`` cases. Its files are in ``folder``/TOPOLOGY (default: a temporary folder) and are removed with it unless
    ``keeps_files``.
    """

    def __init__(
        self,
        backend: Backend,
        folder: Path | None = None,
        *,
        keeps_files: bool = False,
        max_cases: int | None = None,
        listeners: Sequence[Listener] = (),
        progress: ProgressListener | None = None,
    ) -> None:
        self._backend = backend
        self._folder = folder
        self._keeps_files = keeps_files
        self._max_cases = max_cases
        self._listeners = listeners
        self._progress = progress
        self._cluster: Cluster | None = None
        self._removed: Path | None = None
        self._cases = 0
        self.evidence: Path | None = None
        """Folder to which logs and settings are copied before a cluster is closed. None: they are not copied."""

    def cluster(self, topology: str) -> Cluster:
        """Return the running cluster if it has this topology, else a new one. Raises the errors of Backend.start."""
        if self._cluster is not None and (self._cluster.topology.name != topology or self._cases == self._max_cases):
            self.close()
        if self._cluster is None:
            self._cluster = self._started(topology)
        return self._cluster

    def for_case(self, topology: str) -> Cluster:
        """Like ``cluster``, counted as a case."""
        cluster = self.cluster(topology)
        self._cases += 1
        return cluster

    def heal(self) -> None:
        """Undo what a test did to the servers; if that fails, close the cluster and raise."""
        if self._cluster is None:
            return
        try:
            self._cluster.heal_all()
            self._cluster.require_sound()
        except HarnessError:
            self.close()
            raise

    def close(self) -> None:
        """End the cluster and remove its files unless they are kept. Idempotent."""
        if self._cluster is not None:
            topology = self._cluster.topology.name
            if self.evidence is not None:
                self._cluster.collect_evidence(self.evidence / topology)
            self._cluster.close()
            self._cluster, self._cases = None, 0
            emit(self._listeners, ClusterClosed(topology))
        if self._removed is not None:
            shutil.rmtree(self._removed, ignore_errors=True)
            self._removed = None

    def _started(self, topology: str) -> Cluster:
        began, backend = time.monotonic(), self._backend
        emit(self._listeners, ClusterStarted(topology, backend.name, backend.server_release))
        cluster = backend.start(topology_named(topology), self._place(topology), progress=self._progress)
        brokers = tuple(broker.name for broker in cluster.brokers)
        addresses, took_s = cluster.name_server_addresses, time.monotonic() - began
        ready = ClusterReady(topology, backend.name, backend.server_release, brokers, addresses, took_s)
        emit(self._listeners, ready)
        return cluster

    def _place(self, topology: str) -> Path:
        """Remove what a killed pool left there."""
        folder = self._folder or Path(tempfile.mkdtemp(prefix="rocketdiff-"))
        if not self._keeps_files:
            self._removed = folder
            shutil.rmtree(folder / topology, ignore_errors=True)
        return folder / topology
