"""The cluster that a pytest process shares among its items: one at a time, another when the topology changes."""

import shutil
import tempfile
from pathlib import Path

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.start import require_backend, start_cluster
from rocketdiff.core.errors import HarnessError, UsageError


class ClusterPool:
    """At most one cluster, for several would not fit beside each other into the memory of a CI machine."""

    def __init__(self, backend: str, server_release: str) -> None:
        self._backend = backend
        self._server_release = server_release
        self._cluster: Cluster | None = None
        self._folder: Path | None = None
        self.evidence: Path | None = None
        """Folder that receives logs and settings of every cluster before it is gone; none when nobody wants them."""

    def cluster(self, topology: str) -> Cluster:
        """The running one if it has this topology, else a new one in its place; raises what start_cluster raises."""
        if self._cluster is None or self._cluster.topology.name != topology:
            self.close()
            self._folder = Path(tempfile.mkdtemp(prefix="rocketdiff-"))
            self._cluster = start_cluster(self._backend, topology, self._server_release, folder=self._folder / topology)
        return self._cluster

    def heal(self) -> None:
        """Undo what a test did to the servers; a cluster that cannot be healed is given up, and the error goes on."""
        if self._cluster is None:
            return
        try:
            self._cluster.heal_all()
            self._cluster.require_sound()
        except HarnessError:
            self.close()
            raise

    def close(self) -> None:
        """End the cluster and remove its files; a second call does nothing."""
        if self._cluster is not None:
            if self.evidence is not None:
                self._cluster.collect_evidence(self.evidence / self._cluster.topology.name)
            self._cluster.close()
            self._cluster = None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


_KEY = pytest.StashKey[ClusterPool]()


def backend_of(config: pytest.Config) -> str:
    """
    The backend of ``--rocketdiff-cluster``.

    Raises UsageError for one there is not, and for somebody's own cluster: workers would pause it under each other.
    """
    backend = str(config.getoption("rocketdiff_cluster"))
    require_backend(backend)
    if backend.partition(":")[0] == "external":
        raise UsageError(
            "a backend that starts clusters",
            seen=repr(backend),
            hint="rocketdiff run --cluster external:FILE, without pytest",
        )
    return backend


def pool_of(config: pytest.Config) -> ClusterPool:
    """The pool of this process; it is closed, whatever happens, when pytest ends."""
    if _KEY not in config.stash:
        pool = config.stash[_KEY] = ClusterPool(backend_of(config), config.getoption("rocketdiff_server"))
        config.add_cleanup(pool.close)
    return config.stash[_KEY]
