"""The cluster that the cases of a calibration share, one after another."""

import shutil
from pathlib import Path
from typing import Self

from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.start import start_cluster

CASES_A_CLUSTER = 100
"""Then a new cluster: every case leaves three topics behind, and brokers that carry thousands become slow."""


class SharedCluster:
    """Started when it is first needed; replaced after a breakdown, after many cases, and when the topology changes."""

    def __init__(self, backend: str, server_release: str, folder: Path) -> None:
        self._backend = backend
        self._server_release = server_release
        self._folder = folder
        self._cluster: Cluster | None = None
        self._cases = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def for_case(self, topology: str) -> Cluster:
        """A cluster of this topology for one more case; raises what ``start_cluster`` raises."""
        if self._cluster is not None and (self._cases >= CASES_A_CLUSTER or self._cluster.topology.name != topology):
            self.close()
        if self._cluster is None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._cluster = start_cluster(self._backend, topology, self._server_release, folder=self._folder)
        self._cases += 1
        return self._cluster

    def close(self) -> None:
        """End it and remove its files; a second call does nothing."""
        self._cases = 0
        if self._cluster is not None:
            self._cluster.close()
            self._cluster = None
            shutil.rmtree(self._folder, ignore_errors=True)
