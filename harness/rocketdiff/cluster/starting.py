"""What every backend is asked for when a cluster is to be started."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.cluster.described import DescribedCluster
from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.topology import Topology
from rocketdiff.releases.progress import ProgressListener


@dataclass(frozen=True, slots=True)
class StartRequest:
    """
    One cluster to be started, with its files in ``folder``.

    name_server_port: of the first name server, None where the backend may choose. argument: what followed the backend's
    name and a colon, else empty. described: the cluster file of somebody's own cluster, None for one that is ours.
    """

    topology: Topology
    server_release: str
    folder: Path
    name_server_port: int | None
    timeout_s: float
    progress: ProgressListener | None
    argument: str
    described: DescribedCluster | None = None


Starter = Callable[[StartRequest], Cluster]
"""Returns once the cluster is proven to serve; raises the errors that start.start_cluster names."""
